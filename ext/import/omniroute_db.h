/* omniroute_db.h - reading the memories in a database file of OmniRoute. */
#pragma once

#include "core/memory.h"

/* What one row of OmniRoute's table memories (or its older memory) says; it may lack its content or
 * id. owner is its key's id, or "". */
struct omniroute_row {
    str owner;
    struct memory memory;
};

/* Called for each row, which lives until it returns; a failure ends the reading. */
typedef enum status omniroute_row_fn(struct ctx *ctx, void *own, const struct omniroute_row *row,
                                     int64_t done, int64_t all);

/*
 * Reads the file owner by owner, the oldest memory first, without changing anything in its folder.
 * NOT_FOUND: the file does not exist, or holds neither table.
 */
MUST_USE enum status omniroute_db_read(struct ctx *ctx, str path, omniroute_row_fn *row, void *own);
