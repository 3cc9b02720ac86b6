/* move.h - the copy of one store in another that is not finished. */
#pragma once

#include "store/sql/db/db.h"

/* STORAGE where rows of another store are still being copied to this one. */
MUST_USE enum status refuse_half_copied(struct ctx *ctx, struct db *db);
