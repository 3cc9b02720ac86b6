/* tombstone_writer.h - Writes tombstones of what is forgotten, in the messages that state it. */
#pragma once

#include "engine/recall/tombstones.h"

/* What is barred. */
struct barring_in {
    struct pool_ref pool;
    enum bar_reason reason;
    int64_t at;                    /* what is said from then on is said anew; 0: from now on */
    const struct memory *memories; /* what they say, wherever the pool's messages say it */
    size_t n;
    const struct message *erased; /* every sentence of it, too; or NULL */
    const struct undo_mark *undo; /* of the deletion or change that it belongs to; or NULL */
};

/* Bars it, durably. What a newer value superseded is history: it leaves recall, and nothing is
 * erased; of other reasons nothing is erased but what was made of the messages' sessions as a
 * whole, and receipts that show the messages. *barred (or NULL) counts the sentences found. */
MUST_USE enum status bar_statements(struct ctx *ctx, struct engine *e, const struct barring_in *in,
                                    int64_t *barred);

/* What messages state of a memory that a newer value under its key has closed; nothing when old has
 * no id or says the same. */
MUST_USE enum status bar_superseded(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                    const struct memory *old, const struct memory *by);

/* Everything that was said in the pool so far. */
MUST_USE enum status bar_everything(struct ctx *ctx, struct engine *e, struct pool_ref pool);
