/* inspect.h - reading for people who look: receipts, what was learnt, counts by the day. */
#pragma once

#include "core/days.h"

struct store;

/* --- receipts --- */

struct receipt_filter {
    struct pool_ref pool;
    str decision, session; /* "" for any */
    doc_id doc;            /* only those that gave this message or memory to a model; 0 for any */
    int64_t after, before; /* made in [after, before), unix ms; 0: no such end */
    int64_t at, no; /* only those behind the receipt of that time and row; 0: from the first */
    size_t limit;
};
/* Newest first. total counts all but the place; it may be NULL. Durable, as store_receipt. */
MUST_USE enum status store_receipts(struct ctx *ctx, struct store *s,
                                    const struct receipt_filter *f, struct receipt **out, size_t *n,
                                    int64_t *total);

/* --- messages and memories --- */

/* The number of a pool's memory or message by its id; 0 when it has none. */
MUST_USE enum status store_doc_of(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                  doc_id *out);
/* What was learnt from a message, closed memories too, oldest first. */
MUST_USE enum status store_learnt(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                  str message, struct memory **out, size_t *n);
/*
 * Memories that were true at a time (unix ms) and that today's lists and searches of what was made
 * until then do not find: closed or expired since, or said again since. Newest first, at most
 * limit.
 */
MUST_USE enum status store_once_true(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                     int64_t at, size_t limit, struct memory **out, size_t *n);

/* --- numbers --- */

struct pool_totals {
    int64_t created, sessions, messages, memories, closed, receipts;
};
/* All zero when there is no such pool. */
MUST_USE enum status store_pool_totals(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                       struct pool_totals *out);

/* The counts of the days from…to (day_number), by day and stat; or their sums, whose day is 0. */
MUST_USE enum status store_days(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                int64_t from, int64_t to, bool sums, struct day_count **out,
                                size_t *n);
