/* limits.c - what is too large, too slow, too much, foreign or malformed is told clearly. */
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"

#define listener_open server_listener_open /* the fixture has one, too */
#include "http/server/server.h"

#define SERVE(...)                                                                                 \
    struct app app = {0};                                                                          \
    struct server_settings settings = test_settings();                                             \
    __VA_ARGS__;                                                                                   \
    struct server *s = serve(ctx, &app, &settings)

static str filled(struct ctx *ctx, size_t n)
{
    char *p = arena_alloc(&ctx->arena, n);
    memset(p, 'x', n);
    return (str){p, n};
}

TEST(a_body_over_the_limit_is_a_413)
{
    SERVE();
    CHECK_INT(code_of(ask(ctx, s, "POST", "/small", "", S("0123456789"))), 200);
    str reply = ask(ctx, s, "POST", "/small", "", S("0123456789a"));
    CHECK_INT(code_of(reply), 413);
    CHECK(holds(reply, "over the limit of 10 bytes") && holds(reply, "\"too_large\""));
    CHECK(holds(reply, "\r\nConnection: close\r\n"));
    CHECK_INT(code_of(ask(ctx, s, "POST", "/a/1", "", filled(ctx, 5 << 20))), 413);
    server_close(s);
}

TEST(a_chunked_body_over_the_limit_is_a_413_while_it_comes)
{
    SERVE();
    int fd = dial(s);
    SAY(fd, "POST /small HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
            "8\r\n01234567\r\n8\r\n01234567\r\n");
    CHECK_INT(code_of(hear_until(ctx, fd, "}")), 413);
    close(fd);
    server_close(s);
}

/* What it sends while the server finds out who asks is not read beyond a limit. */
TEST(a_client_that_is_refused_in_the_middle_of_a_long_body_can_send_the_rest)
{
    enum { AHEAD = 16 << 10, REST = 32 << 20 };
    SERVE();
    struct server_stats stats;
    const str head = S("DELETE /second/add HTTP/1.1\r\nHost: localhost\r\nX-Hold: 1\r\n"
                       "Content-Length: 1000000\r\n\r\n");
    int fd = dial(s);
    say(fd, head);
    WAIT_FOR(atomic_load(&app.held) == 1);
    say(fd, filled(ctx, AHEAD));
    WAIT_FOR((server_stats(s, &stats), stats.bytes_in == head.n + AHEAD));
    atomic_store(&app.let_go, true);
    str rest = filled(ctx, REST);
    ssize_t sent;
    while (rest.n && (sent = send(fd, rest.p, rest.n, MSG_NOSIGNAL)) > 0)
        rest = str_sub(rest, (size_t)sent, rest.n);
    CHECK_INT(rest.n, 0);
    CHECK_INT(code_of(hear_until(ctx, fd, "}")), 401);
    close(fd);
    server_close(s);
}

TEST(all_bodies_together_are_bounded_and_room_comes_back)
{
    SERVE(settings.bodies_max = 1000);
    int fds[2] = {dial(s), dial(s)};
    for (int i = 0; i < 2; i++) {
        SAY(fds[i], "POST /a/1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n");
        say(fds[i], filled(ctx, 600)); /* never whole, so neither makes room for the other */
    }
    struct pollfd both[] = {{.fd = fds[0], .events = POLLIN}, {.fd = fds[1], .events = POLLIN}};
    CHECK(poll(both, 2, 10000) > 0);
    str first = hear_until(ctx, both[0].revents ? fds[0] : fds[1], "}");
    CHECK_INT(code_of(first), 429);
    CHECK(holds(first, "over the limit of 1000 bytes") && holds(first, "\r\nRetry-After: 1\r\n"));
    close(fds[0]);
    close(fds[1]);
    struct server_stats stats;
    WAIT_FOR((server_stats(s, &stats), stats.active == 0));
    for (int i = 0; i < 3; i++)
        CHECK(code_of(ask(ctx, s, "POST", "/a/1", "", filled(ctx, 1000))) != 429);
    CHECK_INT(code_of(ask(ctx, s, "POST", "/a/1", "", filled(ctx, 1001))), 429);
    server_close(s);
}

TEST(headers_over_the_limit_are_a_431)
{
    SERVE();
    str long_value = str_printf(&ctx->arena, "X-Long: " S_FMT "\r\n", S_ARG(filled(ctx, 9000)));
    CHECK_INT(code_of(ask(ctx, s, "GET", "/hello", long_value.p, S(""))), 431);
    str long_target = str_printf(&ctx->arena, "/" S_FMT, S_ARG(filled(ctx, 9000)));
    CHECK_INT(code_of(ask(ctx, s, "GET", long_target.p, "", S(""))), 431);
    struct buf many = buf_make(&ctx->arena, 1 << 20);
    for (int i = 0; i < 120; i++)
        buf_printf(&many, "X-%d: 1\r\n", i);
    str reply = ask(ctx, s, "GET", "/hello", many.p, S(""));
    CHECK_INT(code_of(reply), 431);
    CHECK(holds(reply, "at most 100 headers"));
    server_close(s);
}

/* A connection whose request is being answered. */
static int dial_busy(const struct server *s, struct app *app)
{
    int before = atomic_load(&app->held), fd = dial(s);
    SAY(fd, "GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n");
    WAIT_FOR(atomic_load(&app->held) == before + 1);
    return fd;
}

TEST(more_busy_connections_than_allowed_get_a_503)
{
    SERVE(settings.connections_max = 2);
    int first = dial_busy(s, &app), second = dial_busy(s, &app), third = dial(s);
    str reply = hear_all(ctx, third);
    CHECK_INT(code_of(reply), 503);
    CHECK(holds(reply, "its limit of 2 connections"));
    atomic_store(&app.let_go, true);
    CHECK_INT(code_of(hear_until(ctx, first, "true}")), 200);
    CHECK_INT(code_of(hear_until(ctx, second, "true}")), 200);
    struct server_stats stats;
    server_stats(s, &stats);
    CHECK_INT(stats.rejected_connections, 1);
    CHECK_INT(stats.shed_connections, 0);
    CHECK_INT(code_of(ask(ctx, s, "GET", "/hello", "", S(""))), 200);
    close(first);
    close(second);
    close(third);
    server_close(s);
}

/* Half of them never sent a byte, the others wait for their next request. */
TEST(idle_connections_shut_nobody_out)
{
    enum { IDLE = 98, NEW = 300 };
    SERVE();
    int fds[IDLE], busy = dial_busy(s, &app);
    for (int i = 0; i < IDLE; i++) {
        fds[i] = dial(s);
        if (i % 2) {
            SAY(fds[i], "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
            hear_until(ctx, fds[i], "true}");
        }
    }
    struct server_stats stats;
    WAIT_FOR((server_stats(s, &stats), stats.connections == IDLE + 1));
    int part = dial(s); /* has begun a request, so it is not idle */
    SAY(part, "GET /hello HTTP/1.1\r\n");
    WAIT_FOR((server_stats(s, &stats), stats.active == 2));
    int kept[NEW];
    for (int i = 0; i < NEW; i++) {
        kept[i] = dial(s);
        SAY(kept[i], "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
        CHECK_INT(code_of(hear_until(ctx, kept[i], "}")), 200);
    }
    CHECK(hears_end(fds[0]) && hears_end(fds[IDLE - 1]) && hears_end(kept[0]));
    SAY(kept[NEW - 1], "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
    CHECK_INT(code_of(hear_until(ctx, kept[NEW - 1], "}")), 200);
    WAIT_FOR((server_stats(s, &stats), stats.connections <= settings.connections_max));
    CHECK(stats.shed_connections >= NEW && stats.rejected_connections == 0);
    SAY(part, "Host: localhost\r\n\r\n");
    CHECK_INT(code_of(hear_until(ctx, part, "true}")), 200);
    atomic_store(&app.let_go, true);
    CHECK_INT(code_of(hear_until(ctx, busy, "true}")), 200);
    for (int i = 0; i < IDLE; i++)
        close(fds[i]);
    for (int i = 0; i < NEW; i++)
        close(kept[i]);
    close(part);
    close(busy);
    server_close(s);
}

TEST(slow_headers_have_less_time_when_all_places_are_taken)
{
    SERVE(settings.connections_max = 1; settings.request_ms = 60000);
    int fd = dial(s);
    SAY(fd, "GET /hello HTTP/1.1\r\n");
    str reply = hear_all(ctx, fd);
    CHECK_INT(code_of(reply), 408);
    CHECK(holds(reply, "not complete after 5000 ms"));
    close(fd);
    server_close(s);
}

TEST(a_full_queue_is_a_429_at_once)
{
    SERVE(settings.workers = 1; settings.queue_max = 2);
    int waiting[3];
    for (int i = 0; i < 3; i++) {
        waiting[i] = dial(s);
        SAY(waiting[i], "GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n");
        struct server_stats stats;
        WAIT_FOR((server_stats(s, &stats),
                  atomic_load(&app.held) == 1 && (int)stats.queued == (i > 0 ? i : 0)));
    }
    str reply = ask(ctx, s, "GET", "/worker", "", S(""));
    CHECK_INT(code_of(reply), 429);
    CHECK(holds(reply, "\r\nRetry-After: 1\r\n") && holds(reply, "\"too_busy\""));
    CHECK_INT(code_of(ask(ctx, s, "GET", "/hello", "", S(""))), 200);
    atomic_store(&app.let_go, true);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(code_of(hear_until(ctx, waiting[i], "true}")), 200);
        close(waiting[i]);
    }
    server_close(s);
}

TEST(requests_sent_ahead_leave_room_in_the_queue)
{
    enum { AHEAD = 8, QUEUE = 4 };
    SERVE(settings.workers = 1; settings.queue_max = QUEUE);
    int busy = dial_busy(s, &app), ahead[AHEAD];
    struct server_stats stats;
    for (int i = 0; i < AHEAD; i++) {
        ahead[i] = dial(s);
        SAY(ahead[i], "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"
                      "GET /worker HTTP/1.1\r\nHost: localhost\r\n\r\n");
        CHECK_INT(code_of(hear_until(ctx, ahead[i], "true}")), 200);
    }
    WAIT_FOR((server_stats(s, &stats), stats.queued >= QUEUE / 2 + 1));
    int fresh = dial(s);
    SAY(fresh, "GET /worker HTTP/1.1\r\nHost: localhost\r\n\r\n");
    WAIT_FOR((server_stats(s, &stats), stats.queued == QUEUE));
    atomic_store(&app.let_go, true);
    CHECK_INT(code_of(hear_until(ctx, fresh, "true}")), 200);
    for (int i = 0; i < AHEAD; i++) {
        CHECK_INT(code_of(hear_until(ctx, ahead[i], "true}")), 200);
        close(ahead[i]);
    }
    CHECK_INT(code_of(hear_until(ctx, busy, "true}")), 200);
    close(busy);
    close(fresh);
    server_close(s);
}

TEST(a_request_that_takes_too_long_is_a_408)
{
    SERVE(settings.request_ms = 150);
    int fd = dial(s);
    SAY(fd, "GET /hello HTTP/1.1\r\nHost: loc");
    str reply = hear_all(ctx, fd);
    CHECK_INT(code_of(reply), 408);
    CHECK(holds(reply, "not complete after 150 ms"));
    close(fd);
    server_close(s);
}

TEST(an_idle_connection_is_closed_without_a_word)
{
    SERVE(settings.idle_ms = 150);
    int fresh = dial(s), used = dial(s);
    SAY(used, "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
    hear_until(ctx, used, "true}");
    CHECK_STR(hear_all(ctx, fresh), S(""));
    CHECK_STR(hear_all(ctx, used), S(""));
    close(fresh);
    close(used);
    server_close(s);
}

TEST(a_client_that_reads_nothing_is_cut)
{
    SERVE(settings.idle_ms = 200);
    int fd = dial(s);
    SAY(fd, "GET /large?n=40000000 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    struct server_stats stats;
    WAIT_FOR((server_stats(s, &stats), stats.requests == 1));
    WAIT_FOR((server_stats(s, &stats), stats.connections == 0));
    CHECK(hears_end(fd));
    close(fd);
    server_close(s);
}

TEST(only_known_hosts_are_served)
{
    static const char *const hosts[] = {"memory.example", NULL};
    SERVE(settings.hosts = hosts);
    static const struct {
        const char *headers;
        int code;
    } rows[] = {
        {"Host: localhost:7077\r\n", 200},
        {"Host: LOCALHOST\r\n", 200},
        {"Host: app.localhost\r\n", 200},
        {"Host: 127.0.0.1\r\n", 200},
        {"Host: 127.8.9.1:80\r\n", 200},
        {"Host: [::1]:7077\r\n", 200},
        {"Host: memory.example:443\r\n", 200},
        {"Host: evil.example\r\n", 403},
        {"Host: 127.0.0.1.evil.example\r\n", 403},
        {"Host: localhost.evil.example\r\n", 403},
        {"Host: 10.0.0.1\r\n", 403},
        {"Host: \r\n", 400},
        {"Host: localhost\r\nHost: evil.example\r\n", 400},
        {"Host: localhost:7077\r\nOrigin: http://localhost:7077\r\n", 200},
        {"Host: localhost\r\nOrigin: https://memory.example\r\n", 200},
        {"Host: localhost\r\nOrigin: http://localhost:3000\r\n", 403},
        {"Host: localhost\r\nOrigin: http://evil.example\r\n", 403},
        {"Host: localhost\r\nOrigin: null\r\n", 403},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_INT(code_of(ask(ctx, s, "GET", "/hello", rows[i].headers, S(""))), rows[i].code);
    str reply = ask(ctx, s, "POST", "/add", "Host: evil.example\r\n", S("{\"text\":\"x\"}"));
    CHECK(holds(reply, "'evil.example' is not served"));
    server_close(s);
}

TEST(any_host_may_be_allowed_but_no_foreign_page)
{
    SERVE(settings.any_host = true);
    CHECK_INT(code_of(ask(ctx, s, "GET", "/hello", "Host: x.example\r\n", S(""))), 200);
    CHECK_INT(code_of(ask(ctx, s, "GET", "/hello",
                          "Host: x.example\r\nOrigin: http://y.example\r\n", S(""))),
              403);
    server_close(s);
}

TEST(malformed_requests_are_a_400_and_the_end)
{
    SERVE();
    static const char *const bad[] = {
        "\x16\x03\x01\x02garbage\r\n\r\n",
        "GET /hello\r\n\r\n",
        "GET /hello HTTP/9.9\r\n\r\n",
        "BREW /hello HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /hello HTTP/1.1\r\n\r\n",
        "CONNECT somewhere:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: localhost\r\nBad Name: x\r\n\r\n",
        "POST /a/1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
        "POST /a/1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        ("POST /a/1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
         "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        "POST /a/1 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int fd = dial(s);
        SAY(fd, bad[i]);
        str reply = hear_until(ctx, fd, "}");
        if (code_of(reply) != 400 || !holds(reply, "\"first\""))
            fail_msg("row %zu: " S_FMT, i, S_ARG(reply));
        close(fd);
    }
    server_close(s);
}

TEST(clients_that_come_and_go_leave_nothing_behind)
{
    SERVE();
    for (int i = 0; i < 200; i++) {
        int fd = dial(s);
        static const char *const parts[] = {"", "GET /he",
                                            "GET /worker HTTP/1.1\r\nHost: localhost",
                                            "GET /worker HTTP/1.1\r\nHost: localhost\r\n\r\n",
                                            "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"};
        struct linger at_once = {1, 0};
        SAY(fd, parts[i % 5]);
        if (i % 2)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(fd);
    }
    struct server_stats stats;
    WAIT_FOR((server_stats(s, &stats), stats.connections == 0 && stats.active == 0));
    server_close(s);
}

/* --- of processor time --- */

enum { HOUR_US = 1000000000 };

static struct allowance *allowance_of(struct server *s, const char *path)
{
    for (size_t i = 0; i < s->router.n; i++)
        if (str_is(str_of(s->router.rows[i].route->path), path))
            return &s->router.rows[i].allowance;
    fail_msg("no route %s", path);
    return NULL;
}

TEST(an_open_route_that_took_too_much_time_is_refused_and_others_are_not)
{
    SERVE();
    allowance_take(allowance_of(s, "/a/literal"), HOUR_US);
    str reply = ask(ctx, s, "GET", "/a/literal", "Authorization: x\r\n", S(""));
    CHECK_INT(code_of(reply), 429);
    CHECK(holds(reply, "\r\nRetry-After: 1\r\n") && holds(reply, "processor"));
    CHECK_INT(code_of(ask(ctx, s, "GET", "/worker", "", S(""))), 200);
    CHECK_INT(code_of(ask(ctx, s, "GET", "/hello", "", S(""))), 200);
    server_close(s);
}

TEST(refusals_of_nobody_known_have_one_allowance)
{
    SERVE();
    CHECK_INT(code_of(ask(ctx, s, "GET", "/hello", "", S(""))), 200);
    CHECK(!atomic_load(&s->of_nobody[true].until_us));
    CHECK_INT(code_of(ask(ctx, s, "GET", "/second/admin", "", S(""))), 401);
    CHECK(atomic_load(&s->of_nobody[true].until_us));
    allowance_take(&s->of_nobody[true], HOUR_US);
    CHECK_INT(code_of(ask(ctx, s, "GET", "/second/admin", "", S(""))), 429);
    CHECK_INT(code_of(ask(ctx, s, "GET", "/second/admin", "Authorization: x\r\n", S(""))), 200);
    CHECK_INT(code_of(ask(ctx, s, "GET", "/worker", "", S(""))), 200);
    server_close(s);
}

/* All is sent before the loop runs, so that how busy the machine is makes no difference. The end of
 * an id is the request's number in its loop. */
TEST(requests_sent_ahead_do_not_keep_others_waiting)
{
    enum { AHEAD = 300, FEW = 100 };
    struct app app = {0};
    struct server_settings settings = test_settings();
    struct server *s;
    settings.loops = 1;
    CHECK_OK(server_listen(ctx, &settings, &s));
    int greedy = dial(s), other = dial(s);
    for (int i = 0; i < AHEAD; i++)
        SAY(greedy, "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
    SAY(other, "GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    server_start(s, test_surfaces, &app);
    str reply = hear_all(ctx, other), name = S("X-Request-Id: ");
    size_t at = str_find(reply, name) + name.n + 8;
    CHECK(strtoul(str_c(&ctx->arena, str_sub(reply, at, at + 8)), NULL, 16) < FEW);
    SAY(greedy, "GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    reply = hear_all(ctx, greedy);
    int n = 0;
    for (size_t found; (found = str_find(reply, S("{\"hello\":true}"))) < reply.n; n++)
        reply = str_sub(reply, found + 1, reply.n);
    CHECK_INT(n, AHEAD + 1);
    close(greedy);
    close(other);
    server_close(s);
}

TEST(a_client_that_closes_its_half_gets_all_answers)
{
    SERVE();
    int fd = dial(s);
    SAY(fd,
        "GET /worker HTTP/1.1\r\nHost: localhost\r\n\r\nGET /a/1 HTTP/1.1\r\nHost: localhost\r\n"
        "\r\nGET /hello HTTP/1.1\r\nHost: localhost\r\n\r\nGET /un");
    shutdown(fd, SHUT_WR);
    str all = hear_all(ctx, fd);
    CHECK(holds(all, "|/a/1|1|") && str_ends(all, S("{\"hello\":true}")));
    close(fd);
    server_close(s);
}
