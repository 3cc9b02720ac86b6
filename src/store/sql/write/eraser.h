/* eraser.h - rows erased with what was found, made or shown of them, batch by batch. */
#pragma once

#include "core/memory_ops.h"
#include "store/sql/db/query.h"
#include "store/sql/index/index.h"

/* Rows that are erased before their words are, in one go. */
enum { ERASE_BATCH = 256, ERASE_FEW = 16, ERASE_BLOCKS = 2048, ERASE_FEW_BLOCKS = 128 };

/* One batch. */
struct eraser {
    struct ctx *ctx;
    struct db *db;
    int64_t pool;
    struct index_changes changes;
    int64_t messages, memories, closed;
    bool is_expiry; /* what is erased had ended: nobody has forgotten it */
};

MUST_USE enum status erase_memory(struct eraser *e, const struct memory *m);
MUST_USE enum status erase_listed(struct eraser *e, const struct memory *v, size_t n);
/* All that `which` gives for the text, closed ones too. */
MUST_USE enum status erase_memories_with(struct eraser *e, enum sql which, str text);
MUST_USE enum status memories_with(struct eraser *e, enum sql which, str text, struct memory **out,
                                   size_t *n);
/* With the memories that came from it; or these stay and lose their source. */
MUST_USE enum status erase_message(struct eraser *e, const struct message *m, bool keeps_memories);
/*
 * A session that lost something loses what was made of it as a whole, and the episodes that were
 * merged with its own. What the user said in these sessions waits to be distilled again.
 */
MUST_USE enum status erase_distilled(struct eraser *e, str session);
/* The index and the pool's counts follow; adds to *erased. */
MUST_USE enum status eraser_end(struct eraser *e, int64_t *erased);

/* How long an erasure may take before other writes have their turn; then it goes on in another
 * transaction, where it finds what is left. */
struct budget {
    int64_t until_us; /* clock_mono_us */
    bool is_spent;    /* something may be left */
};
/* NULL: there is no limit. Marks the budget when its time is over. */
bool budget_is_spent(struct budget *b);

/* What is erased batch by batch. */
struct part {
    struct arena *arena; /* of what stays from one batch to the next */
    int64_t session;
    str session_id;
    const struct forget *what;
    struct budget *budget; /* or NULL */
    size_t batch;          /* most rows of a batch */
    const str *ids;        /* of memories that are left */
    size_t n_ids;
    str *last; /* id of the batch before; it may be one of the transaction before */
};
/* Each batch has memory of its own; one of less than w->batch rows (*n) is the last. */
MUST_USE enum status erase_in_batches(
    struct ctx *ctx, struct db *db, int64_t pool, struct part work,
    enum status (*step)(struct eraser *e, struct part *w, size_t *n), int64_t *erased);

/* Memories of a pool by their ids; missing ones are left out. Adds to *erased. */
MUST_USE enum status erase_each(struct ctx *ctx, struct db *db, int64_t pool, const str *ids,
                                size_t n, int64_t *erased);
