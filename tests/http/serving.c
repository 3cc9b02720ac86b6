/* serving.c - requests find their handlers, and replies are as HTTP wants them. */
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "fixture.h"

#define SERVE(...)                                                                                 \
    struct app app = {0};                                                                          \
    struct server_settings settings = test_settings();                                             \
    __VA_ARGS__;                                                                                   \
    struct server *s = serve(ctx, &app, &settings)

TEST(a_quick_and_a_worker_route_answer)
{
    SERVE();
    static const char *const paths[] = {"/hello", "/worker", "/either"};
    for (int i = 0; i < 3; i++) {
        str reply = ask(ctx, s, "GET", paths[i], "", S(""));
        CHECK_INT(code_of(reply), 200);
        CHECK_STR(body_of(reply), S("{\"hello\":true}"));
        CHECK(holds(reply, "Content-Type: application/json\r\n"));
        CHECK(holds(reply, "Content-Length: 14\r\n"));
        CHECK(holds(reply, "\r\nDate: ") && holds(reply, "\r\nX-Request-Id: "));
    }
    CHECK_INT(code_of(ask(ctx, s, "GET", "/either", "X-Slow: 1\r\n", S(""))), 200);
    server_close(s);
}

TEST(paths_are_matched_and_decoded)
{
    SERVE();
    static const struct {
        const char *target;
        int code;
        const char *body;
    } rows[] = {
        {"/a/1", 200, "GET|/a/1|1||"},
        {"/a/x%2Fy/b/%C3%A9?q=1#f", 200, "GET|/a/x/y/b/\xC3\xA9|x/y|\xC3\xA9|"},
        {"/a/literal?x=1&q=one+two%21", 200, "literal one two!"},
        {"/a/literal%20x", 200, "GET|/a/literal x|literal x||"},
        {"http://localhost/a/2", 200, "GET|/a/2|2||"},
        {"http://elsewhere/a/2", 400, NULL},
        {"/a/%zz", 400, NULL},
        {"/a/%2", 400, NULL},
        {"/a/%00", 400, NULL},
        {"/a/%ff", 400, NULL},
        {"/a/..", 400, NULL},
        {"/a/%2e%2E", 400, NULL},
        {"/a/.", 400, NULL},
        {"/a/x%2F..%2Fy", 400, NULL},
        {"/a/...", 200, "GET|/a/...|...||"},
        {"/a/", 404, NULL},
        {"/", 404, NULL},
        {"/a/1/b/2/c/3/4/5/6/7/8/9/0/1/2/3/4/5/6", 404, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        str reply = ask(ctx, s, "GET", rows[i].target, "", S(""));
        CHECK_INT(code_of(reply), rows[i].code);
        if (rows[i].body)
            CHECK_STR(body_of(reply), str_of(rows[i].body));
    }
    server_close(s);
}

TEST(what_is_not_there_is_worded_by_the_nearest_surface)
{
    SERVE();
    CHECK(holds(ask(ctx, s, "GET", "/second/none", "", S("")), "\"second\":\"there is nothing"));
    CHECK(holds(ask(ctx, s, "GET", "/none", "", S("")), "\"first\":\"there is nothing"));
    str reply = ask(ctx, s, "PUT", "/second/admin", "", S(""));
    CHECK_INT(code_of(reply), 405);
    CHECK(holds(reply, "\r\nAllow: GET, HEAD, OPTIONS\r\n") && holds(reply, "\"second\""));
    CHECK_INT(code_of(ask(ctx, s, "GET", "/shared/first", "", S(""))), 200);
    reply = ask(ctx, s, "GET", "/shared/second", "", S(""));
    CHECK_INT(code_of(reply), 405);
    CHECK(holds(reply, "\r\nAllow: POST, OPTIONS\r\n") && holds(reply, "\"second\""));
    reply = ask(ctx, s, "GET", "/second/broken/missing", "", S(""));
    CHECK_INT(code_of(reply), 404);
    CHECK(holds(reply, "it is broken"));
    CHECK_INT(code_of(ask(ctx, s, "GET", "/second/broken/x", "", S(""))), 500);
    server_close(s);
}

TEST(admit_decides_before_the_body_is_read)
{
    SERVE();
    CHECK_INT(code_of(ask(ctx, s, "GET", "/second/admin", "", S(""))), 401);
    CHECK_INT(code_of(ask(ctx, s, "GET", "/second/admin", "Authorization: x\r\n", S(""))), 200);
    server_close(s);
}

TEST(a_forwarded_request_is_not_this_machines)
{
    SERVE();
    CHECK_STR(body_of(ask(ctx, s, "GET", "/local", "", S(""))), S("true"));
    static const char *const told[] = {
        "X-Forwarded-For: 10.1.1.1\r\n", "x-forwarded-host: a\r\n",        "X-Forwarded-For:\r\n",
        "Forwarded: for=10.1.1.1\r\n",   "CF-Connecting-IP: 10.1.1.1\r\n", "Via: 1.1 a\r\n",
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        CHECK_STR(body_of(ask(ctx, s, "GET", "/local", told[i], S(""))), S("false"));
    server_close(s);
}

TEST(head_and_options_are_answered_for_every_route)
{
    SERVE();
    str reply = ask(ctx, s, "HEAD", "/hello", "", S(""));
    CHECK_INT(code_of(reply), 200);
    CHECK(holds(reply, "Content-Length: 14\r\n"));
    CHECK_STR(body_of(reply), S(""));
    reply = ask(ctx, s, "OPTIONS", "/a/1", "", S(""));
    CHECK_INT(code_of(reply), 204);
    CHECK(holds(reply, "\r\nAllow: GET, HEAD, POST, OPTIONS\r\n"));
    CHECK(!holds(reply, "Content-Length"));
    CHECK_INT(code_of(ask(ctx, s, "OPTIONS", "*", "", S(""))), 204);
    CHECK_INT(code_of(ask(ctx, s, "OPTIONS", "/none", "", S(""))), 404);
    server_close(s);
}

TEST(bodies_and_queries_are_read_by_their_table)
{
    SERVE();
    static const struct {
        const char *method, *target, *body;
        int code;
        const char *says;
    } rows[] = {
        {"POST", "/add", "{\"text\":\"x\"}", 200, "{\"text\":\"x\",\"limit\":5}"},
        {"POST", "/add", "{\"text\":\"x\",\"limit\":99}", 400, "\"field\":\"limit\""},
        {"POST", "/add", "{\"text\":", 400, "\"status\":\"bad_input\""},
        {"POST", "/add", "", 400, "\"field\":\"text\""},
        {"POST", "/json", "", 400, "no body"},
        {"POST", "/json", "[1,2]", 200, "[1,2]"},
        {"GET", "/add?text=a%20b&limit=7", "", 200, "{\"text\":\"a b\",\"limit\":7}"},
        {"GET", "/add?limit=7", "", 400, "\"field\":\"text\""},
        {"GET", "/add?text=a&other=1", "", 400, "\"field\":\"other\""},
        {"GET", "/add?text=%GG", "", 400, "percent-encoded"},
        {"DELETE", "/second/add?text=q&x=1", "", 200, "{\"text\":\"q\",\"limit\":5}"},
        {"DELETE", "/second/add", "{\"text\":\"b\"}", 200, "{\"text\":\"b\",\"limit\":5}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        str reply = ask(ctx, s, rows[i].method, rows[i].target, "", str_of(rows[i].body));
        CHECK_INT(code_of(reply), rows[i].code);
        CHECK(holds(reply, rows[i].says));
    }
    server_close(s);
}

TEST(pipelined_requests_are_answered_in_order)
{
    SERVE();
    int fd = dial(s);
    for (int i = 0; i < 20; i++)
        say(fd, str_printf(&ctx->arena,
                           "POST /a/%d HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc"
                           "GET /a/%d/b/q HTTP/1.1\r\nHost: localhost\r\n\r\n",
                           i, i));
    SAY(fd, "GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    str all = hear_all(ctx, fd);
    for (int i = 0; i < 20; i++) {
        str first = str_printf(&ctx->arena, "POST|/a/%d|%d||abc", i, i);
        str second = str_printf(&ctx->arena, "GET|/a/%d/b/q|%d|q|", i, i);
        size_t at = str_find(all, first);
        CHECK(at < all.n);
        all = str_sub(all, at, all.n);
        at = str_find(all, second);
        CHECK(at < all.n);
        all = str_sub(all, at, all.n);
    }
    CHECK(str_ends(all, S("{\"hello\":true}")));
    close(fd);
    server_close(s);
}

TEST(many_pipelined_quick_requests_in_one_packet_do_not_nest)
{
    SERVE();
    int fd = dial(s);
    struct buf b = buf_make(&ctx->arena, 4 << 20);
    enum { MANY = 1000 };
    for (int i = 0; i < MANY; i++)
        buf_add(&b, S("GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    buf_add(&b, S("GET /worker HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
    say(fd, buf_str(&b));
    str all = hear_all(ctx, fd);
    int n = 0;
    for (size_t at; (at = str_find(all, S("{\"hello\":true}"))) < all.n; n++)
        all = str_sub(all, at + 1, all.n);
    CHECK_INT(n, MANY + 1);
    close(fd);
    server_close(s);
}

TEST(chunked_bodies_and_bytes_in_drips_are_put_together)
{
    SERVE();
    int fd = dial(s);
    str request = S("POST /a/1 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "3\r\nabc\r\n5;x=y\r\ndefgh\r\n0\r\nTrailer-Field: 1\r\n\r\n");
    for (size_t i = 0; i < request.n; i++)
        say(fd, str_sub(request, i, i + 1));
    CHECK(holds(hear_until(ctx, fd, "abcdefgh"), "POST|/a/1|1||abcdefgh"));
    close(fd);
    server_close(s);
}

TEST(a_body_is_asked_for_when_the_client_expects_it)
{
    SERVE();
    int fd = dial(s);
    SAY(fd, "POST /a/1 HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
            "Content-Length: 2\r\n\r\n");
    CHECK_STR(hear_until(ctx, fd, "\r\n\r\n"), S("HTTP/1.1 100 Continue\r\n\r\n"));
    SAY(fd, "ok");
    CHECK_INT(code_of(hear_until(ctx, fd, "||ok")), 200);
    SAY(fd, "POST /small HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
            "Content-Length: 11\r\n\r\n");
    CHECK_INT(code_of(hear_all(ctx, fd)), 413);
    close(fd);
    fd = dial(s);
    SAY(fd, "POST /none HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
            "Content-Length: 2\r\n\r\n");
    CHECK_INT(code_of(hear_all(ctx, fd)), 404);
    close(fd);
    server_close(s);
}

TEST(old_clients_are_closed_unless_they_ask)
{
    SERVE();
    int fd = dial(s);
    SAY(fd, "GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    CHECK(holds(hear_until(ctx, fd, "true}"), "\r\nConnection: keep-alive\r\n"));
    SAY(fd, "GET /hello HTTP/1.0\r\n\r\n");
    CHECK(holds(hear_all(ctx, fd), "\r\nConnection: close\r\n"));
    close(fd);
    server_close(s);
}

TEST(a_client_that_closes_its_half_still_gets_the_reply)
{
    SERVE();
    int fd = dial(s);
    SAY(fd, "GET /worker HTTP/1.1\r\nHost: localhost\r\n\r\n");
    shutdown(fd, SHUT_WR);
    CHECK(holds(hear_all(ctx, fd), "{\"hello\":true}"));
    close(fd);
    server_close(s);
}

TEST(a_large_reply_reaches_a_slow_reader_whole)
{
    SERVE();
    int fd = dial(s);
    SAY(fd, "GET /large?n=20000000 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    str body = body_of(hear_all(ctx, fd));
    CHECK_INT(body.n, 20000000);
    for (size_t i = 0; i < body.n; i += 9973)
        CHECK_INT(body.p[i], 'a' + i % 26);
    close(fd);
    server_close(s);
}

TEST(a_line_break_in_a_reply_header_is_refused)
{
    SERVE();
    str reply = ask(ctx, s, "GET", "/header?value=fine", "", S(""));
    CHECK(code_of(reply) == 200 && holds(reply, "\r\nX-Said: fine\r\n"));
    reply = ask(ctx, s, "GET", "/header?value=a%0d%0aSet-Cookie:%20x", "", S(""));
    CHECK_INT(code_of(reply), 500);
    CHECK(!holds(reply, "Set-Cookie"));
    server_close(s);
}

TEST(a_port_in_use_and_a_bad_address_are_told)
{
    SERVE();
    struct server *other = NULL;
    settings.listen = str_printf(&ctx->arena, "127.0.0.1:%d", server_port(s));
    CHECK_STATUS(server_listen(ctx, &settings, &other), CONFLICT);
    ctx_clear_failure(ctx);
    settings.listen = S("nowhere");
    CHECK_STATUS(server_listen(ctx, &settings, &other), BAD_INPUT);
    CHECK(str_starts(server_url(ctx, s), S("http://127.0.0.1:")));
    server_close(s);
}

TEST(calls_to_other_servers_end_in_an_answer_or_a_reason)
{
    SERVE();
    struct answer answer;
    struct header header = {S("X-Slow"), S("1")};
    struct call call = {
        .url = str_printf(&ctx->arena, S_FMT "/a/7", S_ARG(server_url(ctx, s))),
        .method = S("POST"),
        .headers = &header,
        .n_headers = 1,
        .body = S("hi"),
        .timeout_ms = 10000,
        .answer_max = 1000,
    };
    CHECK_OK(http_call(ctx, &call, &answer));
    CHECK_INT(answer.code, 200);
    CHECK_STR(answer.type, S("text/plain"));
    CHECK_STR(answer.body, S("POST|/a/7|7||hi"));
    call.answer_max = 5;
    CHECK_STATUS(http_call(ctx, &call, &answer), TOO_LARGE);
    ctx_clear_failure(ctx);
    call.url = str_printf(&ctx->arena, S_FMT "/none", S_ARG(server_url(ctx, s)));
    call.answer_max = 1000;
    CHECK_OK(http_call(ctx, &call, &answer));
    CHECK_INT(answer.code, 404);
    call.url = str_printf(&ctx->arena, S_FMT "/hold", S_ARG(server_url(ctx, s)));
    call.method = S("GET");
    call.body = S("");
    call.timeout_ms = 50;
    CHECK_STATUS(http_call(ctx, &call, &answer), TIMED_OUT);
    ctx_clear_failure(ctx);
    call.timeout_ms = 10000;
    ctx->deadline_us = clock_mono_us() + 50000;
    CHECK_STATUS(http_call(ctx, &call, &answer), TIMED_OUT);
    ctx_clear_failure(ctx);
    ctx->deadline_us = 0;
    header.value = S("a\r\nb");
    CHECK_STATUS(http_call(ctx, &call, &answer), BAD_INPUT);
    ctx_clear_failure(ctx);
    header.value = S("1");
    atomic_store(&app.let_go, true);
    server_close(s);
    CHECK_STATUS(http_call(ctx, &call, &answer), UPSTREAM);
}
