/* bars.h - a bar as the words of a row in the log of erasures, and back. */
#pragma once

#include "store/bars.h"
#include "store/sql/db/query.h"

/* Puts the bar into a pool. *message: the hash of the id of the message that it is of, or 0. */
MUST_USE enum status bar_unpack(struct ctx *ctx, struct db *db, int64_t pool, str packed,
                                uint64_t *message);
/* Erases the rows that repeat what is barred, and counts them. */
MUST_USE enum status erase_what_shows(struct ctx *ctx, struct db *db, int64_t pool,
                                      const struct barring *b, int64_t *erased);
