/* fixture.c - a server with a small surface and raw clients. */
#include "fixture.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
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
    (void)COMES_TRUE(atomic_load(&app->let_go));
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
    /* Whole alphabets: tens of millions of calls take a ThreadSanitizer build many seconds. */
    const str alphabet = S("abcdefghijklmnopqrstuvwxyz");
    for (; n > 0; n -= (int64_t)alphabet.n)
        buf_add(&out->body, str_sub(alphabet, 0, n < 26 ? (size_t)n : 26));
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

/* --- filters, each by a letter --- */

struct test_filter {
    struct filter filter;
    char letter;
    struct app *app;
    struct ctx *ctx;
    bool is_hidden;
    str held;
};

static struct test_filter *state_of(struct filter *f)
{
    return container_of(f, struct test_filter, filter);
}

static void log_call(const struct test_filter *t, const char *call)
{
    struct app *app = t->app;
    size_t n = strlen(app->calls);
    snprintf(app->calls + n, sizeof app->calls - n, "%s%c.%s", n ? " " : "", t->letter, call);
}

static void log_head(struct filter *f, struct relay *r)
{
    char call[40];
    snprintf(call, sizeof call, "head=%d", r->code);
    log_call(state_of(f), call);
}

static void log_done(struct filter *f, __attribute__((unused)) struct ctx *ctx,
                     __attribute__((unused)) struct app *app,
                     __attribute__((unused)) struct relay *r, enum status how)
{
    log_call(state_of(f), how == OK ? "done" : "done!");
}

/* u, v: what passes is put into brackets. */
static str mark(struct filter *f, __attribute__((unused)) struct relay *r, str bytes)
{
    const struct test_filter *t = state_of(f);
    return str_printf(&t->ctx->arena, "%c(" S_FMT ")", t->letter, S_ARG(bytes));
}

static bool mark_end(struct filter *f, __attribute__((unused)) struct relay *r, str *rest)
{
    const struct test_filter *t = state_of(f);
    log_call(t, "end");
    *rest = str_printf(&t->ctx->arena, "[%c]", t->letter);
    return false;
}

/* w: counts what passes, and how the relay ends. */
static void count_bytes(struct filter *f, __attribute__((unused)) struct relay *r, str bytes)
{
    atomic_fetch_add(&state_of(f)->app->seen, bytes.n);
}

static void count_done(__attribute__((unused)) struct filter *f,
                       __attribute__((unused)) struct ctx *ctx, struct app *app, struct relay *r,
                       enum status how)
{
    (void)COMES_TRUE(!atomic_load(&app->done_blocks));
    atomic_store(&app->done_code, r->code);
    atomic_fetch_add(&app->done_ok, how == OK);
    atomic_fetch_add(&app->done, 1);
}

/* h: what holds a ~, and all behind it, is not shown, and "more" is asked instead, twice at most.
 */
static str hide(struct filter *f, __attribute__((unused)) struct relay *r, str bytes)
{
    struct test_filter *t = state_of(f);
    t->is_hidden |= str_find(bytes, S("~")) < bytes.n;
    return t->is_hidden ? S("") : bytes;
}

static bool end_hiding(struct filter *f, __attribute__((unused)) struct relay *r, str *rest)
{
    const struct test_filter *t = state_of(f);
    *rest = t->is_hidden ? S("") : S("(over)");
    return t->is_hidden;
}

static enum status ask_again(struct filter *f, struct ctx *ctx, struct app *app, struct relay *r,
                             struct filter_work *out)
{
    int count = atomic_fetch_add(&app->again, 1);
    for (int left = 10000; left && atomic_load(&app->again_blocks); left--) {
        if (!ctx_has_time(ctx))
            atomic_store(&app->was_cut, true);
        pause_ms(1);
    }
    r->body = S("more");
    state_of(f)->is_hidden = false;
    out->rest = S("(last)");
    out->asks_again = count < 2;
    return OK;
}

/* l: what holds a !, and all behind it, waits for a worker. */
static str hold_back(struct filter *f, __attribute__((unused)) struct relay *r, str bytes)
{
    struct test_filter *t = state_of(f);
    size_t at = t->held.n ? 0 : str_find(bytes, S("!"));
    t->held =
        str_printf(&t->ctx->arena, S_FMT S_FMT, S_ARG(t->held), S_ARG(str_sub(bytes, at, bytes.n)));
    return str_sub(bytes, 0, at);
}

static bool end_always(struct filter *f, __attribute__((unused)) struct relay *r,
                       __attribute__((unused)) str *rest)
{
    if (state_of(f)->letter == 'l')
        log_call(state_of(f), "end");
    return true;
}

static enum status let_go(struct filter *f, __attribute__((unused)) struct ctx *ctx,
                          struct app *app, __attribute__((unused)) struct relay *r,
                          struct filter_work *out)
{
    log_call(state_of(f), "work");
    atomic_fetch_add(&app->again, 1);
    (void)COMES_TRUE(!atomic_load(&app->again_blocks));
    out->rest = state_of(f)->held;
    return OK;
}

/* r: an answer whose end is a ^ is no good. */
static str hide_refused(struct filter *f, __attribute__((unused)) struct relay *r, str bytes)
{
    struct test_filter *t = state_of(f);
    t->is_hidden |= str_find(bytes, S("^")) < bytes.n;
    return t->is_hidden ? S("") : bytes;
}

static enum status refuse(struct filter *f, struct ctx *ctx, struct app *app,
                          __attribute__((unused)) struct relay *r, struct filter_work *out)
{
    atomic_fetch_add(&app->again, 1);
    out->rest = S("(kept)");
    return state_of(f)->is_hidden ? fail(ctx, UPSTREAM, "it is no good") : OK;
}

static str word_failure(__attribute__((unused)) struct filter *f,
                        __attribute__((unused)) struct relay *r, enum status how, str why)
{
    bool is_refused = how == UPSTREAM && str_find(why, S("no good")) < why.n;
    return is_refused ? S("(refused)") : S("(broken)");
}

static str word_otherwise(__attribute__((unused)) struct filter *f,
                          __attribute__((unused)) struct relay *r,
                          __attribute__((unused)) enum status how, __attribute__((unused)) str why)
{
    return S("(nearest)");
}

static const struct filter_ops filters[] = {
    ['u'] = {.head = log_head, .data = mark, .end = mark_end, .done = log_done},
    ['v'] = {.head = log_head, .data = mark, .end = mark_end, .done = log_done},
    ['w'] = {.watch = count_bytes, .done = count_done},
    ['h'] = {.data = hide, .end = end_hiding, .work = ask_again},
    ['l'] =
        {.head = log_head, .data = hold_back, .end = end_always, .work = let_go, .done = log_done},
    ['r'] = {.data = hide_refused, .end = end_always, .work = refuse, .failed = word_failure},
    ['n'] = {.failed = word_otherwise},
};

static enum status relay_by(struct ctx *ctx, struct app *app, const struct request *in, str letters,
                            struct reply *out)
{
    struct relay *r = NEW(&ctx->arena, struct relay);
    r->url = str_printf(&ctx->arena, S_FMT "/x", S_ARG(app->upstream));
    r->method = in->method;
    r->headers = in->headers;
    r->n_headers = in->n_headers;
    r->body = in->body;
    for (size_t i = 0; i < letters.n; i++) {
        struct test_filter *t = NEW(&ctx->arena, struct test_filter);
        *t = (struct test_filter){.letter = letters.p[i], .app = app, .ctx = ctx};
        relay_add_filter(r, &t->filter, &filters[(unsigned char)letters.p[i]]);
    }
    out->relay = r;
    reply_header(out, "X-Receipt", S("r1"));
    return OK;
}

static enum status relayed(struct ctx *ctx, struct app *app, const struct request *in,
                           struct reply *out)
{
    return relay_by(ctx, app, in, S("w"), out);
}

static enum status filtered(struct ctx *ctx, struct app *app, const struct request *in,
                            struct reply *out)
{
    return relay_by(ctx, app, in, S("hw"), out);
}

/* Behind a head of the reply's own. */
static enum status owned(struct ctx *ctx, struct app *app, const struct request *in,
                         struct reply *out)
{
    out->type = S("text/own");
    return relay_by(ctx, app, in, S("rw"), out);
}

/* By the filters that the path names. */
static enum status chained(struct ctx *ctx, struct app *app, const struct request *in,
                           struct reply *out)
{
    return relay_by(ctx, app, in, in->params[0], out);
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

/* With the header X-Hold nobody is admitted, and that takes as long as /hold. */
static enum status admit(struct ctx *ctx, struct app *app, enum route_access needs,
                         struct request *in)
{
    if (request_header(in, "X-Hold").n) {
        atomic_fetch_add(&app->held, 1);
        (void)COMES_TRUE(atomic_load(&app->let_go));
        return fail(ctx, NO_AUTH, "a token is needed");
    }
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
    {"GET", "/relay/{x}", relayed, .quick_if = unless_slow},
    {"POST", "/filtered/{x}", filtered, .access = ACCESS_OPEN},
    {"POST", "/owned/{x}", owned, .access = ACCESS_OPEN},
    {"POST", "/chained/{filters}", chained, .access = ACCESS_OPEN},
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
    CHECK_OK(server_listen(ctx, settings, &s));
    server_start(s, test_surfaces, app);
    return s;
}

/* --- clients --- */

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
    if (poll(&ready, 1, 60000) != 1)
        fail_msg("nothing was heard for a minute");
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
