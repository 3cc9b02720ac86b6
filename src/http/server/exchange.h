/* exchange.h - one request on its way through the server, until its answer is sent. */
#pragma once

#include <stdatomic.h>

#include "http/server/loop.h"
#include "http/wire/parse.h"
#include "http/wire/reply.h"

/*
 * conn, exchange, relay and stream call one another in a circle, as HTTP does: bytes of a
 * connection make an exchange, and the exchange's answer, which a relay or a stream may give, is
 * bytes of the connection. Below them are loop, server, multi and idle_eviction, which call them by
 * pointers at most; above them are loop_thread and lifecycle.
 */

enum phase {
    READING,   /* on the loop: bytes are still coming in */
    WORKING,   /* a worker has the exchange */
    RELAYING,  /* the upstream is answering */
    STREAMING, /* the client takes a piece, or the next one is not due */
    ANSWERED,  /* the whole reply is in the connection's output */
    CLOSING_UP /* done runs, or nothing is left to do */
};

struct conn;
struct transfer;

/* What a worker does for an exchange, and what the loop does then. */
struct work {
    void (*on_worker)(struct exchange *x);
    void (*on_loop)(struct exchange *x);
    bool has_begun; /* an answer, which nobody reads once the client has closed its half */
};

struct exchange {
    struct ctx ctx;
    struct request in;
    struct reply out;
    struct loop *loop;
    struct conn *conn; /* NULL once the client has gone; only the loop reads or sets it */
    const struct surface *surface;
    const struct route *route;
    struct attempt attempt; /* what in.attempt is */
    struct incoming raw;    /* as it comes in */
    str target;
    str allow;
    size_t body_counted; /* in the server's bodies */
    bool is_admitted;    /* before the body was read */
    bool is_shared;      /* a foreign page asks that may read the answer */
    bool is_limited;     /* refused by a limit, which is no news for the log */
    struct meter *of_address, *of_token;
    struct allowance *allowance; /* of requests of nobody known; NULL: it shows who asks */
    bool wants_continue;         /* the client waits for our leave to send the body */
    enum phase phase;
    const struct work *work; /* the last one that was queued */
    enum status how;         /* how the handler ended, then how the relay did */
    int refused;             /* the reply's code when http itself refuses, else 0 */
    bool keep_alive, is_head;
    atomic_bool gone;          /* the client left: a queued job need not run */
    struct relay *relay;       /* the handler's, also when it is never asked */
    struct transfer *transfer; /* set when the upstream was asked */
    struct stream *stream;     /* the handler's, even if its first piece failed */
    struct buf piece;          /* of the stream, on the heap */
    bool is_last;              /* of the stream: nothing comes after the piece */
    uint64_t sent;             /* body bytes, for the log */
    struct posted posted;      /* to the loop, by the worker that has run it */
    struct exchange *next;     /* in the list of owed calls */
};

struct exchange *exchange_new(struct conn *c);
/* All headers have come: builds the request and finds its route. False when nothing more must be
 * read; why is in ctx, the code in refused. A refusal that can wait for the body is only noted. */
bool exchange_head_is_there(struct exchange *x);
/* A part of the body is there, or its length: whether it is so long that it must not be read
 * further for someone who is not known yet. */
bool exchange_is_early(const struct exchange *x);
/* To a worker, which admits the caller. False when too many wait already. */
bool exchange_admit(struct exchange *x);
/* The request is whole: runs it, here or on a worker. */
void exchange_dispatch(struct exchange *x);
/* To a worker, then on the loop; false when too many wait already. */
bool exchange_queue(struct exchange *x, const struct work *work);
/* The part of a head that every answer has, without what an upstream's has already: the caller adds
 * the rest and the empty line to the connection's output, which comes back. */
struct buf *exchange_begin_reply(struct exchange *x, struct has_lines has);
/* The whole answer is in the connection's output; ends_chunks: but for the chunk that ends it. The
 * connection may be closed or serve its next request before this returns. */
void exchange_end_answer(struct exchange *x, bool ends_chunks);
/* Words a failure and sends it; code 0 takes the status's own. */
void exchange_refuse(struct exchange *x, enum status s, int code);
/* Nothing more will be sent: logs, runs the filters' done, frees. */
void exchange_end(struct exchange *x);
/* --- stream.c --- */

/* Where the handler ran: makes the first piece of the answer. */
MUST_USE enum status stream_begin(struct exchange *x);
/* On the loop, with the first piece. */
void stream_start(struct exchange *x);
/* The client has taken what it was sent, or a sweep asks: the next piece is made, if it is due. */
void stream_resume(struct exchange *x);
void stream_sweep(struct exchange *x);

/* --- */

/* Runs done calls that found no free worker. */
void exchanges_owed(struct loop *l);
void exchange_run_done(void *exchange);
