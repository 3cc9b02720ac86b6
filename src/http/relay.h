/* relay.h - a part of the face of http: relaying an upstream's answer, and its filters. */
#pragma once

#include "base/ctx.h"

struct app;
struct header;
struct relay;
struct filter;

/* What a filter's work on a worker has come to. */
struct filter_work {
    str rest;        /* goes on to the next filter; lives until the next call of this filter */
    bool asks_again; /* the relay's first part holds another request, for the same client */
};

/*
 * One step of an answer on its way from the upstream to the client. The filters of a relay form a
 * chain: bytes pass the first one, then the second, and so on to the client. Per answer a filter
 * gets head, then data (or watch) any number of times, then end, and work when end asked for it.
 * done is the last call of all. Each of them may be NULL.
 *
 * A filter that asks the upstream again starts the answer over for itself and for the filters in
 * front of it; the filters behind it see one answer that goes on.
 *
 * With a filter that has data or end, the client gets nothing, not even the head, before the first
 * byte comes out of the chain (but see shows_head); the head is that of the answer which is then
 * coming in, without its length. What data and end return lives until the next call of the same
 * filter.
 */
struct filter_ops {
    /* Its data and end only delay: the client gets the head as it comes. */
    bool shows_head;
    /* Before an answer's first byte, or its end: relay.code and relay.type are known. */
    void (*head)(struct filter *f, struct relay *r);
    /* Returns what goes on in the place of these bytes. Runs on the loop's thread, so it is quick;
     * only what another filter's work gives comes on a worker. */
    str (*data)(struct filter *f, struct relay *r, str bytes);
    /* For a filter without data: sees the bytes and cannot change them. */
    void (*watch)(struct filter *f, struct relay *r, str bytes);
    /* The filter has seen the last byte, which the client does not have yet. Quick; may come twice,
     * and not at all when the answer breaks off. */
    void (*last)(struct filter *f, struct relay *r);
    /* The answer is whole, and *rest goes on. True: work is to run before the filters behind this
     * one get their end. */
    bool (*end)(struct filter *f, struct relay *r, str *rest);
    /* On a worker; ctx->is_cut is set when the client leaves. A failure, noted in ctx, is the
     * answer's: nothing else goes on. */
    enum status (*work)(struct filter *f, struct ctx *ctx, struct app *app, struct relay *r,
                        struct filter_work *out);
    /* A failure after the first byte went out: the last bytes for the client, whose answer then
     * ends as a whole one. The filter nearest to the client that has this call words the failure;
     * without such a filter the answer breaks off. */
    str (*failed)(struct filter *f, struct relay *r, enum status how, str why);
    /*
     * Once, on a worker, in the order of the chain, when the client has its last byte. ctx is the
     * handler's. how is OK only when the whole answer came, whatever its code; TIMED_OUT when the
     * upstream was silent; else the failure of a filter, or UPSTREAM (the upstream broke off, or
     * the client left). ctx->why has the details.
     */
    void (*done)(struct filter *f, struct ctx *ctx, struct app *app, struct relay *r,
                 enum status how);
};

/* A member of the filter's own struct, which the call-backs reach by container_of. */
struct filter {
    const struct filter_ops *ops;
    struct filter *next;      /* nearer to the client */
    bool has_head, has_ended; /* http's: of the answer that comes now */
};
#define container_of(member_p, type, member) ((type *)((char *)(member_p)-offsetof(type, member)))

/*
 * The answer of an upstream, passed on as it comes. A handler makes the relay in the ctx's arena,
 * fills the first part and puts it into reply.relay. Status, headers and body of the upstream go
 * to the client, then the headers of the reply. headers may hold some that end here
 * (hop_headers.h): those are left out, and so are the upstream's. A client that leaves cancels the
 * call; a slow client slows the upstream down.
 */
struct relay {
    str url, method;
    const struct header *headers;
    size_t n_headers;
    str body;

    struct filter *filters; /* NULL: everything passes as it comes */
    struct {                /* what one of them does, by relay_add_filter */
        bool changes;       /* the answer, so that its length is not final */
        bool holds_head;    /* back, for the first byte that comes out of the chain */
        bool has_done;
    } some;
    str secret; /* stars take its place where an error answer repeats it; "": nothing is hidden */

    /* Filled by http before the first filter's head; of the last answer that was asked for. */
    int code;
    str type; /* the answer's Content-Type */

    bool is_enough; /* set by a filter's data: the answer is longer than anyone can use */
};

/* Puts a filter behind those that the relay has: nearest to the client. */
void relay_add_filter(struct relay *r, struct filter *f, const struct filter_ops *ops);
