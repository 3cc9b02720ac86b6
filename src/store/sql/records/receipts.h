/* receipts.h - the record of a recall, kept in the writer's transaction. */
#pragma once

#include "core/memory.h"
#include "store/sql/db/db.h"

/* Left out when it shows a memory that was forgotten meanwhile. was_queued: the same receipt may be
 * there already. */
MUST_USE enum status receipt_put(struct ctx *ctx, struct db *db, int64_t pool,
                                 const struct receipt *r, bool was_queued);
