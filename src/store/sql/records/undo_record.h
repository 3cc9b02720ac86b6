/* undo_record.h - recording what a task erases and changes, so that it can be undone. */
#pragma once

#include "core/memory_ops.h"
#include "store/sql/db/query.h"

/* Of a scope: begins before the first change, and is thrown away unless undo_record_end is reached.
 * Without a mark nothing is recorded. */
#define UNDO_RECORD(r) CLEANUP(undo_record_leave) sqlite3_session *r = NULL

MUST_USE enum status undo_record_begin(struct ctx *ctx, struct db *db, const struct undo_mark *mark,
                                       sqlite3_session **r);
/* Keeps what was recorded. TOO_LARGE when that is more than may be kept. */
MUST_USE enum status undo_record_end(struct ctx *ctx, struct db *db, int64_t pool,
                                     const struct undo_mark *mark, sqlite3_session *r);
void undo_record_leave(sqlite3_session **r);
