/* relaying.c - an upstream's answer reaches the client as it comes, and every way that can end. */
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"

#define RELAY(...)                                                                                 \
    struct app app = {0};                                                                          \
    struct server_settings settings = test_settings();                                             \
    __VA_ARGS__;                                                                                   \
    int listener = listener_open(ctx, &app.upstream);                                              \
    struct server *s = serve(ctx, &app, &settings)
#define END_RELAY                                                                                  \
    close(listener);                                                                               \
    server_close(s)

static const char ask_stream[] = "POST /relay/x HTTP/1.1\r\nHost: localhost\r\n"
                                 "Authorization: Bearer k\r\nAccept-Encoding: gzip\r\n"
                                 "Content-Type: application/json\r\nX-Empty:\r\n"
                                 "Content-Length: 4\r\n\r\nbody";
static const char stream_head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                                  "Keep-Alive: timeout=5\r\nX-Up: 1\r\n"
                                  "Transfer-Encoding: chunked\r\n\r\n";

/* The request has reached the upstream, on the connection that is returned. */
static int pass_request(struct ctx *ctx, int client, int listener)
{
    SAY(client, ask_stream);
    int up = listener_accept(listener);
    hear_until(ctx, up, "body");
    return up;
}

/* The client has the first piece of the answer, too. */
static int begin_stream(struct ctx *ctx, int client, int listener)
{
    int up = pass_request(ctx, client, listener);
    SAY(up, stream_head);
    SAY(up, "5\r\none\n\n\r\n");
    hear_until(ctx, client, "one");
    return up;
}

TEST(pieces_come_one_by_one_with_the_upstreams_head)
{
    RELAY();
    int client = dial(s);
    SAY(client, ask_stream);
    int up = listener_accept(listener);
    str asked = hear_until(ctx, up, "body");
    CHECK(str_starts(asked, S("POST /x HTTP/1.1\r\n")));
    CHECK(holds(asked, "\r\nAuthorization: Bearer k\r\n") && holds(asked, "\r\nX-Empty:\r\n"));
    CHECK(!holds(asked, "gzip") && !holds(asked, "Host: localhost"));
    CHECK(holds(asked, "\r\nContent-Length: 4\r\n"));
    SAY(up, stream_head);
    str head = hear_until(ctx, client, "\r\n\r\n");
    CHECK_INT(code_of(head), 200);
    CHECK(holds(head, "\r\nX-Up: 1\r\n") && holds(head, "\r\nX-Receipt: r1\r\n"));
    CHECK(holds(head, "\r\nContent-Type: text/event-stream\r\n"));
    CHECK(holds(head, "\r\nTransfer-Encoding: chunked\r\n") && !holds(head, "Keep-Alive"));
    SAY(up, "5\r\none\n\n\r\n");
    CHECK(holds(hear_until(ctx, client, "\n\n\r\n"), "5\r\none\n\n\r\n"));
    SAY(up, "5\r\ntwo\n\n\r\n0\r\n\r\n");
    CHECK(holds(hear_until(ctx, client, "0\r\n\r\n"), "two\n\n"));
    WAIT_FOR(atomic_load(&app.done) == 1);
    CHECK_INT(app.done_ok, 1);
    CHECK_INT(app.done_code, 200);
    CHECK_INT(app.seen, 10);
    close(up);
    close(client);
    END_RELAY;
}

TEST(both_connections_serve_the_next_request)
{
    RELAY();
    int client = dial(s), up = -1;
    for (int i = 0; i < 5; i++) {
        SAY(client, ask_stream);
        if (up < 0)
            up = listener_accept(listener);
        CHECK(holds(hear_until(ctx, up, "body"), "POST /x"));
        SAY(up, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nDate: now\r\n\r\nhello");
        str reply = hear_until(ctx, client, "hello");
        CHECK(holds(reply, "\r\nContent-Length: 5\r\n") && !holds(reply, "chunked"));
        CHECK(holds(reply, "\r\nDate: now\r\n") && !holds(reply, "GMT"));
    }
    WAIT_FOR(atomic_load(&app.done_ok) == 5);
    close(up);
    close(client);
    END_RELAY;
}

TEST(an_idle_upstream_connection_that_closes_is_replaced)
{
    RELAY(settings.loops = 1);
    int client = dial(s);
    for (int i = 0; i < 3; i++) {
        int up = pass_request(ctx, client, listener);
        SAY(up, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        hear_until(ctx, client, "hello");
        close(up);
    }
    close(client);
    END_RELAY;
}

TEST(an_upstreams_error_keeps_status_and_body)
{
    RELAY();
    int client = dial(s);
    int up = pass_request(ctx, client, listener);
    SAY(up, "HTTP/1.1 429 Slow Down\r\nRetry-After: 7\r\nContent-Type: application/json\r\n"
            "X-Request-Id: theirs\r\nAlt-Svc: h3=\":443\"\r\n"
            "Content-Length: 13\r\n\r\n{\"error\":\"x\"}");
    str reply = hear_until(ctx, client, "\"x\"}");
    CHECK_INT(code_of(reply), 429);
    size_t id = str_find(reply, S("X-Request-Id: "));
    CHECK(str_starts(str_sub(reply, id, reply.n), S("X-Request-Id: theirs\r\n")));
    CHECK(!holds(str_sub(reply, id + 1, reply.n), "X-Request-Id") && !holds(reply, "Alt-Svc"));
    CHECK(holds(reply, "\r\nRetry-After: 7\r\n"));
    WAIT_FOR(atomic_load(&app.done_ok) == 1);
    CHECK_INT(app.done_code, 429);
    close(up);
    close(client);
    END_RELAY;
}

TEST(a_refused_connection_is_a_502_in_the_surfaces_words)
{
    RELAY();
    close(listener);
    listener = dup(0);
    str reply = ask(ctx, s, "GET", "/relay/x", "", S(""));
    CHECK_INT(code_of(reply), 502);
    CHECK(holds(reply, "\"first\":\"the upstream at 127.0.0.1:") && holds(reply, "\"upstream\""));
    WAIT_FOR(atomic_load(&app.done) == 1);
    CHECK_INT(app.done_ok, 0);
    END_RELAY;
}

TEST(a_silent_upstream_is_a_504)
{
    RELAY(settings.upstream_ms = 200);
    int client = dial(s);
    SAY(client, ask_stream);
    int up = listener_accept(listener);
    CHECK_INT(code_of(hear_until(ctx, client, "silent")), 504);
    CHECK(hears_end(up));
    WAIT_FOR(atomic_load(&app.done) == 1);
    close(up);
    close(client);
    END_RELAY;
}

TEST(an_upstream_that_says_nothing_or_nonsense_is_a_502)
{
    RELAY();
    static const char *const answers[] = {"", "SSH-2.0-x\r\n", "HTTP/1.1 200 OK\r\nX: 1"};
    for (int i = 0; i < 3; i++) {
        int client = dial(s);
        int up = pass_request(ctx, client, listener);
        SAY(up, answers[i]);
        close(up);
        CHECK_INT(code_of(hear_until(ctx, client, "}")), 502);
        close(client);
    }
    END_RELAY;
}

/* What the upstream says of its framing may be wrong; what we say never is. */
TEST(an_upstream_cannot_desynchronise_the_client)
{
    static const char *const heads[] = {
        "Content-Length: 3\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 3",
        "Transfer-Encoding: chunked\r\nX-Folded: a\r\n Content-Length: 3",
        "Transfer-Encoding: chunked\r\nX-Cut: a\rContent-Length: 3",
    };
    RELAY();
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        int client = dial(s);
        int up = pass_request(ctx, client, listener);
        SAY(up, "HTTP/1.1 200 OK\r\nX-Receipt: forged\r\n");
        SAY(up, heads[i]);
        SAY(up, "\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
        str reply = hear_until(ctx, client, "0\r\n\r\n");
        CHECK(holds(reply, "\r\nTransfer-Encoding: chunked\r\n") &&
              holds(reply, "5\r\nhello\r\n0"));
        CHECK(!holds(reply, "Content-Length"));
        CHECK(holds(reply, "\r\nX-Receipt: r1\r\n") && !holds(reply, "forged"));
        close(up);
        close(client);
    }
    END_RELAY;
}

TEST(bytes_before_a_head_never_reach_the_client)
{
    RELAY();
    static const char *const answers[] = {
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nHTTP/1.1 200 OK\r\nX-Forged: "
        "1\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\n\r\nX-Forged: 1\r\n",
    };
    for (int i = 0; i < 2; i++) {
        int client = dial(s);
        int up = pass_request(ctx, client, listener);
        SAY(up, answers[i]);
        close(up);
        str reply = hear_until(ctx, client, "}");
        CHECK(str_starts(reply, S("HTTP/1.1 ")) && !holds(reply, "101 Switching"));
        CHECK_INT(code_of(reply), 502);
        CHECK(!holds(reply, "X-Forged"));
        close(client);
    }
    END_RELAY;
}

TEST(an_answer_broken_off_is_broken_off_for_the_client)
{
    RELAY();
    int client = dial(s);
    int up = begin_stream(ctx, client, listener);
    close(up);
    str rest = hear_all(ctx, client);
    CHECK(!holds(rest, "0\r\n\r\n"));
    WAIT_FOR(atomic_load(&app.done) == 1);
    CHECK_INT(app.done_ok, 0);
    close(client);
    END_RELAY;
}

TEST(a_client_that_leaves_ends_the_upstream_call_at_once)
{
    RELAY();
    int client = dial(s);
    int up = begin_stream(ctx, client, listener);
    close(client);
    CHECK(hears_end(up));
    WAIT_FOR(atomic_load(&app.done) == 1);
    CHECK_INT(app.done_ok, 0);
    struct server_stats stats;
    server_stats(s, &stats);
    CHECK_INT(stats.relays_cancelled, 1);
    close(up);
    END_RELAY;
}

TEST(a_client_that_leaves_before_the_first_byte_ends_the_call_too)
{
    RELAY();
    int client = dial(s);
    int up = pass_request(ctx, client, listener);
    close(client);
    CHECK(hears_end(up));
    WAIT_FOR(atomic_load(&app.done) == 1);
    close(up);
    END_RELAY;
}

/* Whoever connects now is not taken until the caller accepts the one that waits, and listens. */
static int fill_queue(int listener)
{
    struct sockaddr_storage at;
    socklen_t n = sizeof at;
    assert_int_equal(listen(listener, 0), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &n), 0);
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, n), 0);
    return fd;
}

/* Some libcurl closes such a socket without a word. Later ones have its number. */
TEST(clients_that_leave_while_the_upstream_is_connected_to_leave_nothing_behind)
{
    enum { N = 4 };
    RELAY(settings.loops = 1);
    struct server_stats stats;
    int clients[N], ups[N], waits = fill_queue(listener);
    for (int i = 0; i < N; i++) {
        clients[i] = dial(s);
        SAY(clients[i], ask_stream);
    }
    WAIT_FOR((server_stats(s, &stats), stats.relays == N));
    for (int i = 0; i < N; i++)
        close(clients[i]);
    WAIT_FOR((server_stats(s, &stats), stats.relays_cancelled == N));
    close(listener_accept(listener));
    close(waits);
    assert_int_equal(listen(listener, N), 0);
    for (int i = 0; i < N; i++) {
        clients[i] = dial(s);
        ups[i] = pass_request(ctx, clients[i], listener);
    }
    for (int i = 0; i < N; i++) {
        SAY(ups[i], "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        hear_until(ctx, clients[i], "hello");
        close(ups[i]);
        close(clients[i]);
    }
    END_RELAY;
}

/* A client that reads nothing must stop the upstream's sending, not fill the server's memory. */
TEST(a_slow_client_slows_the_upstream_down)
{
    RELAY();
    enum { ALL = 64 << 20, PIECE = 1 << 16 };
    int client = dial(s);
    int up = pass_request(ctx, client, listener);
    say(up, str_printf(&ctx->arena, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", ALL));
    char *piece = arena_alloc(&ctx->arena, PIECE);
    size_t sent = 0;
    memset(piece, 'x', PIECE);
    while (sent < ALL) {
        struct pollfd ready = {.fd = up, .events = POLLOUT};
        if (poll(&ready, 1, 500) != 1)
            break; /* nobody takes any more */
        ssize_t n = send(up, piece, PIECE, MSG_DONTWAIT | MSG_NOSIGNAL);
        sent += n > 0 ? (size_t)n : 0;
    }
    CHECK(sent < ALL);
    size_t passed = atomic_load(&app.seen), heard = 0;
    CHECK(passed < ALL / 2); /* what the kernel's buffers take, and little more */
    char *p = arena_alloc(&ctx->arena, 1 << 20);
    while (heard < ALL) {
        struct pollfd ready[2] = {{.fd = client, .events = POLLIN},
                                  {.fd = up, .events = sent < ALL ? POLLOUT : 0}};
        CHECK(poll(ready, 2, 10000) > 0);
        if (ready[1].revents & POLLOUT) {
            size_t left = ALL - sent < PIECE ? ALL - sent : PIECE;
            ssize_t n = send(up, piece, left, MSG_DONTWAIT | MSG_NOSIGNAL);
            sent += n > 0 ? (size_t)n : 0;
        }
        if (ready[0].revents & POLLIN) {
            ssize_t n = recv(client, p, 1 << 20, MSG_DONTWAIT);
            CHECK(n > 0);
            heard += (size_t)n;
        }
    }
    WAIT_FOR(atomic_load(&app.done_ok) == 1);
    CHECK_INT(app.seen, ALL);
    close(up);
    close(client);
    END_RELAY;
}

TEST(old_clients_get_a_stream_that_ends_with_the_connection)
{
    RELAY();
    int client = dial(s);
    SAY(client, "GET /relay/x HTTP/1.0\r\n\r\n");
    int up = listener_accept(listener);
    hear_until(ctx, up, "\r\n\r\n");
    SAY(up, stream_head);
    SAY(up, "5\r\none\n\n\r\n0\r\n\r\n");
    str reply = hear_all(ctx, client);
    CHECK(!holds(reply, "chunked"));
    CHECK_STR(body_of(reply), S("one\n\n"));
    close(up);
    close(client);
    END_RELAY;
}

TEST(head_and_answers_without_a_body_are_relayed)
{
    RELAY();
    int client = dial(s);
    SAY(client, "HEAD /relay/x HTTP/1.1\r\nHost: localhost\r\n\r\n");
    int up = listener_accept(listener);
    CHECK(str_starts(hear_until(ctx, up, "\r\n\r\n"), S("HEAD /x")));
    SAY(up, "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n");
    CHECK(holds(hear_until(ctx, client, "\r\n\r\n"), "\r\nContent-Length: 500\r\n"));
    SAY(client, ask_stream);
    CHECK(str_starts(hear_until(ctx, up, "body"), S("POST /x")));
    SAY(up, "HTTP/1.1 204 No Content\r\n\r\n");
    str reply = hear_until(ctx, client, "\r\n\r\n");
    CHECK(code_of(reply) == 204 && !holds(reply, "chunked") && !holds(reply, "Length"));
    SAY(client, "GET /relay/x HTTP/1.1\r\nHost: localhost\r\n\r\n");
    str asked = hear_until(ctx, up, "\r\n\r\n");
    CHECK(str_starts(asked, S("GET /x")) && !holds(asked, "Content-"));
    SAY(up, "HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n"
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    reply = hear_until(ctx, client, "\r\n\r\n");
    CHECK(code_of(reply) == 200 && !holds(reply, "X-Early"));
    close(up);
    close(client);
    END_RELAY;
}

TEST(a_request_behind_a_stream_waits_for_its_end)
{
    RELAY();
    int client = dial(s);
    SAY(client, ask_stream);
    SAY(client, "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
    int up = listener_accept(listener);
    hear_until(ctx, up, "body");
    SAY(up, stream_head);
    SAY(up, "5\r\none\n\n\r\n");
    CHECK(!holds(hear_until(ctx, client, "one"), "hello"));
    SAY(client, "GET /a/2 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    SAY(up, "0\r\n\r\n");
    str rest = hear_until(ctx, client, "GET|/a/2");
    CHECK(str_find(rest, S("0\r\n\r\n")) < str_find(rest, S("{\"hello\":true}")));
    close(up);
    close(client);
    END_RELAY;
}

TEST(a_client_that_leaves_with_requests_waiting_ends_the_call)
{
    RELAY();
    int client = dial(s);
    SAY(client, ask_stream);
    SAY(client, ask_stream);
    int up = listener_accept(listener);
    SAY(up, stream_head);
    hear_until(ctx, client, "\r\n\r\n");
    shutdown(client, SHUT_WR);
    CHECK(hears_end(up));
    WAIT_FOR(atomic_load(&app.done) == 1);
    close(up);
    close(client);
    END_RELAY;
}

TEST(the_next_request_does_not_wait_for_done)
{
    RELAY();
    int client = dial(s);
    atomic_store(&app.done_blocks, true);
    int up = pass_request(ctx, client, listener);
    SAY(up, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    hear_until(ctx, client, "hello");
    SAY(client, "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
    hear_until(ctx, client, "{\"hello\":true}");
    CHECK_INT(app.done, 0);
    atomic_store(&app.done_blocks, false);
    WAIT_FOR(atomic_load(&app.done) == 1);
    close(up);
    close(client);
    END_RELAY;
}

TEST(many_streams_at_once_are_all_whole)
{
    RELAY(settings.queue_max = 1000; settings.connections_max = 1000);
    enum { MANY = 64 };
    int clients[MANY], ups[MANY];
    for (int i = 0; i < MANY; i++) {
        clients[i] = dial(s);
        SAY(clients[i], ask_stream);
        ups[i] = listener_accept(listener);
        SAY(ups[i], stream_head);
    }
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < MANY; i++)
            say(ups[i], round < 9 ? S("5\r\none\n\n\r\n") : S("5\r\none\n\n\r\n0\r\n\r\n"));
    for (int i = 0; i < MANY; i++) {
        hear_until(ctx, clients[i], "0\r\n\r\n");
        close(clients[i]);
    }
    WAIT_FOR(atomic_load(&app.done_ok) == MANY);
    CHECK_INT(app.seen, MANY * 50);
    for (int i = 0; i < MANY; i++)
        close(ups[i]);
    END_RELAY;
}

/* The reply to a relay whose upstream sends these header lines and an empty body. */
static str relay_head(struct ctx *ctx, int listener, const struct server *s, const char *lines)
{
    int client = dial(s);
    int up = pass_request(ctx, client, listener);
    say(up, str_printf(&ctx->arena, "HTTP/1.1 200 OK\r\n%sContent-Length: 0\r\n\r\n", lines));
    str reply = hear_until(ctx, client, "\r\n\r\n");
    CHECK_INT(code_of(reply), 200);
    close(up);
    close(client);
    return reply;
}

TEST(headers_of_one_connection_end_here)
{
    RELAY();
    int client = dial(s);
    SAY(client, "GET /relay/x HTTP/1.1\r\nHost: localhost\r\nConnection: x-one, keep-alive\r\n"
                "connection: X-Two\r\nX-One: 1\r\nX-Two: 2\r\nX-Three: 3\r\nTE: trailers\r\n"
                "Keep-Alive: 5\r\nProxy-Authorization: Basic abc\r\nUpgrade: h2c\r\n\r\n");
    int up = listener_accept(listener);
    str asked = hear_until(ctx, up, "\r\n\r\n");
    static const char *const ended[] = {"X-One",  "X-Two", "TE:",     "Keep-Alive",
                                        "Proxy-", "abc",   "Upgrade", "onnection: "};
    for (size_t i = 0; i < sizeof ended / sizeof *ended; i++)
        CHECK(!holds(asked, ended[i]));
    CHECK(holds(asked, "\r\nX-Three: 3\r\n"));
    close(up);
    close(client);
    END_RELAY;
}

TEST(headers_that_speak_for_an_origin_end_here)
{
    RELAY();
    str reply = relay_head(ctx, listener, s,
                           "Set-Cookie: a=1; Path=/\r\nset-cookie: b=2\r\n"
                           "Access-Control-Allow-Origin: *\r\n"
                           "access-control-allow-credentials: true\r\n"
                           "Strict-Transport-Security: max-age=9\r\nAlt-Svc: h3=\":443\"\r\n"
                           "Clear-Site-Data: \"*\"\r\nX-Content-Type-Options: sniff\r\n"
                           "X-Access-Control-Kept: 1\r\nX-Set-Cookie: 2\r\n");
    static const char *const ended[] = {"\r\nSet-Cookie", "\r\nset-cookie", "a=1",     "b=2",
                                        "\r\nAccess-",    "\r\naccess-",    "Strict-", "Alt-Svc",
                                        "Clear",          ": sniff"};
    for (size_t i = 0; i < sizeof ended / sizeof *ended; i++)
        CHECK(!holds(reply, ended[i]));
    CHECK(holds(reply, "\r\nX-Access-Control-Kept: 1\r\nX-Set-Cookie: 2\r\n"));
    CHECK(holds(reply, "\r\nX-Content-Type-Options: nosniff\r\n"));
    END_RELAY;
}

TEST(headers_that_the_upstreams_connection_names_end_here)
{
    RELAY();
    str reply = relay_head(ctx, listener, s,
                           "X-Secret-Hop: leak\r\nConnection: X-Secret-Hop, close\r\n"
                           "Connection: x-late\r\nX-Late: leak\r\nKeep-Alive: timeout=leak\r\n"
                           "Proxy-Authenticate: leak\r\nProxy-Connection: leak\r\n"
                           "Upgrade: leak\r\nTE: leak\r\nTrailer: leak\r\nX-Kept: yes\r\n");
    CHECK(!holds(reply, "leak"));
    CHECK(holds(reply, "\r\nX-Kept: yes\r\n"));
    END_RELAY;
}

TEST(answers_are_neither_guessed_nor_kept_nor_loaded_by_other_pages)
{
    RELAY();
    str reply = relay_head(ctx, listener, s, "Cross-Origin-Resource-Policy: cross-origin\r\n");
    CHECK(holds(reply, "\r\nCache-Control: no-store\r\n"));
    CHECK(holds(reply, "\r\nCross-Origin-Resource-Policy: same-origin\r\n"));
    CHECK(!holds(reply, "cross-origin"));
    reply = relay_head(ctx, listener, s, "Cache-Control: private\r\n");
    CHECK(holds(reply, "\r\nCache-Control: private\r\n") && !holds(reply, "no-store"));
    END_RELAY;
}

/* Someone's file at the upstream would be a page of ours. */
TEST(a_browser_saves_what_it_would_run)
{
    static const struct {
        const char *lines, *disposition; /* NULL: none is sent */
    } cases[] = {
        {"Content-Type: text/html\r\n", "attachment"},
        {"content-type: Text/HTML ; charset=utf-8\r\n", "attachment"},
        {"Content-Type: application/xhtml+xml\r\n", "attachment"},
        {"Content-Type: image/svg+xml\r\n", "attachment"},
        {"Content-Type: text/xml\r\n", "attachment"},
        {"Content-Type: application/xml;a=b\r\n", "attachment"},
        {"Content-Type: application/atom+xml\r\n", "attachment"},
        {"Content-Type: multipart/x-mixed-replace; boundary=b\r\n", "attachment"},
        {"Content-Type: text/plain, text/html\r\n", "attachment"},
        {"Content-Type: text/html\r\nContent-Type: text/plain\r\n", "attachment"},
        {"Content-Disposition: inline\r\nContent-Type: text/html\r\n", "attachment"},
        {"Content-Type: text/html\r\nContent-Disposition: inline\r\n", "attachment"},
        {"Content-Type: text/html\r\nContent-Disposition: attachments\r\n", "attachment"},
        {"Content-Disposition: Attachment; filename=\"a.html\"\r\nContent-Type: text/html\r\n",
         "Attachment; filename=\"a.html\""},
        {"Content-Type: application/json\r\n", NULL},
        {"Content-Type: text/event-stream\r\n", NULL},
        {"Content-Type: text/plain; note=text/html\r\n", NULL},
        {"Content-Type: image/png\r\nContent-Disposition: inline\r\n", "inline"},
        {"", NULL},
    };
    RELAY();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str reply = relay_head(ctx, listener, s, cases[i].lines);
        CHECK(holds(reply, "\r\nX-Content-Type-Options: nosniff\r\n"));
        size_t at = str_find(reply, S("Content-Disposition: "));
        CHECK(!holds(str_sub(reply, at + (at < reply.n), reply.n), "Content-Disposition"));
        if (!cases[i].disposition) {
            CHECK(at == reply.n);
            continue;
        }
        str line = str_sub(reply, at, reply.n);
        str_cut(&line, ' ');
        CHECK_STR(str_cut(&line, '\r'), str_of(cases[i].disposition));
    }
    END_RELAY;
}

/* The head of an earlier answer must not mark a later one. */
TEST(an_interim_answer_marks_nothing)
{
    RELAY();
    int client = dial(s);
    int up = pass_request(ctx, client, listener);
    SAY(up, "HTTP/1.1 103 Early Hints\r\nContent-Type: text/html\r\n"
            "Content-Disposition: inline\r\n\r\n"
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n");
    CHECK(!holds(hear_until(ctx, client, "\r\n\r\n"), "Disposition"));
    close(up);
    close(client);
    END_RELAY;
}
