/* bars.h - a bar as the words of a row in the log of erasures, and back. */
#pragma once

#include "store/bars.h"
#include "store/sql/db/query.h"

/* Puts the bar into a pool. */
MUST_USE enum status bar_unpack(struct ctx *ctx, struct db *db, int64_t pool, str packed);
