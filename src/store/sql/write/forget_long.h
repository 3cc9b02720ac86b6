/* forget_long.h - forgetting so much that it takes several transactions. */
#pragma once

#include "store/sql/db/query.h"
#include "store/sql/state/sql_store.h"

/* On the writer's connection, before the first task: finishes what a killed process had begun to
 * erase, unless the user's messages or memories are others since. */
MUST_USE enum status forgets_finish(struct ctx *ctx, struct store *s, struct db *db);
/* The same while others write, also for calls of this process that failed. */
MUST_USE enum status forgets_resume(struct ctx *ctx, struct store *s);
