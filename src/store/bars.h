/* bars.h - statements that recall may not give again, since they were forgotten, as hashes. */
#pragma once

#include "core/memory.h"

struct store;

enum bar_kind {
    BAR_STATEMENT, /* terms: how many of them are particular, these, then all the others; what says
                      the same is barred, in whatever message */
    BAR_SENTENCES, /* terms: hashes of whole sentences, ascending */
    BAR_ALL        /* everything; no terms */
};
enum bar_reason { BAR_FORGOTTEN, BAR_CORRECTED, BAR_EXPIRED, BAR_CLEARED, BAR_SUPERSEDED };

/* A bar holds for messages that are older than it, and for the one that it names. It keeps nothing
 * of a text but hashes. */
struct bar {
    enum bar_kind kind;
    enum bar_reason reason;
    int64_t at;       /* unix ms: what is said from then on is said anew */
    uint64_t message; /* hash of a message's id, of whatever age; 0: none */
    const uint64_t *terms;
    size_t n;
};

/* Bars with what follows from them. */
struct barring {
    struct pool_ref pool;
    const struct bar *bars;
    size_t n;
    const struct undo_mark *undo; /* or NULL */
    const str *messages;          /* ids: receipts that show these are erased */
    size_t n_messages;
    const str *sessions; /* episodes and facts made of these as a whole are erased, and what the
                            user said in them waits to be distilled again */
    size_t n_sessions;
};
/* All or nothing. A bar of everything takes the place of older bars and erases the pool's receipts.
 * A pool that does not exist gets no bars. */
MUST_USE enum status store_bar(struct ctx *ctx, struct store *s, const struct barring *what);

struct bars_read {
    struct bar *bars; /* oldest first */
    size_t n;
    struct memory *expired; /* those whose time has passed and which have not been pruned yet */
    size_t n_expired;
};
MUST_USE enum status store_bars(struct ctx *ctx, struct store *s, struct pool_ref pool, int64_t now,
                                struct bars_read *out);

/* An expired memory of any pool. */
struct expired {
    struct pool_ref pool;
    struct memory memory;
};
/* Those that are to be pruned, by the time of their expiry. */
MUST_USE enum status store_expired(struct ctx *ctx, struct store *s, int64_t now, size_t limit,
                                   struct expired **out, size_t *n);
