/* exchange.c - one request on its way: route, admit, read, run, answer. */
#include "http/server/exchange.h"

#include "base/clock.h"
#include "http/curl/libcurl.h"
#include "http/server/attempts.h"
#include "http/server/conn.h"
#include "http/server/filter.h"
#include "http/server/transfer.h"
#include "http/wire/guard.h"
#include "http/wire/request.h"

/*
 * An exchange begins with the first byte of a request. parse.c fills its head and body; with the
 * head the route is known, with the body the handler runs: on the loop when the route is quick,
 * else on a worker, which posts the exchange back. The answer is a reply or a relay. The exchange
 * is freed after the done calls of the relay's filters, possibly long after the client has gone.
 */

struct exchange *exchange_new(struct conn *c)
{
    struct exchange *x = heap_alloc(sizeof *x);
    struct server *s = c->loop->server;
    x->loop = c->loop;
    x->conn = c;
    x->surface = s->router.rows[0].surface;
    incoming_init(&x->raw, &x->ctx, s->settings.header_max);
    x->in.is_loopback = !c->address_n;
    x->in.attempt = &x->attempt;
    x->in.began_us = clock_mono_us();
    /* The id in logs and X-Request-Id, as long as a span: a random number and a count. */
    snprintf(x->ctx.id, SPAN_ID_HEX + 1, "%08x%08x", (unsigned)c->loop->id_base,
             (unsigned)++c->loop->next_id);
    atomic_fetch_add(&s->active, 1);
    return x;
}

/* Failures of ours before the done calls, which may note another reason, and all else behind them:
 * they keep the turn of a chat, whose time is a part of the line. */
static void log_end(struct exchange *x, bool is_done)
{
    bool is_ours = !x->is_limited && (x->out.code >= 500 || x->how == TOO_BUSY);
    const struct ended e = {x->target, x->out.code, x->how, x->sent, is_ours};
    if (is_ours == is_done)
        return;
    count_up(&x->loop->count.errors, x->out.code >= 500);
    if (x->raw.head_done)
        request_log(&x->ctx, &x->loop->server->settings.watch, &x->in, &e);
}

/* May run on a worker (after the done calls) or on the loop; all that is shared is atomic. The
 * server may be waiting in server_stop for the last one, hence server_changed. */
static void exchange_free(struct exchange *x)
{
    struct server *s = x->loop->server;
    log_end(x, true);
    if (s->settings.watch.chat_ended && x->in.trace && x->in.trace->chat.operation)
        s->settings.watch.chat_ended(s->app, &x->in, &x->out, x->how);
    meters_leave(s->meters, x->of_address);
    meters_leave(s->meters, x->of_token);
    buf_free(&x->raw.body);
    buf_free(&x->piece);
    atomic_fetch_sub(&s->bodies, x->body_counted);
    ctx_free(&x->ctx);
    free(x);
    atomic_fetch_sub(&s->active, 1);
    server_changed(s);
}

/* --- the head --- */

/* OK without a route means OPTIONS, answered by answer_options. A known path with another method is
 * 405 with the methods it has; an unknown path is 404 in the dialect of the surface whose paths
 * look most like it. */
static enum status find_route(struct exchange *x, str raw)
{
    struct ctx *ctx = &x->ctx;
    struct match match;
    if (raw.p[0] != '/' && !str_is(raw, "*"))
        return fail(ctx, BAD_INPUT, "the path must begin with a slash");
    enum status found = router_find(ctx, &x->loop->server->router, x->in.method, raw, &match);
    if (match.surface) /* also to word what is wrong with the path */
        x->surface = match.surface;
    TRY(found);
    if (!percent_decode(&ctx->arena, raw, false, &x->in.path))
        return fail(ctx, BAD_INPUT, PATH_RULE);
    memcpy(x->in.params, match.params, sizeof match.params);
    x->route = match.route;
    x->allowance = match.allowance;
    if (match.route)
        return OK;
    if (match.allow[0])
        x->allow = str_printf(&ctx->arena, "%s, OPTIONS", match.allow);
    if (str_is(x->in.method, "OPTIONS") && (x->allow.n || str_is(raw, "*")))
        return OK;
    if (!x->allow.n)
        return fail(ctx, NOT_FOUND, "there is nothing at %.200s", str_c(&ctx->arena, x->in.path));
    x->refused = 405;
    return fail(ctx, UNSUPPORTED, "the method " S_FMT " is not allowed here, only " S_FMT,
                S_ARG(x->in.method), S_ARG(x->allow));
}

/* Bytes of a body that are read for anyone, so that short requests take one step. */
enum { EARLY_MAX = 64 << 10 };

static enum status limited(struct exchange *x, enum status s)
{
    x->is_limited = s == TOO_BUSY;
    if (s == TOO_BUSY)
        count_up(&x->loop->count.rejected_busy, 1);
    return s;
}

/* A proxy on this machine is believed the address that it names. */
static void note_address(struct exchange *x)
{
    const struct conn *c = x->conn;
    char text[ADDRESS_MAX];
    str named = c->address_n ? S("") : guard_client(&x->in);
    x->in.is_forwarded = named.n > 0;
    x->in.address = str_dup(&x->ctx.arena, named.n ? (str){text, address_of_text(named, text)}
                                                   : (str){c->address, c->address_n});
}

/* A route that anyone may ask has an allowance of its own, so that one of them does not take the
 * time of another. The rest share that of requests without a credential, from which only those take
 * that are refused for it: else each of the others would be refused, too. */
static enum status check_allowance(struct exchange *x)
{
    if (!x->allowance && !guard_shows_credential(&x->in))
        x->allowance = &x->loop->server->of_nobody[x->in.is_loopback];
    return x->allowance ? allowance_check(&x->ctx, x->allowance) : OK;
}

/* Programs on this machine are not counted: they could slow it down in other ways. */
static enum status count_request(struct exchange *x)
{
    struct server *s = x->loop->server;
    const struct server_limits *l = &s->settings.limits;
    const struct limit of_connection = {.what = "on this connection",
                                        .per_second = l->connection_rate},
                       of_address = {.what = "from this address",
                                     .per_second = l->address_rate,
                                     .at_once = l->address_requests};
    if (x->in.is_loopback || !x->in.address.n)
        return OK;
    if (!x->in.is_forwarded)
        TRY(bucket_take(&x->ctx, &x->conn->bucket, &of_connection));
    return meters_enter(&x->ctx, s->meters, METER_ADDRESS, x->in.address, &of_address,
                        &x->of_address);
}

static enum status count_token(struct exchange *x)
{
    struct server *s = x->loop->server;
    const struct server_limits *l = &s->settings.limits;
    const struct limit limit = {.what = "with this token",
                                .per_second = l->token_rate,
                                .at_once = l->token_requests};
    if (!x->in.who.token.n)
        return OK;
    return meters_enter(&x->ctx, s->meters, METER_TOKEN, x->in.who.token, &limit, &x->of_token);
}

/* A wrong path, method, Host or Origin is only noted in refused: while the headers are sound the
 * end of the body is known, so the body is read and the connection can serve the next request. A
 * client that sent Expect learns of it before it sends the body, and one with a long body after the
 * first part of it. */
bool exchange_head_is_there(struct exchange *x)
{
    const struct server_settings *settings = &x->loop->server->settings;
    x->refused = 400; /* until the headers are known to be sound */
    x->keep_alive = x->raw.keep_alive;
    x->in.method = x->raw.method;
    x->in.headers = incoming_headers(&x->raw);
    x->in.n_headers = x->raw.n_spans;
    str authority, raw = {x->raw.head.p, x->raw.target_n};
    raw = request_path(raw, &authority, &x->target, &x->in.query);
    bool is_old = x->raw.is_old;
    if (reply_check(&x->ctx, x->in.headers, x->in.n_headers) != OK ||
        framing_check(&x->ctx, x->in.headers, x->in.n_headers, is_old) != OK ||
        guard_host(&x->ctx, &x->in, authority, is_old) != OK)
        return false; /* where a header is broken, the end of the request is not certain */
    x->refused = 0;
    x->in.is_loopback &= guard_is_local(&x->in, is_old);
    note_address(x);
    x->in.trace = trace_read(&x->ctx, &x->in, settings->watch.traces);
    x->is_head = str_is(x->in.method, "HEAD");
    x->is_shared = guard_shares(settings, request_header(&x->in, "Origin"));
    enum status s = find_route(x, raw);
    if (s != OK && x->is_shared && guard_is_preflight(&x->in)) {
        ctx_clear_failure(&x->ctx); /* the request itself gets the answer */
        x->refused = 0;
        s = OK;
    }
    bool is_open = !x->route || x->route->access == ACCESS_OPEN;
    if (s == OK)
        s = guard_check(&x->ctx, settings, &x->in, is_open);
    if (s == OK)
        s = framing_packed(&x->ctx, &x->in, !x->route || x->route->quick_if, &x->refused);
    if (s == OK)
        s = limited(x, check_allowance(x));
    if (s == OK)
        s = limited(x, count_request(x));
    if (s != OK && !x->refused)
        x->refused = http_code(s);
    x->raw.body_max = x->route && x->route->body_max ? x->route->body_max : settings->body_max;
    if (!x->refused && is_open && !(x->route && x->route->body_max))
        x->raw.body_max = EARLY_MAX;
    return true;
}

bool exchange_is_early(const struct exchange *x)
{
    bool is_admitted_first = x->route && x->surface->admit && x->route->access != ACCESS_OPEN;
    return x->raw.head_done && !x->is_admitted && (x->refused || is_admitted_first) &&
           (x->raw.length > EARLY_MAX || x->raw.body.n > EARLY_MAX);
}

/* --- the reply --- */

/* Answers are one caller's: nobody keeps them unless the route, or the upstream, says so. */
struct buf *exchange_begin_reply(struct exchange *x, struct has_lines has)
{
    struct buf *b = &x->conn->out;
    const struct server *s = x->loop->server;
    int code = x->out.code;
    if (atomic_load(&s->phase) != SERVING)
        x->keep_alive = false;
    x->conn->close_after |= !x->keep_alive;
    if (code == 200) /* most answers: saves a format for each */
        buf_add(b, S("HTTP/1.1 200 OK\r\n"));
    else
        buf_printf(b, "HTTP/1.1 %d %s\r\n", code, http_reason(code));
    if (!has.date)
        reply_line(b, S("Date"), loop_date(x->loop));
    if (!has.id)
        reply_line(b, S("X-Request-Id"), str_of(x->ctx.id));
    if (x->surface->trace)
        reply_line(b, str_of(x->surface->trace), request_trace(&x->ctx, &x->in, x->surface->trace));
    if (!has.caching && !reply_has(&x->out, S("Cache-Control")))
        reply_line(b, S("Cache-Control"), S("no-store"));
    guard_head(&s->settings, &x->in, x->is_shared, b);
    if (!x->keep_alive)
        reply_line(b, S("Connection"), S("close"));
    else if (x->raw.is_old)
        reply_line(b, S("Connection"), S("keep-alive"));
    return b;
}

/* On the loop, once per exchange. 204 and 304 have no body (RFC 9110, sections 15.3.5 and 15.4.5),
 * and no length is sent with them. The connection may be closed or serve its next request before
 * this returns. */
static void send_reply(struct exchange *x)
{
    assert(loop_is_here(x->loop) && x->conn && x->phase != ANSWERED);
    struct reply *r = &x->out;
    bool has_body = r->code != 204 && r->code != 304;
    struct buf *b = exchange_begin_reply(x, (struct has_lines){0});
    if (has_body) {
        if (r->body.n || r->type.n)
            reply_line(b, S("Content-Type"), r->type.n ? r->type : S("application/json"));
        buf_printf(b, "Content-Length: %zu\r\n", r->body.n);
    }
    reply_end_head(b, r);
    if (has_body && !x->is_head) { /* HEAD has the length of the body, and no body */
        buf_add(b, buf_str(&r->body));
        x->sent = r->body.n;
    }
    exchange_end_answer(x, false);
}

void exchange_end_answer(struct exchange *x, bool ends_chunks)
{
    if (ends_chunks)
        buf_add(&x->conn->out, S("0\r\n\r\n"));
    x->phase = ANSWERED;
    conn_flush(x->conn);
}

/* --- words for a failure --- */

/* The reply that was being made is dropped with its headers, which may belong to the success. Its
 * relay is not asked any more. */
static void word_failure(struct exchange *x, enum status s, int code)
{
    x->how = s;
    if (x->ctx.failed == OK)
        fail(&x->ctx, s, "%s", status_name(s));
    x->out = (struct reply){.code = code,
                            .body = buf_make(&x->ctx.arena, x->loop->server->settings.reply_max)};
    x->surface->word_error(&x->ctx, s, &x->in, &x->out);
    if (code)
        x->out.code = code;
    else if (!x->out.code)
        x->out.code = http_code(s);
    bool is_away = !code && s == STORAGE && x->ctx.detail == STORAGE_AWAY;
    if (is_away)
        x->out.code = 503;
    if (!code && s == STORAGE && x->ctx.detail == STORAGE_FULL)
        x->out.code = 507;
    if (x->out.code == 401)
        reply_header(&x->out, "WWW-Authenticate", S("Bearer"));
    if (x->out.code == 405 && x->allow.n)
        reply_header(&x->out, "Allow", x->allow);
    if (s == TOO_BUSY || is_away)
        reply_header(&x->out, "Retry-After",
                     str_printf(&x->ctx.arena, "%d", x->attempt.retry_s ? x->attempt.retry_s : 1));
}

/* Of a head whose path nobody has looked at, as something in it is broken. */
static void find_surface(struct exchange *x)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(&x->ctx, 0);
    str target = str_sub(buf_str(&x->raw.head), 0, x->raw.target_n), path = str_cut(&target, '?');
    struct match match = {0};
    if (path.n && path.p[0] == '/')
        soft(&own, router_find(&own, &x->loop->server->router, S(""), path, &match));
    x->surface = match.surface ? match.surface : x->surface;
}

/* In the words of the surface that was found for the path, or the first one's: a failure looks the
 * same to a client whether a handler or the server noticed it. */
void exchange_refuse(struct exchange *x, enum status s, int code)
{
    if (!x->in.path.n)
        find_surface(x);
    word_failure(x, s, code);
    send_reply(x);
}

/* --- running --- */

static enum status admit_caller(struct exchange *x)
{
    const struct surface *surface = x->surface;
    if (!surface->admit)
        return OK;
    TRY(surface->admit(&x->ctx, x->loop->server->app, x->route->access, &x->in));
    TRY(identity_may(&x->ctx, &x->in.who, route_scope(surface, x->route)));
    return limited(x, count_token(x));
}

static enum status judged(struct exchange *x, enum status s)
{
    if (s != NO_AUTH)
        return s;
    return limited(x, attempts_judge(&x->ctx, x->loop->server->attempts, &x->in));
}

/* Admission comes before the body is parsed: without a token nobody learns what a body should hold.
 * A long body is not even taken in before (exchange_admit). */
static enum status run_handler(struct exchange *x)
{
    struct ctx *ctx = &x->ctx;
    struct server *s = x->loop->server;
    const struct route *route = x->route;
    if (!x->is_admitted)
        TRY(admit_caller(x));
    if (route->checks_secret)
        TRY(limited(x, attempts_may(ctx, s->attempts, &x->in)));
    TRY(request_read(ctx, x->surface, route, &x->in));
    if (x->surface->settle && route->access != ACCESS_OPEN)
        TRY(x->surface->settle(ctx, s->app, &x->in));
    x->out.body = buf_make(&ctx->arena, s->settings.reply_max);
    enum status ran = route->run(ctx, s->app, &x->in, &x->out);
    x->relay = x->out.relay; /* also after a failure: its filters are owed their done */
    TRY(ran);
    if (x->out.stream)
        return stream_begin(x);
    if (!x->out.relay)
        return OK;
    if (x->out.relay->headers != x->in.headers) /* the request's own are checked already */
        TRY(reply_check(ctx, x->out.relay->headers, x->out.relay->n_headers));
    assert(libcurl_is_open() || !loop_is_here(x->loop)); /* the loop must not wait for it */
    return libcurl_open(ctx);
}

/* Handlers that pass a request on at once run on the loop, which must not wait for libcurl to be
 * loaded. So until it is, they run on a worker. */
static bool is_quick(const struct route *route, const struct app *app, const struct request *in)
{
    return route->quick_if ? libcurl_is_open() && route->quick_if(app, in) : route->is_quick;
}

/* Runs the handler and makes sure that what it left is fit to send: exactly one of a reply within
 * reply_max and a relay, with headers that cannot be split. A body that did not fit is a failure of
 * ours (500), since the client asked for nothing wrong. */
static void run_request(struct exchange *x)
{
    enum { BYTES_PER_US = 1 << 10 }; /* that are sent, roughly */
    int64_t began = clock_cpu_us();
    x->how = judged(x, run_handler(x));
    if (x->allowance && (x->how == NO_AUTH || x->route->access == ACCESS_OPEN))
        allowance_take(x->allowance,
                       clock_cpu_us() - began + (int64_t)x->out.body.n / BYTES_PER_US);
    if (x->how != OK) {
        word_failure(x, x->how, 0);
        return;
    }
    const struct header type = {S("Content-Type"), x->out.type};
    if (x->out.body.full)
        x->how = fail(&x->ctx, TOO_LARGE, "the answer would exceed the limit of %zu bytes",
                      x->out.body.max);
    else if (reply_check(&x->ctx, x->out.headers, x->out.n_headers) != OK ||
             reply_check(&x->ctx, &type, 1) != OK)
        x->how = BAD_INPUT;
    if (x->how != OK)
        word_failure(x, x->how, 500);
    else if (!x->out.code)
        x->out.code = 200;
}

/* On the loop: a worker has finished with it. Of a client that has gone a reply is thrown away, and
 * no upstream is asked. */
static void take_ran(struct loop *l, struct posted *p)
{
    struct exchange *x = container_of(p, struct exchange, posted);
    assert(loop_is_here(l) && l == x->loop);
    if (!x->conn) {
        if (x->transfer)
            relay_cancel(x);
        exchange_end(x);
    } else {
        x->work->on_loop(x);
    }
}

/* On a worker. After the client has left there is nothing to run, but the loop still has to free
 * the exchange. */
static void run_queued(void *arg)
{
    struct exchange *x = arg;
    atomic_fetch_sub(&x->loop->server->queued, 1);
    if (!atomic_load(&x->gone))
        x->work->on_worker(x);
    x->posted.take = take_ran;
    loop_post(x->loop, &x->posted);
}

/* Counts itself in before it asks, so that two loops cannot both take the last place. The pool's
 * own queue is longer than queue_max (see OWED_ROOM): the limit for requests is the count, and the
 * room beyond it is for done calls. */
bool exchange_queue(struct exchange *x, const struct work *work)
{
    struct server *s = x->loop->server;
    enum phase before = x->phase;
    assert(before == READING || before == RELAYING || before == STREAMING);
    x->phase = WORKING;
    x->work = work;
    if (atomic_fetch_add(&s->queued, 1) < s->settings.queue_max &&
        pool_run(s->workers, run_queued, x) == OK)
        return true;
    x->phase = before;
    atomic_fetch_sub(&s->queued, 1);
    count_up(&x->loop->count.rejected_busy, 1);
    fail(&x->ctx, TOO_BUSY, "%zu requests are waiting already; try again in a moment",
         s->settings.queue_max);
    return false;
}

static void answer_options(struct exchange *x)
{
    x->out.code = 204;
    if (x->allow.n)
        reply_header(&x->out, "Allow", x->allow);
    if (x->is_shared && guard_is_preflight(&x->in))
        guard_preflight(&x->in, &x->out);
    send_reply(x);
}

static void admit_before_body(struct exchange *x)
{
    x->how = judged(x, admit_caller(x));
}

/* The rest of the body is read, or the client learns why not. */
static void end_admission(struct exchange *x)
{
    x->phase = READING;
    x->is_admitted = x->how == OK;
    if (x->is_admitted)
        conn_resume(x->conn);
    else
        conn_refuse(x->conn, x->how, 0);
}

bool exchange_admit(struct exchange *x)
{
    static const struct work admission = {admit_before_body, end_admission};
    return exchange_queue(x, &admission);
}

/* phase leaves WORKING first: the loop holds the exchange again, and conn_close may end it. */
static void start_answer(struct exchange *x)
{
    x->phase = READING;
    /* The client closed its half before the upstream was asked: nobody would read the stream. */
    if (x->conn->has_eof && x->out.relay)
        conn_close(x->conn); /* ends the exchange as well */
    else if (x->out.relay)
        relay_start(x);
    else if (x->out.stream)
        stream_start(x);
    else
        send_reply(x);
}

static const struct work answering = {run_request, start_answer};

/* The order is fixed: a refusal that was noted with the head, OPTIONS, a quick route here on the
 * loop, and all else on a worker. A full queue is 429 with Retry-After. */
void exchange_dispatch(struct exchange *x)
{
    assert(x->phase == READING && x->raw.head_done);
    x->conn->state = CONN_ANSWERING;
    x->in.body = buf_str(&x->raw.body);
    count_up(&x->loop->count.requests, 1);
    if (x->refused) {
        exchange_refuse(x, x->ctx.failed, x->refused);
    } else if (!x->route) {
        answer_options(x);
    } else if (is_quick(x->route, x->loop->server->app, &x->in)) {
        run_request(x);
        start_answer(x);
    } else if (!exchange_queue(x, &answering)) {
        exchange_refuse(x, TOO_BUSY, 0);
    }
}

/* --- the end --- */

/* On a worker, or in loop_close when no worker is left. The exchange is freed here: nobody else
 * holds it any more. */
void exchange_run_done(void *exchange)
{
    struct exchange *x = exchange;
    struct stream *s = x->stream;
    if (s)
        s->ops->done(s, x->loop->server->app);
    else
        filters_done(&x->ctx, x->loop->server->app, x->relay, x->how);
    exchange_free(x);
}

/* A relay that never began is told to its filters as UPSTREAM as well, so that a turn whose answer
 * nobody got is not kept as if it had been read. */
void exchange_end(struct exchange *x)
{
    struct server *s = x->loop->server;
    assert(loop_is_here(x->loop) && !x->conn && x->phase != CLOSING_UP);
    struct relay *r = x->relay;
    if (r && !x->transfer && x->how == OK)
        x->how = fail(&x->ctx, UPSTREAM, "the client disconnected before the upstream was called");
    x->phase = CLOSING_UP;
    if (x->in.trace)
        x->in.trace->ended_us = clock_mono_us();
    log_end(x, false);
    bool wants_done = x->stream ? x->stream->ops->done != NULL : r && r->some.has_done;
    if (!wants_done) {
        exchange_free(x);
        return;
    }
    if (atomic_load(&s->phase) < CUTTING && pool_run(s->workers, exchange_run_done, x) == OK)
        return;
    /* The queue is full, or the server stops: done keeps what users said and is never dropped. */
    x->next = x->loop->owed;
    x->loop->owed = x;
    loop_tick(x->loop);
}

/* The sweep tries again until the pool has room. From CUTTING on loop_close runs what is left. */
void exchanges_owed(struct loop *l)
{
    struct server *s = l->server;
    while (l->owed && atomic_load(&s->phase) < CUTTING) {
        struct exchange *x = l->owed, *next = x->next;
        if (pool_run(s->workers, exchange_run_done, x) != OK)
            return;
        l->owed = next;
    }
}
