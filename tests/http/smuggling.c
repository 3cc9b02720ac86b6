/* smuggling.c - requests whose end or host two readers could see differently: refused, and closed.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"

#define H "Host: localhost\r\n"
#define GET "GET /hello HTTP/1.1\r\n"
#define POST "POST /a/1 HTTP/1.1\r\n" H
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"
#define SECOND "GET /a/2/b/second HTTP/1.1\r\n" H "Connection: close\r\n\r\n"

struct bytes {
    const char *p;
    size_t n;
};
#define B(TEXT)                                                                                    \
    {                                                                                              \
        TEXT, sizeof TEXT - 1                                                                      \
    }

/* SECOND follows each. code 0: nothing is answered, because the request is not whole when the
 * client ends. is_second: the connection goes on with the request behind it. */
static const struct smuggling {
    struct bytes sent;
    int code;
    bool is_second;
} rows[] = {
    /* sound ones */
    {B(GET H "\r\n"), 200, true},
    {B("\r\n" GET H "\r\n"), 200, true},
    {B(POST "Content-Length: 3\r\n\r\nabc"), 200, true},
    {B(POST "content-length:3\r\n\r\nabc"), 200, true},
    {B(POST "Content-Length: 0\r\n\r\n"), 200, true},
    {B(POST "\r\n"), 200, true},
    {B(CHUNKED "3\r\nabc\r\n0\r\n\r\n"), 200, true},
    {B(CHUNKED "0003\r\nabc\r\n000\r\n\r\n"), 200, true},
    {B(CHUNKED "a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n"), 200, true},
    {B(CHUNKED "3;x=y\r\nabc\r\n0\r\nTrailer: 1\r\n\r\n"), 200, true},
    {B(POST "Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n"), 200, true},
    {B("GET http://localhost/hello HTTP/1.1\r\n" H "\r\n"), 200, true},
    {B("GET HTTP://LocalHost/hello HTTP/1.1\r\n" H "\r\n"), 200, true},
    {B("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), 200, true},
    {B("GET /hello HTTP/1.0\r\n\r\n"), 200, false},

    /* Content-Length and Transfer-Encoding at once */
    {B(POST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400, false},
    {B(POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"), 400, false},
    {B(POST "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400, false},
    {B(POST "Content-Length: 5\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"), 400, false},

    /* other codings, and chunked in disguise */
    {B(POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), 400, false},
    {B(POST "Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n"), 400, false},
    {B(POST "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"), 400, false},
    {B(POST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"), 400, false},
    {B(POST "Transfer-Encoding: identity\r\n\r\n"), 400, false},
    {B(POST "Transfer-Encoding: gzip\r\n\r\n"), 400, false},
    {B(POST "Transfer-Encoding:\r\n\r\n"), 400, false},
    {B(POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"), 400, false},
    {B(POST "Transfer-Encoding: chunkedx\r\n\r\n0\r\n\r\n"), 400, false},
    {B(POST "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n"), 400, false},
    {B(POST "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n"), 400, false},
    {B(POST "Transfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n"), 400, false},
    {B(POST "Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n"), 400, false},
    {B(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400,
     false},
    {B(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n"), 400, false},
    {B(POST "Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400, false},
    {B(POST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"), 400, false},
    {B(POST " Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400, false},
    {B(POST "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"), 400, false},
    {B(POST "Transfer\0-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400, false},
    {B("POST /a/1 HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"), 400,
     false},
    {B("POST /a/1 HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"
       "0\r\n\r\n"),
     400, false},

    /* lengths */
    {B(POST "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"), 400, false},
    {B(POST "Content-Length: 3\r\nContent-Length: 0\r\n\r\nabc"), 400, false},
    {B(POST "Content-Length: 3, 3\r\n\r\nabc"), 400, false},
    {B(POST "Content-Length: +3\r\n\r\nabc"), 400, false},
    {B(POST "Content-Length: -3\r\n\r\nabc"), 400, false},
    {B(POST "Content-Length: 0x3\r\n\r\nabc"), 400, false},
    {B(POST "Content-Length: 3 3\r\n\r\nabc"), 400, false},
    {B(POST "Content-Length: 3;\r\n\r\nabc"), 400, false},
    {B(POST "Content-Length:\r\n\r\n"), 400, false},
    {B(POST "Content-Length: 18446744073709551619\r\n\r\nabc"), 400, false},
    {B(POST "Content-Length : 3\r\n\r\nabc"), 400, false},
    {B(POST "Content-Length\t: 3\r\n\r\nabc"), 400, false},
    {B(POST "Content-Length: 9999\r\n\r\nabc"), 0, false},

    /* chunks */
    {B(CHUNKED "3\r\nabcX\r\n0\r\n\r\n"), 400, false},
    {B(CHUNKED "3\r\nabc0\r\n\r\n"), 400, false},
    {B(CHUNKED "3\r\nab\r\n0\r\n\r\n"), 400, false},
    {B(CHUNKED "3\nabc\r\n0\r\n\r\n"), 400, false},
    {B(CHUNKED "3\r\nabc\n0\r\n\r\n"), 400, false},
    {B(CHUNKED "3\rabc\r\n0\r\n\r\n"), 400, false},
    {B(CHUNKED "0x3\r\nabc\r\n0\r\n\r\n"), 400, false},
    {B(CHUNKED "+3\r\nabc\r\n0\r\n\r\n"), 400, false},
    {B(CHUNKED "-1\r\nabc\r\n0\r\n\r\n"), 400, false},
    {B(CHUNKED " 3\r\nabc\r\n0\r\n\r\n"), 400, false},
    {B(CHUNKED "3 \r\nabc\r\n0\r\n\r\n"), 400, false},
    {B(CHUNKED "3_0\r\nabc\r\n0\r\n\r\n"), 400, false},
    {B(CHUNKED "\r\nabc\r\n0\r\n\r\n"), 400, false},
    {B(CHUNKED ";x\r\nabc\r\n0\r\n\r\n"), 400, false},
    {B(CHUNKED "g\r\nabc\r\n0\r\n\r\n"), 400, false},
    {B(CHUNKED "ffffffffffffffff\r\nabc\r\n0\r\n\r\n"), 400, false},
    {B(CHUNKED "10000000000000003\r\nabc\r\n0\r\n\r\n"), 400, false},
    {B(CHUNKED "3;a\nb\r\nabc\r\n0\r\n\r\n"), 400, false},
    {B(CHUNKED "3;a\0b\r\nabc\r\n0\r\n\r\n"), 400, false},
    {B(CHUNKED "0\r\nTrailer: 1\n\r\n"), 400, false},
    {B(CHUNKED "0\r\n folded: 1\r\n\r\n"), 400, false},
    {B(CHUNKED "0\n\r\n"), 400, false},

    /* line ends and bytes in the head */
    {B("GET /hello HTTP/1.1\n" H "\r\n"), 400, false},
    {B(GET "Host: localhost\n\r\n"), 400, false},
    {B(GET H "\n"), 400, false},
    {B(GET H "X: 1\rY: 2\r\n\r\n"), 400, false},
    {B(GET H "X: 1\r\r\n\r\n"), 400, false},
    {B(GET H "X: a\0b\r\n\r\n"), 400, false},
    {B(GET H "X: a\x01"
             "b\r\n\r\n"),
     400, false},
    {B(GET H "X: 1\r\n folded\r\n\r\n"), 400, false},
    {B(GET H "X: 1\r\n\tfolded\r\n\r\n"), 400, false},
    {B(GET " " H "\r\n"), 400, false},
    {B(GET H "X : 1\r\n\r\n"), 400, false},
    {B(GET H "X\x7f: 1\r\n\r\n"), 400, false},
    {B(GET H "X\xc3\xa9: 1\r\n\r\n"), 400, false},
    {B(GET H "X(y): 1\r\n\r\n"), 400, false},
    {B(GET H ": 1\r\n\r\n"), 400, false},
    {B(GET H "no colon\r\n\r\n"), 400, false},
    {B(" GET /hello HTTP/1.1\r\n" H "\r\n"), 400, false},
    {B("GET  /hello HTTP/1.1\r\n" H "\r\n"), 400, false},
    {B("GET /hello  HTTP/1.1\r\n" H "\r\n"), 400, false},
    {B("GET /hello HTTP/1.1 \r\n" H "\r\n"), 400, false},
    {B("GET\t/hello HTTP/1.1\r\n" H "\r\n"), 400, false},
    {B("GET /hel\0lo HTTP/1.1\r\n" H "\r\n"), 400, false},
    {B("get /hello HTTP/1.1\r\n" H "\r\n"), 400, false},

    /* versions */
    {B("GET /hello HTTP/2.0\r\n" H "\r\n"), 505, false},
    {B("GET /hello HTTP/1.2\r\n" H "\r\n"), 400, false},
    {B("GET /hello HTTP/0.9\r\n" H "\r\n"), 400, false},
    {B("GET /hello HTTP/01.1\r\n" H "\r\n"), 400, false},
    {B("GET /hello HTTP/1.10\r\n" H "\r\n"), 400, false},
    {B("GET /hello http/1.1\r\n" H "\r\n"), 400, false},
    {B("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 400, false},

    /* hosts, and the page that asks */
    {B(GET "\r\n"), 400, false},
    {B(GET H H "\r\n"), 400, false},
    {B(GET H "Host: evil.com\r\n\r\n"), 400, false},
    {B(GET "Host:\r\n\r\n"), 400, false},
    {B(GET "Host: evil.com/.localhost\r\n\r\n"), 400, false},
    {B(GET "Host: evil.com#.localhost\r\n\r\n"), 400, false},
    {B(GET "Host: evil.com?.localhost\r\n\r\n"), 400, false},
    {B(GET "Host: evil.com@localhost\r\n\r\n"), 400, false},
    {B(GET "Host: localhost:80@evil.com\r\n\r\n"), 400, false},
    {B(GET "Host: localhost, evil.com\r\n\r\n"), 400, false},
    {B(GET "Host: local host\r\n\r\n"), 400, false},
    {B(GET "Host: localhost:99999\r\n\r\n"), 400, false},
    {B(GET "Host: localhost:+1\r\n\r\n"), 400, false},
    {B(GET "Host: [::1\r\n\r\n"), 400, false},
    {B("GET http://evil.com/hello HTTP/1.1\r\n" H "\r\n"), 400, false},
    {B("GET http://localhost@evil.com/hello HTTP/1.1\r\n" H "\r\n"), 400, false},
    {B("GET http://localhost/hello HTTP/1.0\r\n\r\n"), 400, false},
    {B(GET H "Origin: http://localhost\r\nOrigin: http://evil.com\r\n\r\n"), 400, false},
    {B(GET H "Authorization: a\r\nAuthorization: b\r\n\r\n"), 400, false},
};

/* Whether the code of the first answer, and SECOND, are as in the row; in one piece or byte by
 * byte. */
static bool holds_row(struct ctx *ctx, const struct server *s, const struct smuggling *row,
                      bool is_in_drips)
{
    str sent = {row->sent.p, row->sent.n};
    size_t step = is_in_drips ? 1 : sent.n;
    int fd = dial(s);
    for (size_t at = 0; at < sent.n; at += step)
        if (send(fd, sent.p + at, step, MSG_NOSIGNAL) < 0)
            break; /* it is refused already */
    (void)!send(fd, SECOND, sizeof SECOND - 1, MSG_NOSIGNAL);
    if (!row->code)
        shutdown(fd, SHUT_WR);
    str reply = hear_all(ctx, fd);
    int code = reply.n ? code_of(reply) : 0;
    bool is_second = holds(reply, "|/a/2/b/second|");
    close(fd);
    if (code == row->code && is_second == row->is_second)
        return true;
    print_error("%d and %s second, not %d%s:\n" S_FMT "\n->\n" S_FMT "\n\n", code,
                is_second ? "a" : "no", row->code, is_in_drips ? ", byte by byte" : "", S_ARG(sent),
                S_ARG(reply));
    return false;
}

TEST(two_readers_see_the_same_requests)
{
    struct app app = {0};
    struct server_settings settings = test_settings();
    struct server *s = serve(ctx, &app, &settings);
    int wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        wrong += !holds_row(ctx, s, &rows[i], false) + !holds_row(ctx, s, &rows[i], true);
    CHECK_INT(wrong, 0);
    server_close(s);
}

/* What nobody reads has a limit: a chunk's extensions, and the trailers. */
TEST(extensions_and_trailers_are_bounded)
{
    struct app app = {0};
    struct server_settings settings = test_settings();
    struct server *s = serve(ctx, &app, &settings);
    static const char *const forms[] = {CHUNKED "3;%s\r\nabc\r\n0\r\n\r\n",
                                        CHUNKED "3\r\nabc\r\n0\r\nX: %s\r\n\r\n"};
    for (size_t i = 0; i < 4; i++) {
        size_t n = i / 2 ? 5000 : 1000;
        char *text = arena_alloc(&ctx->arena, n + 1);
        memset(text, 'x', n);
        str form = str_of(forms[i % 2]);
        size_t at = str_find(form, S("%s"));
        int fd = dial(s);
        say(fd, str_printf(&ctx->arena, "%.*s%s%s", (int)at, form.p, text, form.p + at + 2));
        shutdown(fd, SHUT_WR);
        CHECK_INT(code_of(hear_all(ctx, fd)), i / 2 ? 400 : 200);
        close(fd);
    }
    server_close(s);
}

/* Nothing here unpacks a body; what is passed on may be packed. */
TEST(a_packed_body_is_not_read)
{
    struct app app = {0};
    struct server_settings settings = test_settings();
    struct server *s = serve(ctx, &app, &settings);
    static const char *const codings[] = {"gzip", "deflate", "br", "x"};
    str body = S("{\"text\":\"x\"}");
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++)
        CHECK_INT(code_of(ask(ctx, s, "POST", "/add",
                              str_printf(&ctx->arena, "Content-Encoding: %s\r\n", codings[i]).p,
                              body)),
                  415);
    CHECK_INT(code_of(ask(ctx, s, "POST", "/add", "Content-Encoding: identity\r\n", body)), 200);
    server_close(s);
}
