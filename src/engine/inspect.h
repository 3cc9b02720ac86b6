/* inspect.h - a part of the engine's face: what people look at: receipts, sessions, numbers. */
#pragma once

#include "core/days.h"
#include "core/memory_ops.h"
#include "core/session.h"

struct engine;
struct recalled;

/* Several pools of one user are looked at as one list. */
struct pools {
    const struct pool_ref *v;
    size_t n;
};

/* --- receipts --- */

struct receipts_in {
    struct pools pools;
    str decision, session; /* "" for any */
    str of;                /* id of a message or memory that they gave to a model; "" for any */
    int64_t after, before; /* made in [after, before), unix ms; 0: no such end */
    int64_t at, no; /* only those behind the receipt of that time and row; 0: from the first */
    size_t limit;
};
struct receipts_out {
    struct receipt *v; /* newest first */
    size_t n;
    bool has_more;
    int64_t total; /* of all pages */
};
MUST_USE enum status engine_receipts(struct ctx *ctx, struct engine *e,
                                     const struct receipts_in *in, struct receipts_out *out);

/* --- messages --- */

/* A message in its conversation. */
struct message_around {
    struct message *v; /* in order: those before, the message, those after */
    size_t n, at;
    struct session session;
    struct memory *learnt; /* from the message, closed ones too, oldest first */
    size_t n_learnt;
};
/* around: how many messages before and after. NOT_FOUND. */
MUST_USE enum status engine_message(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                                    size_t around, struct message_around *out);

/* Some messages of a session in order, behind the position `from` (-1: from the first), or with
 * newest_first in front of it (-1: from the last). */
struct session_page_in {
    struct pool_ref pool;
    str session;
    int64_t from;
    bool newest_first;
    size_t limit;
};
MUST_USE enum status engine_session_page(struct ctx *ctx, struct engine *e,
                                         const struct session_page_in *in, struct message **out,
                                         size_t *n, bool *has_more);

struct sessions_out {
    struct session *v; /* last spoken in first */
    size_t n;
    bool has_more;
    int64_t total; /* of all pages */
};
/* Conversations of these pools; the pool of the filter does not count. */
MUST_USE enum status engine_sessions_page(struct ctx *ctx, struct engine *e, struct pools pools,
                                          const struct session_filter *f, struct sessions_out *out);

/* --- conversations as they are kept --- */

/* An empty one; s->id "" makes a UUID. Fills *s as it was kept. */
MUST_USE enum status engine_make_session(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                         struct session *s);
/* By id; with space "" in any space of the user. NOT_FOUND without a note. */
MUST_USE enum status engine_session(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                                    struct session *out);
/* Metadata is merged member by member, null removes one (JSON Merge Patch, RFC 7396). */
MUST_USE enum status engine_change_session(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                           str id, const struct session_change *change,
                                           struct session *out);
/* All of its messages in order. */
MUST_USE enum status engine_session_messages(struct ctx *ctx, struct engine *e,
                                             struct pool_ref pool, str session,
                                             struct message **out, size_t *n);

/* --- conversations by what was said in them --- */

/* Messages of a search that are looked at, and of them those that count for the order. */
enum { SESSION_LOOKED_AT = 100, SESSION_COUNTED = 30 };

/* A conversation in which something was found. */
struct session_found {
    struct session session;      /* of engine_by_session only id and space */
    const struct recalled *best; /* of its messages; NULL: only its title was found */
    double rank;                 /* log of its odds against others; -inf: far down the list */
};
/* The conversations of messages that were found, best first. `v` is in the order of engine_recall,
 * and the hits point into it. */
struct session_found *engine_by_session(struct arena *a, const struct recalled *v, size_t n,
                                        size_t *n_out);

struct session_search_in {
    struct pools pools;
    str question;          /* a question or words */
    int64_t after, before; /* last spoken in at [after, before), unix ms; 0: no such end */
    size_t limit;          /* most that are found by the title; by what was said 100 a pool */
};
/* First conversations whose title holds the question as it stands, the newest first, then those in
 * which something about it was said, the likeliest first. */
MUST_USE enum status engine_search_sessions(struct ctx *ctx, struct engine *e,
                                            const struct session_search_in *in,
                                            struct session_found **out, size_t *n);

/* --- numbers --- */

/* Sums of what was counted by the day. */
struct day_sums {
    int64_t n[DAY_STAT_COUNT]; /* by enum day_stat */
};
/* What the pools hold now, and what they did today (UTC) and in all. */
struct numbers {
    int64_t sessions, messages, memories, closed, receipts;
    int64_t by_layer[LAYER_COUNT], by_type[TYPE_COUNT], by_origin[ORIGIN_COUNT]; /* open ones */
    struct day_sums today, all;
};
MUST_USE enum status engine_numbers(struct ctx *ctx, struct engine *e, struct pools pools,
                                    struct numbers *out);

/* A day, or a month. */
struct period {
    int64_t begin; /* unix ms */
    struct day_sums sums;
};
/* Most of one answer. */
enum { PERIODS_MAX = 400 };
struct series_in {
    struct pools pools;
    int64_t from, to; /* unix ms: the periods of both times and all between */
    int n;            /* without from: so many periods, the last is that of to */
    bool by_month;
};
/* Each period has a place, also those in which nothing was done. BAD_INPUT naming `from` when there
 * are more than PERIODS_MAX, and when it is behind `to`. */
MUST_USE enum status engine_series(struct ctx *ctx, struct engine *e, const struct series_in *in,
                                   struct period **out, size_t *n);
