/* move.h - a store that is being copied to is not opened by others. */
#pragma once

#include "store/sqlite/db/db.h"

MUST_USE enum status refuse_half_copied(struct ctx *ctx, struct db *db);
