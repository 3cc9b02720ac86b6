/* erasure_log.h - the file beside the database that outlives it: what was erased, without content.
 */
#pragma once

#include "store/sql/db/query.h"
#include "store/sql/state/sql_store.h"

/* On the writer's connection, before the first task: erases again what the file has and the
 * database has not, and brings the file up to date. Of a restore a failure is one; else it is
 * logged. */
MUST_USE enum status erasure_log_open(struct ctx *ctx, struct store *s, struct db *db);
/* Behind a commit, before the call answers. A failure is logged: the next time makes up for it. */
void erasure_log_follow(struct ctx *ctx, struct store *s, struct db *db);
