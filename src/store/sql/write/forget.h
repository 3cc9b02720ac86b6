/* forget.h - forgetting in the writer's transaction. */
#pragma once

#include "core/memory_ops.h"
#include "store/sql/write/eraser.h"

/* How many documents that concerns, and whether so many that their words are only marked, and the
 * index is rewritten behind it. */
MUST_USE enum status forget_measure(struct ctx *ctx, struct db *db, const struct forget *what,
                                    int64_t *documents, bool *rewrites);
/* Erases until all is gone or the time is spent. Each time leaves a store that is sound, as if
 * only so much had been asked for. With rewrites the words are still in the index. */
MUST_USE enum status forget_some(struct forgetting *f, bool rewrites);

/* Erases what store_forget promises, with its words. */
MUST_USE enum status pool_forget(struct ctx *ctx, struct db *db, const struct forget *what,
                                 int64_t *erased);
/* A summary repeats what was erased, so it is erased, too. Its other members are open again. */
MUST_USE enum status undo_summaries(struct ctx *ctx, struct db *db, int64_t pool, int64_t *erased);
/* The memory is open again, unless another one has its key by now, which then closes it. */
MUST_USE enum status memory_reopen(struct eraser *e, struct memory *m);
/* A title that was made of the message goes with it, also where an older copy brings both back. */
MUST_USE enum status leave_title(const struct forgetting *f, int64_t pool, const struct message *m);
