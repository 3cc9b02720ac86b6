/* inside.h - what the files of http share: a server, its loops, connections and exchanges. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include <curl/curl.h>
#include <llhttp.h>
#include <uv.h>

#include "base/pool.h"
#include "http/http.h"

enum {
    HEADERS_MAX = 100,
    SEGMENTS_MAX = 16,
    PENDING_MAX = 64 << 10, /* pipelined bytes kept while a request is answered */
    UNSENT_MAX = 64 << 10,  /* bytes a client has not taken before its upstream is paused */
    UPSTREAM_HEAD_MAX = 64 << 10,
    REFUSED_MAX = 64,      /* connections over the limit that still get to read why */
    IDLE_HANDLES_MAX = 64, /* curl handles a loop keeps for the next relay */
    SWEEP_MS = 100,        /* how often deadlines are looked at */
    CONNECT_MS = 15000,    /* for an upstream to take a connection */
    LINGER_MS = 2000       /* for the client to read the reply before the socket goes */
};

/* --- routing --- */

struct route_row {
    const struct surface *surface;
    const struct route *route;
    str segments[SEGMENTS_MAX];
    size_t n;
};

struct router {
    struct route_row *rows;
    size_t n;
};

/* What a path came to. route is NULL when none serves it; code is then 404 or 405. */
struct match {
    const struct surface *surface;
    const struct route *route;
    str params[ROUTE_PARAMS_MAX];
    char allow[128]; /* the methods of the path, as Allow lists them; "" when none matches */
};

struct router router_new(const struct surface *const *surfaces);
void router_free(struct router *r);
/* raw is the path as it came; params are decoded into the arena. BAD_INPUT for a broken escape. */
MUST_USE enum status router_find(struct ctx *ctx, const struct router *r, str method, str raw,
                                 struct match *out);
/* False for a broken escape, NUL, or what is no UTF-8. */
bool percent_decode(struct arena *a, str s, bool plus_is_space, str *out);

/* --- the life of one request --- */

enum phase {
    READING,   /* on the loop: bytes are still coming in */
    WORKING,   /* a worker has it */
    RELAYING,  /* the upstream is answering */
    ANSWERED,  /* the whole reply stands in the connection's output */
    CLOSING_UP /* done runs, or nothing is left to do */
};

struct span {
    uint32_t name, name_n, value, value_n; /* offsets into exchange.head */
};

/* The upstream side of a relay. */
struct flow {
    CURL *easy;
    struct buf head; /* the header lines to the client, collected in the ctx's arena */
    int64_t last_us; /* when the upstream last gave a sign */
    int64_t timeout_us;
    int64_t length; /* of the body, as the upstream announced it, if has_length */
    uint64_t came;  /* of the body, so far */
    str rest;       /* what the filter gave last, on a worker */
    bool is_paused, has_length, is_coded, has_date, has_id;
    bool head_came; /* of this answer */
    bool head_sent; /* of this or an earlier one */
    bool asks_again;
};

struct exchange {
    struct ctx ctx;
    struct request in;
    struct reply out;
    struct loop *loop;
    struct conn *conn; /* NULL once the client has gone; the loop's alone */
    const struct surface *surface;
    const struct route *route;
    struct buf head, body; /* as they come in; the body is on the heap */
    struct span *spans;
    size_t n_spans;
    size_t target_n; /* of head: the request target */
    str target;
    bool name_done, head_done;
    str allow;
    size_t body_max, body_counted; /* the latter is in the server's bodies */
    enum phase phase;
    enum status how;                  /* how the handler ended, then how the relay did */
    int refused;                      /* the reply's code when http itself refuses, else 0 */
    bool keep_alive, is_head, is_old; /* is_old: HTTP/1.0, which knows no chunks */
    atomic_bool gone;                 /* the client left: a job that waits need not run */
    struct relay *relay;              /* the handler's, once the loop has it */
    struct flow *flow;                /* set when the upstream was asked */
    uint64_t sent;                    /* body bytes, for the log */
    struct exchange *next;            /* in an inbox or the list of owed calls */
};

struct exchange *exchange_new(struct conn *c);
/* All headers are there: builds the request and finds its route. False when nothing more must be
 * read; why stands in ctx, the code in refused. A refusal that can wait for the body is only noted.
 */
bool exchange_head_is_there(struct exchange *x);
/* The request is whole: runs it, here or on a worker. */
void exchange_dispatch(struct exchange *x);
/* A worker is through with it, or the loop itself ran it. */
void exchange_ran(struct exchange *x);
/* To a worker, then exchange_ran; false when too many wait already. */
bool exchange_queue(struct exchange *x);
/* Words a failure and sends it; code 0 takes the status's own. */
void exchange_refuse(struct exchange *x, enum status s, int code);
/* Nothing more will be sent: logs, runs done if there is one, frees. */
void exchange_end(struct exchange *x);
/* Runs done calls that found no room on the workers. */
void exchanges_owed(struct loop *l);
void exchange_run_done(void *exchange);

/* --- replies (reply.c) --- */

/* Host and Origin; FORBIDDEN or BAD_INPUT with a reason. */
MUST_USE enum status guard_check(struct ctx *ctx, const struct server_settings *settings,
                                 const struct request *in, bool is_old);
/* The status line and our own headers; the caller adds the rest and the empty line. */
void reply_begin(struct exchange *x, struct buf *b, bool needs_date, bool needs_id);
/* Names are tokens, values hold no control character: nothing can break out of its line. */
MUST_USE enum status reply_check(struct ctx *ctx, const struct header *headers, size_t n);
void reply_headers(struct buf *b, const struct header *headers, size_t n);
/* Puts the whole reply into the connection's output and sends it. */
void reply_send(struct exchange *x);

/* --- connections (conn.c) --- */

enum conn_state { CONN_IDLE, CONN_READING, CONN_ANSWERING, CONN_LINGERING };

struct conn {
    uv_tcp_t tcp;
    uv_write_t write;
    struct loop *loop;
    struct conn *next, **at; /* in loop->conns */
    struct conn *next_dirty;
    llhttp_t parser;
    struct exchange *x;
    struct buf pending, out, sending;
    int64_t deadline_us; /* of the state, or of the client's taking more output */
    size_t unsent;       /* at the last look, to see progress */
    enum conn_state state;
    int fault; /* the code of a limit hit inside the parser */
    bool is_dirty, is_sending, is_feeding, has_eof, close_after, lingers, closing, is_loopback,
        is_refused;
};

void conn_open(struct loop *l, int fd, bool is_refused);
void conn_close(struct conn *c);
/* Output was added inside a curl callback; it is sent when curl has returned. */
void conn_touch(struct conn *c);
void conns_flush(struct loop *l);
void conn_flush(struct conn *c);
size_t conn_unsent(const struct conn *c);
void conn_sweep(struct conn *c, int64_t now);
/* Feeds the parser (parse.c) and answers what is whole; what is left behind it comes back. */
str conn_parse(struct conn *c, str bytes);
void conn_parser_init(struct conn *c);
/* Answers with a failure while the request may still be coming, then closes. */
void conn_refuse(struct conn *c, enum status s, int code);

/* --- relays (relay.c, multi.c) --- */

void relay_start(struct exchange *x);
void relay_resume(struct exchange *x);
void relay_sweep(struct exchange *x, int64_t now);
/* Ends the upstream call; the client is gone or about to be. */
void relay_cancel(struct exchange *x);
/* On a worker: what the filter makes of the answer; then, on the loop, what comes of it. */
void relay_work(struct exchange *x);
void relay_ran(struct exchange *x);
/* curl says the transfer is over. */
void relay_over(struct exchange *x, CURLcode code);

void multi_open(struct loop *l);
void multi_close(struct loop *l);
/* Lets curl act on a handle that was just added, without waiting for the next turn. */
void multi_kick(struct loop *l);
CURL *multi_handle(struct loop *l);
void multi_handle_back(struct loop *l, CURL *easy);

/* --- loops and the server --- */

enum server_phase { SERVING, STOPPING, CUTTING, ENDING };

struct counters {
    _Atomic uint64_t requests, errors, relays, relays_cancelled, bytes_in, bytes_out, rejected_busy,
        rejected_connections;
};

struct loop {
    uv_loop_t uv;
    uv_async_t wake;
    uv_timer_t sweep, curl_timer;
    uv_poll_t accept; /* of the first loop only */
    pthread_t thread;
    struct server *server;
    pthread_mutex_t lock; /* of what others put in: inbox and sockets */
    struct exchange *inbox, **inbox_end;
    struct {
        int fd;
        bool is_refused;
    } sockets[64];
    size_t n_sockets;
    struct conn *conns, *dirty;
    struct exchange *owed;
    CURLM *multi;
    struct watch **watches; /* by file descriptor */
    size_t n_watches;
    bool multi_is_busy, multi_again;
    CURL *idle[IDLE_HANDLES_MAX];
    size_t n_idle;
    enum server_phase seen;
    bool accepts, accept_rests;
    int64_t date_s;
    char date[32];
    uint64_t next_id, id_base;
    struct counters count;
    char read_buf[64 << 10];
};

void loop_open(struct loop *l, struct server *s);
void loop_start(struct loop *l);
void loop_wake(struct loop *l);
/* From any thread: the exchange is the loop's again. */
void loop_post(struct loop *l, struct exchange *x);
/* From the accepting loop; false when too many are waiting. */
bool loop_give_socket(struct loop *l, int fd, bool is_refused);
/* Starts the sweep if it rests. */
void loop_tick(struct loop *l);
void loop_close(struct loop *l);

struct server {
    struct server_settings settings;
    struct ctx ctx; /* holds what the settings point at */
    struct router router;
    const struct surface *first;
    struct app *app;
    struct pool *workers;
    int listener, port;
    struct loop *loops;
    size_t n_loops, next_loop;
    _Atomic size_t connections, refused, active, queued, cut, bodies;
    _Atomic int phase;
    _Atomic size_t seen; /* loops that acted on the phase */
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

/* Something server_stop may wait for has happened. */
void server_changed(struct server *s);
void server_accept(struct server *s);
/* On the loop that gets it: a counted socket becomes a connection, unless the server stops. */
void server_take(struct loop *l, int fd, bool is_refused);

static inline void count_up(_Atomic uint64_t *n, uint64_t by)
{
    atomic_fetch_add_explicit(n, by, memory_order_relaxed);
}
