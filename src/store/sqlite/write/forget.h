/* forget.h - forgetting in the writer's transaction. */
#pragma once

#include "core/memory_ops.h"
#include "store/sqlite/write/eraser.h"

/* Erases what store_forget promises. */
MUST_USE enum status pool_forget(struct ctx *ctx, struct db *db, const struct forget *what,
                                 int64_t *erased);
/* A summary repeats what was erased, so it is erased, too. Its other members are open again. */
MUST_USE enum status undo_summaries(struct ctx *ctx, struct db *db, int64_t pool, int64_t *erased);
/* The memory is open again, unless another one has its key by now, which then closes it. */
MUST_USE enum status memory_reopen(struct eraser *e, struct memory *m);
