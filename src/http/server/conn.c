/* conn.c - a client's socket: reading, writing with bounded output, and every way it can end. */
#include "http/server/conn.h"

#include <unistd.h>

#include "base/clock.h"
#include "http/server/exchange.h"
#include "http/server/transfer.h"

/*
 * A connection is IDLE until the first byte of a request, READING until its last one, ANSWERING
 * until the client has the reply, then IDLE again or closed. LINGERING comes after a refusal in the
 * middle of a request: closing at once would reset the connection, and the client would lose the
 * reply. While a request is answered, the bytes of the next ones wait in pending, up to
 * PENDING_MAX; then the socket is not read. Clients that send requests ahead have one answered at a
 * turn, and only while half of the workers' queue is free: others have theirs in between.
 */
enum {
    OUT_KEPT = 4096,        /* bytes of output room that an idle connection keeps */
    PENDING_MAX = 16 << 10, /* pipelined bytes kept while a request is answered */
    TURNS_AT_ONCE = 32,     /* before the loop looks at its sockets again */
    HEAD_MS = 5000,         /* for the headers of a request, when all places are taken */
    LINGER_MS = 2000        /* for the client to read the reply before the socket goes */
};

/* A deadline as conn.deadline_us holds it: microseconds of the monotonic clock. */
static int64_t after_ms(int64_t ms)
{
    return clock_mono_us() + ms * 1000;
}

/* UNSENT_MAX, PENDING_MAX and the server's reply_max bound the buffers where they grow. */
static struct buf unbounded_buf(void)
{
    return buf_make(NULL, SIZE_MAX / 4);
}

/* --- reading --- */

static int64_t idle_deadline(const struct loop *l)
{
    return after_ms(l->seen < STOPPING ? l->server->settings.idle_ms : UNDERWAY_MS);
}

/* One buffer for all connections of a loop: on_read has used up the bytes when it returns. What may
 * be of later requests is read in small parts, since it has to be kept. */
static void on_space(uv_handle_t *h, UNUSED size_t wanted, uv_buf_t *b)
{
    struct conn *c = h->data;
    bool is_body = c->state == CONN_READING && c->x->raw.head_done;
    size_t n = is_body || c->state == CONN_LINGERING ? READ_BYTES : PENDING_MAX - c->pending.n;
    *b = uv_buf_init(c->loop->read_buf, (unsigned)n);
}

/* A client may close its sending half and still read the reply of a handler. With a relay the same
 * close almost always means that the client has gone, and the upstream's answer costs money: so the
 * relay ends, also while a filter works on a worker. */
static void on_eof(struct conn *c, bool is_clean)
{
    c->has_eof = true;
    bool waits = c->state == CONN_ANSWERING
                     ? c->x->phase == ANSWERED || (c->x->phase == WORKING && !c->x->work->has_begun)
                     : c->state == CONN_IDLE && c->pending.n;
    if (!is_clean || !waits) {
        conn_close(c);
        return;
    }
    uv_read_stop(&c->stream);
    if (c->pending.n)
        return;
    c->close_after = true;
    c->x->keep_alive = false;
}

static void keep_pending(struct conn *c, str bytes)
{
    buf_add(&c->pending, bytes);
    if (c->pending.n < PENDING_MAX || c->is_resting)
        return;
    c->is_resting = true;
    uv_read_stop(&c->stream);
}

/* Meanwhile the connection waits as for a reply: what comes in is kept up to PENDING_MAX. */
static void admit_early(struct conn *c)
{
    struct exchange *x = c->x;
    if (c->closing || c->state != CONN_READING || !exchange_is_early(x))
        return;
    if (x->refused) {
        conn_refuse(c, x->ctx.failed, x->refused);
        return;
    }
    c->state = CONN_ANSWERING;
    if (!exchange_admit(x))
        conn_refuse(c, TOO_BUSY, 0);
}

static void send_continue(struct conn *c)
{
    c->x->wants_continue = false;
    buf_add(&c->out, S("HTTP/1.1 100 Continue\r\n\r\n"));
    conn_flush(c);
}

static struct conn *conn_of(struct parser *p)
{
    return container_of(p, struct conn, parser);
}

static int on_head(struct parser *p)
{
    struct exchange *x = conn_of(p)->x;
    return exchange_head_is_there(x) ? 0 : x->refused;
}

/* A client that asks before it sends the body (Expect) gets a refusal without sending it. */
static int on_body_due(struct parser *p)
{
    struct conn *c = conn_of(p);
    struct exchange *x = c->x;
    if (x->raw.is_old || !str_eq_nocase(request_header(&x->in, "Expect"), S("100-continue")))
        return 0;
    if (x->refused)
        return x->refused;
    x->wants_continue = exchange_is_early(x);
    if (!x->wants_continue)
        send_continue(c);
    return c->closing ? -1 : 0;
}

/* Bodies come in before the token is checked, so that anyone could fill the memory: all bodies
 * together have a limit, too. */
static int on_body(struct parser *p, size_t n)
{
    struct exchange *x = conn_of(p)->x;
    struct server *s = x->loop->server;
    x->body_counted += n;
    if (atomic_fetch_add(&s->bodies, n) + n <= s->settings.bodies_max)
        return 0;
    fail(&x->ctx, TOO_BUSY, "the bodies of all requests are over the limit of %zu bytes",
         s->settings.bodies_max);
    return 429;
}

static const struct parser_events events = {
    .head = on_head,
    .body_due = on_body_due,
    .body = on_body,
};

/* Up to the end of one request, which is run; the bytes behind it wait. */
static void feed_parser(struct conn *c, str bytes)
{
    if (c->state == CONN_IDLE) {
        idle_leave(c->loop, &c->idle);
        c->x = exchange_new(c);
        c->parser.in = &c->x->raw;
        c->state = CONN_READING;
        c->deadline_us = after_ms(c->loop->server->settings.request_ms);
    }
    assert(c->x && c->x->phase == READING);
    enum parsed parsed = parser_feed(&c->parser, &bytes);
    if (c->closing)
        return;
    if (bytes.n)
        keep_pending(c, bytes);
    if (parsed == PARSE_WHOLE)
        exchange_dispatch(c->x);
    else if (parsed == PARSE_REFUSED)
        conn_refuse(c, c->x->ctx.failed, c->parser.fault);
    else
        admit_early(c);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *b)
{
    struct conn *c = stream->data;
    if (n < 0)
        on_eof(c, n == UV_EOF);
    if (n <= 0)
        return;
    count_up(&c->loop->count.bytes_in, (uint64_t)n);
    if (c->state == CONN_LINGERING)
        return;
    if (c->state == CONN_ANSWERING || c->pending.n)
        keep_pending(c, (str){b->base, (size_t)n});
    else
        feed_parser(c, (str){b->base, (size_t)n});
}

/* --- requests sent ahead --- */

static void read_on(struct conn *c)
{
    if (!c->is_resting)
        return;
    c->is_resting = false;
    uv_read_start(&c->stream, on_space, on_read);
}

/* A client that closed its half meanwhile sends no more of the request. */
static void take_pending(struct conn *c)
{
    struct buf pending = c->pending;
    c->pending = unbounded_buf();
    if (pending.n)
        feed_parser(c, buf_str(&pending));
    buf_free(&pending);
    if (c->closing || c->pending.n)
        return;
    if (!c->has_eof)
        read_on(c);
    else if (c->state == CONN_READING)
        conn_close(c);
}

/* Without room in the queue the next one comes when a worker has answered, or with a sweep. */
static bool has_turn(const struct loop *l)
{
    return l->turns.first && atomic_load(&l->server->queued) <= l->server->settings.queue_max / 2;
}

/* One loop at a time: else each would take the last place. */
void conns_take_turns(struct loop *l)
{
    if (l->turns.first && !atomic_exchange(&l->server->is_turning, true)) {
        for (int n = 0; n < TURNS_AT_ONCE && has_turn(l); n++) {
            struct conn *c = container_of(l->turns.first, struct conn, turn);
            list_leave(&l->turns, &c->turn);
            take_pending(c);
        }
        atomic_store(&l->server->is_turning, false);
    }
    if (has_turn(l))
        loop_wake(l);
}

/* --- the end of an exchange --- */

/* Closes our half only (RFC 9112, section 9.6): the client still gets the reply, and what it goes
 * on sending is read and thrown away until it closes, or LINGER_MS have passed. The chance to send
 * is lost when the client has gone already: then there is nobody to wait for. */
static void linger_on(struct conn *c)
{
    uv_os_fd_t fd;
    c->state = CONN_LINGERING;
    c->deadline_us = after_ms(LINGER_MS);
    if (c->has_eof || uv_fileno(&c->handle, &fd) != 0 || shutdown(fd, SHUT_WR) != 0)
        conn_close(c);
    else
        read_on(c);
}

void conn_resume(struct conn *c)
{
    assert(c->state == CONN_ANSWERING && c->x->phase == READING);
    c->state = CONN_READING;
    if (c->x->wants_continue)
        send_continue(c);
    if (!c->closing)
        take_pending(c);
}

/* The client has the last byte of the reply: the next request, or the end. */
static void finish_exchange(struct conn *c)
{
    struct exchange *x = c->x;
    assert(x->phase == ANSWERED && !c->out.n);
    c->x = NULL;
    x->conn = NULL;
    exchange_end(x);
    if (c->lingers || c->close_after || (c->has_eof && !c->pending.n)) {
        (c->lingers ? linger_on : conn_close)(c);
        return;
    }
    c->state = CONN_IDLE;
    c->deadline_us = idle_deadline(c->loop);
    if (!c->pending.n) {
        idle_enter(c->loop, &c->idle, c->deadline_us);
        return;
    }
    assert(loop_is_here(c->loop));
    if (!c->loop->turns.first)
        loop_wake(c->loop);
    list_join(&c->loop->turns, &c->turn);
}

/* --- writing --- */

size_t conn_unsent(const struct conn *c)
{
    return c->out.n + (c->is_sending ? uv_stream_get_write_queue_size(&c->stream) : 0);
}

/* Nothing waits in out any more. A reply that is complete ends its exchange; a relay that stopped
 * reading its upstream, because this client was slow, goes on. */
static void on_drained(struct conn *c)
{
    if (!c->x)
        return;
    assert(loop_is_here(c->loop));
    if (c->x->phase == ANSWERED)
        finish_exchange(c);
    else if (c->x->phase == RELAYING && c->x->transfer->is_paused)
        relay_resume(c->x);
    else if (c->x->phase == STREAMING)
        stream_resume(c->x);
}

/* Only for what send_later began. conn_close lets libuv cancel the write, which calls this with a
 * connection that is closing. */
static void on_wrote(uv_write_t *w, int status)
{
    struct conn *c = w->data;
    c->is_sending = false;
    buf_free(&c->sending);
    if (c->closing)
        return;
    if (status < 0)
        conn_close(c);
    else
        conn_flush(c);
}

/* The socket is full: libuv sends the rest. The buffer moves to sending, so that new output can be
 * added to out meanwhile. */
static void send_later(struct conn *c, size_t from)
{
    uv_buf_t rest = uv_buf_init(c->out.p + from, (unsigned)(c->out.n - from));
    c->sending = c->out;
    c->out = unbounded_buf();
    c->is_sending = true;
    c->write.data = c;
    c->deadline_us = after_ms(c->loop->server->settings.idle_ms);
    int error = uv_write(&c->write, &c->stream, &rest, 1, on_wrote);
    if (error)
        on_wrote(&c->write, error);
    else
        c->unsent = conn_unsent(c);
}

/* Most replies fit into the socket's buffer, so writing is tried first: no callback, no copy. */
void conn_flush(struct conn *c)
{
    if (c->closing || c->is_sending)
        return;
    if (c->out.n) {
        uv_buf_t all = uv_buf_init(c->out.p, (unsigned)c->out.n);
        int n = uv_try_write(&c->stream, &all, 1);
        if (n < 0 && n != UV_EAGAIN) {
            conn_close(c);
            return;
        }
        size_t sent = n > 0 ? (size_t)n : 0;
        count_up(&c->loop->count.bytes_out, c->out.n);
        if (sent < c->out.n) {
            send_later(c, sent);
            return;
        }
        if (c->out.cap > OUT_KEPT)
            buf_free(&c->out);
        else
            buf_clear(&c->out);
    }
    on_drained(c);
}

/* A turn of curl may bring many pieces for one client: they go out in one write. */
void conn_touch(struct conn *c)
{
    assert(!c->closing);
    if (!c->dirty.at)
        list_join(&c->loop->dirty, &c->dirty);
}

void conns_flush(struct loop *l)
{
    while (l->dirty.first) {
        struct conn *c = container_of(l->dirty.first, struct conn, dirty);
        list_leave(&l->dirty, &c->dirty);
        conn_flush(c);
    }
}

/* --- opening, closing, deadlines --- */

static void on_closed(uv_handle_t *h)
{
    struct conn *c = h->data;
    struct server *s = c->loop->server;
    atomic_fetch_sub(c->is_refused ? &s->refused : &s->connections, 1);
    meters_leave(s->meters, c->meter);
    buf_free(&c->out);
    buf_free(&c->sending);
    buf_free(&c->pending);
    free(c);
    server_changed(s);
}

/* From anywhere in the loop, also while lists are walked: so the connection leaves them first, and
 * its memory is freed in on_closed, in a later turn. */
void conn_close(struct conn *c)
{
    struct exchange *x = c->x;
    assert(loop_is_here(c->loop));
    if (c->closing)
        return;
    c->closing = true;
    idle_leave(c->loop, &c->idle);
    list_leave(&c->loop->turns, &c->turn);
    list_leave(&c->loop->conns, &c->all);
    list_leave(&c->loop->dirty, &c->dirty);
    uv_close(&c->handle, on_closed);
    if (!x)
        return;
    c->x = NULL;
    x->conn = NULL;
    atomic_store(&x->gone, true);
    if (x->phase == RELAYING)
        relay_cancel(x);
    if (x->phase != WORKING) /* a worker's exchange ends when the worker gives it back */
        exchange_end(x);
}

/* Also ::ffff:127.0.0.1, as a socket for both versions of IP shows an IPv4 client. */
static bool is_loopback_peer(const struct sockaddr_storage *peer)
{
    if (peer->ss_family == AF_UNIX)
        return true;
    if (peer->ss_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)peer)->sin_addr.s_addr) >> 24 == 127;
    const struct in6_addr *v6 = &((const struct sockaddr_in6 *)peer)->sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(v6) || (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == 127);
}

static enum status count_connection(struct conn *c, struct ctx *ctx)
{
    struct server *s = c->loop->server;
    const struct limit limit = {.what = "from this address",
                                .at_once = s->settings.limits.address_connections};
    if (!c->address_n)
        return OK;
    return meters_enter(ctx, s->meters, METER_CONNECTIONS, (str){c->address, c->address_n}, &limit,
                        &c->meter);
}

/* The reply goes out before the request is read. */
static void refuse_opened(struct conn *c, int code, const char *why)
{
    c->x = exchange_new(c);
    fail(&c->x->ctx, TOO_BUSY, "%s", why);
    c->x->is_limited = !c->is_refused; /* that the server is full is news */
    conn_refuse(c, TOO_BUSY, code);
}

static int open_handle(struct conn *c, int fd, bool is_unix)
{
    if (is_unix)
        uv_pipe_init(&c->loop->uv, &c->pipe, false);
    else
        uv_tcp_init(&c->loop->uv, &c->tcp);
    c->handle.data = c;
    return is_unix ? uv_pipe_open(&c->pipe, fd) : uv_tcp_open(&c->tcp, fd);
}

/* Takes the descriptor over, also when it fails. The caller has counted it in server.connections or
 * server.refused; on_closed takes it back out of the same count, so is_refused never changes. */
void conn_open(struct loop *l, int fd, bool is_refused)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct conn *c = heap_alloc(sizeof *c);
    struct sockaddr_storage peer = {0};
    socklen_t n = sizeof peer;
    c->loop = l;
    c->is_refused = is_refused;
    if (getpeername(fd, (struct sockaddr *)&peer, &n) != 0 || !is_loopback_peer(&peer))
        c->address_n = address_of_peer(&peer, c->address);
    c->out = c->sending = c->pending = unbounded_buf();
    c->deadline_us = idle_deadline(l);
    list_join(&l->conns, &c->all);
    if (!is_refused)
        idle_enter(c->loop, &c->idle, c->deadline_us);
    parser_init(&c->parser, &events);
    loop_tick(l);
    if (open_handle(c, fd, peer.ss_family == AF_UNIX) != 0) {
        close(fd);
        conn_close(c);
        return;
    }
    uv_read_start(&c->stream, on_space, on_read);
    if (is_refused) {
        fail(&own, TOO_BUSY, "the server has reached its limit of %zu connections; try again later",
             l->server->settings.connections_max);
        refuse_opened(c, 503, own.why);
    } else if (count_connection(c, &own) != OK) {
        refuse_opened(c, 429, own.why);
    }
}

/* The request is not read to its end, so where the next one would begin is unknown: the connection
 * cannot go on, and lingers. */
void conn_refuse(struct conn *c, enum status s, int code)
{
    assert(c->x && c->x->phase == READING);
    c->lingers = c->close_after = true;
    c->state = CONN_ANSWERING;
    c->x->keep_alive = false;
    exchange_refuse(c->x, s, code);
}

/* A client that reads nothing for idle_ms is cut: its buffers cost memory. */
static void sweep_writer(struct conn *c, int64_t now)
{
    size_t unsent = conn_unsent(c);
    if (unsent != c->unsent) {
        c->unsent = unsent;
        c->deadline_us = now + c->loop->server->settings.idle_ms * 1000;
    } else if (now > c->deadline_us) {
        conn_close(c);
    }
}

/* A client that sends its headers slowly holds a place as an idle one does, and is not closed for a
 * new client. So when all places are taken it has less time. */
static bool is_slow_head(const struct conn *c, int64_t now)
{
    const struct server *s = c->loop->server;
    int64_t began = c->deadline_us - s->settings.request_ms * 1000;
    return !c->x->raw.head_done && now > began + HEAD_MS * 1000 && server_is_full(s);
}

/* Called for each connection about ten times a second, so a deadline may pass by up to SWEEP_MS.
 * What is late decides what happens: a client that does not read is cut; the silence of an upstream
 * is a failure that the client reads (504, or the end of a stream that has begun); a request that
 * does not become whole gets 408; an idle connection is closed without a word. */
void conn_sweep(struct conn *c, int64_t now)
{
    if (c->state == CONN_ANSWERING) {
        if (c->is_sending)
            sweep_writer(c, now);
        else if (c->x->phase == RELAYING)
            relay_sweep(c->x, now);
        else if (c->x->phase == STREAMING)
            stream_sweep(c->x);
        return;
    }
    int64_t wait_ms = c->loop->server->settings.request_ms;
    if (c->state == CONN_READING && is_slow_head(c, now))
        wait_ms = HEAD_MS;
    else if (now <= c->deadline_us)
        return;
    if (c->state == CONN_READING) {
        fail(&c->x->ctx, TIMED_OUT, "the request was not complete after %lld ms",
             (long long)wait_ms);
        conn_refuse(c, TIMED_OUT, 408);
        return;
    }
    conn_close(c);
}
