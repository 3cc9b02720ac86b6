/* eraser.h - rows erased with what was found, made or shown of them, batch by batch. */
#pragma once

#include "core/memory_ops.h"
#include "store/sql/db/lookup.h"
#include "store/sql/index/index.h"
#include "store/sql/state/writer.h"

/* Rows that are erased before their words are, in one go. */
enum { ERASE_BATCH = 256, ERASE_FEW = 16, ERASE_BLOCKS = 2048, ERASE_FEW_BLOCKS = 128 };

/* One batch. */
struct eraser {
    struct ctx *ctx;
    struct db *db;
    int64_t pool;
    struct index_changes changes;
    struct pool_gain gain; /* below 0: what is erased */
    bool is_expiry;        /* what is erased had ended: nobody has forgotten it */
    bool is_undo;          /* what was distilled makes room; what somebody wrote stays */
    bool keeps_replaced;   /* of a summary its members stay */
};

MUST_USE enum status erase_memory(struct eraser *e, const struct memory *m);
MUST_USE enum status erase_listed(struct eraser *e, const struct memory *v, size_t n);
/* Declares v and n: all that `which` gives for the text, closed ones too. */
#define MEMORIES_WITH(v, n, e, which, text)                                                        \
    SQL_ALL(struct memory, v, n, (e)->ctx, (e)->db, read_memory, (which), (e)->pool, (text))
/* Erases all of these. */
MUST_USE enum status erase_memories_with(struct eraser *e, enum sql which, str text);
/* With the memories that came from it; or these stay and lose their source. */
MUST_USE enum status erase_message(struct eraser *e, const struct message *m, bool keeps_memories);
/*
 * What was distilled from a whole session may hold what was erased from it, and so may episodes
 * that were merged with its own. They are erased, and the user's messages in all these sessions
 * wait to be distilled again.
 */
MUST_USE enum status erase_distilled(struct eraser *e, str session);
/* The index and the pool's counts follow; adds to *erased. */
MUST_USE enum status eraser_end(struct eraser *e, int64_t *erased);

/* What is forgotten, in one transaction or, with an end of its time, in several: others write in
 * between, and each finds what is left. */
struct forgetting {
    struct ctx *ctx;
    struct db *db;
    const struct forget *what; /* NULL: summaries alone */
    int64_t *erased;           /* counts on */
    int64_t until_us;          /* clock_mono_us; 0: there is no limit */
    bool is_spent;             /* the time is over, and something may be left */
    str last;                  /* id of the last memory of a kind, behind which these go on */
};
/* Marks it when its time is over. */
bool time_is_spent(struct forgetting *f);

/* What is erased batch by batch. */
struct part {
    struct forgetting *f;
    int64_t session;
    str session_id;
    size_t batch;   /* most rows of a batch */
    const str *ids; /* of memories that are left */
    size_t n_ids;
};
/* Each batch has memory of its own; one of less than w->batch rows (*n) is the last. */
MUST_USE enum status erase_in_batches(struct forgetting *f, int64_t pool, struct part work,
                                      enum status (*step)(struct eraser *e, struct part *w,
                                                          size_t *n));

/* Memories of a pool by the ids of `what`; missing ones are left out. Adds to *erased. */
MUST_USE enum status erase_each(struct ctx *ctx, struct db *db, int64_t pool,
                                const struct forget *what, int64_t *erased);
/* Runs a call that erases in a pool, from any thread: nothing of it stays in memory or in the log.
 */
MUST_USE enum status erase_by(struct ctx *ctx, struct store *s, struct pool_ref pool,
                              write_fn *call, const void *what);
