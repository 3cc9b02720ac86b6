/* forget_long.h - forgetting so much that it takes several transactions. */
#pragma once

#include "store/sql/db/query.h"
#include "store/sql/state/sql_store.h"

/* On the writer's connection, before the first task: finishes what a killed process had begun to
 * erase. */
MUST_USE enum status forgets_finish(struct ctx *ctx, struct sql_store *s, struct db *db);
/* Drops the rows of calls of this process that failed, and could not drop them. */
MUST_USE enum status forgets_drop(struct ctx *ctx, struct sql_store *s);
