/* fixture.c - a server with a small surface, raw clients, and a scripted upstream. */
#include "fixture.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* --- the surface --- */

struct add_in {
    str text;
    int64_t limit;
};
static const struct field add_in_fields[] = {
    {STR(struct add_in, text), .required = true, .max = 100},
    {INT(struct add_in, limit), .min = 1, .max = 9, .otherwise = 5},
    {0},
};

static enum status hello(__attribute__((unused)) struct ctx *ctx,
                         __attribute__((unused)) struct app *app,
                         __attribute__((unused)) const struct request *in, struct reply *out)
{
    buf_add(&out->body, S("{\"hello\":true}"));
    return OK;
}

static enum status echo(__attribute__((unused)) struct ctx *ctx,
                        __attribute__((unused)) struct app *app, const struct request *in,
                        struct reply *out)
{
    out->type = S("text/plain");
    buf_printf(&out->body, S_FMT "|" S_FMT "|" S_FMT "|" S_FMT "|", S_ARG(in->method),
               S_ARG(in->path), S_ARG(in->params[0]), S_ARG(in->params[1]));
    buf_add(&out->body, in->body);
    return OK;
}

static enum status literal(struct ctx *ctx, __attribute__((unused)) struct app *app,
                           const struct request *in, struct reply *out)
{
    out->type = S("text/plain");
    buf_printf(&out->body, "literal " S_FMT, S_ARG(request_query(ctx, in, "q")));
    return OK;
}

static enum status local(__attribute__((unused)) struct ctx *ctx,
                         __attribute__((unused)) struct app *app, const struct request *in,
                         struct reply *out)
{
    buf_add(&out->body, in->is_loopback ? S("true") : S("false"));
    return OK;
}

static enum status add(__attribute__((unused)) struct ctx *ctx,
                       __attribute__((unused)) struct app *app, const struct request *in,
                       struct reply *out)
{
    reply_fields(out, add_in_fields, in->in);
    return OK;
}

static enum status hold(__attribute__((unused)) struct ctx *ctx, struct app *app,
                        __attribute__((unused)) const struct request *in, struct reply *out)
{
    atomic_fetch_add(&app->held, 1);
    for (int left = 10000; left && !atomic_load(&app->let_go); left--)
        pause_ms(1);
    atomic_fetch_sub(&app->held, 1);
    buf_add(&out->body, S("{\"held\":true}"));
    return OK;
}

static enum status large(struct ctx *ctx, __attribute__((unused)) struct app *app,
                         const struct request *in, struct reply *out)
{
    int64_t n = 0;
    str_int(request_query(ctx, in, "n"), &n);
    out->type = S("text/plain");
    for (int64_t i = 0; i < n; i++)
        buf_byte(&out->body, (char)('a' + i % 26));
    return OK;
}

static enum status set_header(struct ctx *ctx, __attribute__((unused)) struct app *app,
                              const struct request *in, struct reply *out)
{
    reply_header(out, "X-Said", request_query(ctx, in, "value"));
    return OK;
}

static enum status broken(struct ctx *ctx, __attribute__((unused)) struct app *app,
                          const struct request *in, __attribute__((unused)) struct reply *out)
{
    return fail(ctx, str_is(in->params[0], "missing") ? NOT_FOUND : STORAGE, "it is broken");
}

static void piece(struct relay *r, str bytes);
static void done(struct ctx *ctx, struct app *app, struct relay *r, enum status how);

struct tap {
    struct app *app;
    bool is_hidden;
};

static enum status relayed(struct ctx *ctx, struct app *app, const struct request *in,
                           struct reply *out)
{
    struct relay *r = NEW(&ctx->arena, struct relay);
    r->url = str_printf(&ctx->arena, S_FMT "/" S_FMT, S_ARG(app->upstream), S_ARG(in->params[0]));
    r->method = in->method;
    r->headers = in->headers;
    r->n_headers = in->n_headers;
    r->body = in->body;
    r->timeout_ms = app->relay_timeout_ms;
    r->piece = piece;
    r->done = done;
    r->tap = NEW(&ctx->arena, struct tap);
    r->tap->app = app;
    out->relay = r;
    reply_header(out, "X-Receipt", S("r1"));
    return OK;
}

/* Of /filtered: what holds a ~, and all behind it, is not shown, and "more" is asked instead,
 * twice at most. */
static str pass(struct relay *r, str bytes)
{
    r->tap->is_hidden |= str_find(bytes, S("~")) < bytes.n;
    return r->tap->is_hidden ? S("") : bytes;
}

static bool over(struct relay *r, str *rest)
{
    *rest = r->tap->is_hidden ? S("") : S("(over)");
    return r->tap->is_hidden;
}

static bool again(struct ctx *ctx, struct app *app, struct relay *r, str *rest)
{
    int count = atomic_fetch_add(&app->again, 1);
    for (int left = 10000; left && atomic_load(&app->again_blocks); left--) {
        if (!ctx_has_time(ctx))
            atomic_store(&app->was_cut, true);
        pause_ms(1);
    }
    r->body = S("more");
    r->tap->is_hidden = false;
    *rest = S("(last)");
    return count < 2;
}

static enum status filtered(struct ctx *ctx, struct app *app, const struct request *in,
                            struct reply *out)
{
    static const struct filter filter = {pass, over, again, NULL};
    enum status s = relayed(ctx, app, in, out);
    if (s == OK)
        out->relay->filter = &filter;
    return s;
}

/* Of /owned: the same behind a head of our own; an answer whose end is a ^ is no good. */
static bool always(__attribute__((unused)) struct relay *r, str *rest)
{
    *rest = S("");
    return true;
}

static str unless_refused(struct relay *r, str bytes)
{
    r->tap->is_hidden |= str_find(bytes, S("^")) < bytes.n;
    return r->tap->is_hidden ? S("") : bytes;
}

static bool refuse(struct ctx *ctx, struct app *app, struct relay *r, str *rest)
{
    atomic_fetch_add(&app->again, 1);
    *rest = S("(kept)");
    if (r->tap->is_hidden)
        r->refused = fail(ctx, UPSTREAM, "it is no good");
    return false;
}

static str tell(__attribute__((unused)) struct relay *r, enum status how, str why)
{
    bool is_refused = how == UPSTREAM && str_find(why, S("no good")) < why.n;
    return is_refused ? S("(refused)") : S("(broken)");
}

static enum status owned(struct ctx *ctx, struct app *app, const struct request *in,
                         struct reply *out)
{
    static const struct filter filter = {unless_refused, always, refuse, tell};
    enum status s = relayed(ctx, app, in, out);
    out->type = S("text/own");
    if (s == OK)
        out->relay->filter = &filter;
    return s;
}

static void piece(struct relay *r, str bytes)
{
    atomic_fetch_add(&r->tap->app->seen, bytes.n);
}

static void done(__attribute__((unused)) struct ctx *ctx, struct app *app, struct relay *r,
                 enum status how)
{
    for (int left = 10000; left && atomic_load(&app->done_blocks); left--)
        pause_ms(1);
    atomic_store(&app->done_code, r->code);
    atomic_fetch_add(&app->done_ok, how == OK);
    atomic_fetch_add(&app->done, 1);
}

static void word(struct ctx *ctx, const char *name, enum status s, struct reply *out)
{
    struct json_out w = json_to(&out->body);
    json_open(&w, '{');
    json_key(&w, name);
    json_str(&w, str_of(ctx->why));
    json_key(&w, "status");
    json_str(&w, str_of(status_name(s)));
    json_key(&w, "field");
    json_str(&w, str_of(ctx->field));
    json_close(&w, '}');
}

static void word_first(struct ctx *ctx, enum status s,
                       __attribute__((unused)) const struct request *in, struct reply *out)
{
    word(ctx, "first", s, out);
}

static void word_second(struct ctx *ctx, enum status s,
                        __attribute__((unused)) const struct request *in, struct reply *out)
{
    word(ctx, "second", s, out);
}

static enum status admit(struct ctx *ctx, __attribute__((unused)) struct app *app,
                         enum route_access needs, struct request *in)
{
    if (needs == ACCESS_ADMIN && !request_header(in, "Authorization").n)
        return fail(ctx, NO_AUTH, "a token is needed");
    return OK;
}

static bool unless_slow(__attribute__((unused)) const struct app *app, const struct request *in)
{
    return !request_header(in, "X-Slow").n;
}

static const struct route first_routes[] = {
    {"GET", "/hello", hello, .is_quick = true},
    {"GET", "/worker", hello, .access = ACCESS_OPEN},
    {"GET", "/either", hello, .quick_if = unless_slow},
    {"GET", "/a/{x}", echo, .access = ACCESS_OPEN},
    {"POST", "/a/{x}", echo, .access = ACCESS_OPEN},
    {"GET", "/a/{x}/b/{y}", echo, .is_quick = true},
    {"GET", "/a/literal", literal, .access = ACCESS_OPEN},
    {"POST", "/add", add, TAKES(add_in), .is_quick = true},
    {"GET", "/add", add, TAKES(add_in), .strict = true},
    {"POST", "/small", echo, .body_max = 10, .is_quick = true},
    {"POST", "/json", echo, .wants_json = true},
    {"GET", "/local", local, .is_quick = true},
    {"GET", "/hold", hold, .access = ACCESS_OPEN},
    {"GET", "/large", large, .access = ACCESS_OPEN},
    {"GET", "/header", set_header, .access = ACCESS_OPEN},
    {"POST", "/relay/{x}", relayed, .access = ACCESS_OPEN},
    {"GET", "/relay/{x}", relayed, .is_quick = true},
    {"POST", "/filtered/{x}", filtered, .access = ACCESS_OPEN},
    {"POST", "/owned/{x}", owned, .access = ACCESS_OPEN},
    {"GET", "/shared/{x}", hello, .is_quick = true},
    {0},
};
static const struct route second_routes[] = {
    {"GET", "/second/broken/{x}", broken, .access = ACCESS_OPEN},
    {"GET", "/second/admin", hello, .access = ACCESS_ADMIN},
    {"DELETE", "/second/add", add, TAKES(add_in)},
    {"GET", "/a/{x}/only-second", hello, .access = ACCESS_OPEN},
    {"POST", "/shared/second", hello, .access = ACCESS_OPEN},
    {0},
};
static const struct surface first = {"first", first_routes, word_first, NULL};
static const struct surface second = {"second", second_routes, word_second, admit};
const struct surface *const test_surfaces[] = {&first, &second, NULL};

struct server_settings test_settings(void)
{
    return (struct server_settings){
        .listen = S("127.0.0.1:0"),
        .body_max = 1 << 20,
        .header_max = 8 << 10,
        .reply_max = 64 << 20,
        .connections_max = 100,
        .queue_max = 16,
        .workers = 2,
        .loops = 2,
        .idle_ms = 10000,
        .request_ms = 10000,
        .upstream_ms = 10000,
    };
}

struct server *serve(struct ctx *ctx, struct app *app, const struct server_settings *settings)
{
    struct server *s = NULL;
    CHECK_OK(server_open(ctx, settings, test_surfaces, app, &s));
    return s;
}

/* --- clients --- */

void pause_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
}

int dial(const struct server *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server_port(s))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

void say(int fd, str text)
{
    while (text.n) {
        ssize_t n = send(fd, text.p, text.n, MSG_NOSIGNAL);
        if (n <= 0)
            return; /* what comes back, or does not, is what the test looks at */
        text = str_sub(text, (size_t)n, text.n);
    }
}

static ssize_t hear(int fd, char *p, size_t n)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (poll(&ready, 1, 10000) != 1)
        fail_msg("nothing was heard for ten seconds");
    return recv(fd, p, n, 0);
}

str hear_until(struct ctx *ctx, int fd, const char *what)
{
    struct buf b = buf_make(&ctx->arena, 256 << 20);
    char p[4096];
    while (!b.n || !holds(buf_str(&b), what)) {
        ssize_t n = hear(fd, p, sizeof p);
        if (n <= 0)
            fail_msg("the connection ended before '%s': " S_FMT, what, S_ARG(buf_str(&b)));
        buf_add(&b, (str){p, (size_t)n});
    }
    return buf_str(&b);
}

str hear_all(struct ctx *ctx, int fd)
{
    struct buf b = buf_make(&ctx->arena, 256 << 20);
    char p[65536];
    for (ssize_t n = hear(fd, p, sizeof p); n > 0; n = hear(fd, p, sizeof p))
        buf_add(&b, (str){p, (size_t)n});
    return buf_str(&b);
}

bool hears_end(int fd)
{
    char p[65536];
    ssize_t n;
    while ((n = hear(fd, p, sizeof p)) > 0)
        continue;
    return true;
}

str ask(struct ctx *ctx, const struct server *s, const char *method, const char *target,
        const char *headers, str body)
{
    int fd = dial(s);
    str head = str_printf(&ctx->arena, "%s %s HTTP/1.1\r\n%s%sConnection: close\r\n", method,
                          target, strstr(headers, "Host:") ? "" : "Host: localhost\r\n", headers);
    say(fd, head);
    if (body.n)
        say(fd, str_printf(&ctx->arena, "Content-Length: %zu\r\n", body.n));
    SAY(fd, "\r\n");
    say(fd, body);
    str reply = hear_all(ctx, fd);
    close(fd);
    return reply;
}

int code_of(str reply)
{
    int64_t code = 0;
    str_cut(&reply, ' ');
    str_int(str_cut(&reply, ' '), &code);
    return (int)code;
}

str body_of(str reply)
{
    size_t at = str_find(reply, S("\r\n\r\n"));
    return at < reply.n ? str_sub(reply, at + 4, reply.n) : S("");
}

bool holds(str text, const char *what)
{
    return !*what || str_find(text, str_of(what)) < text.n;
}

/* --- the upstream --- */

int upstream_open(struct ctx *ctx, str *url)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t n = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
    *url = str_printf(&ctx->arena, "http://127.0.0.1:%d", ntohs(at.sin_port));
    return fd;
}

int upstream_accept(int listener)
{
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    if (poll(&ready, 1, 10000) != 1)
        fail_msg("nobody called the upstream for ten seconds");
    return accept(listener, NULL, NULL);
}
