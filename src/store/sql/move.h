/* move.h - rows copied from one store to another, in parts; a half copied store is not opened. */
#pragma once

#include "store/move.h"
#include "store/sql/db/db.h"

/* What is moved between two open stores, and how far that is. */
struct moving {
    struct ctx *ctx;
    const struct store_move *move;
    struct store *from, *to;
    struct store_moved *out;
    str source; /* a hash of the name of `from`, by which the same copy is known again */
    int64_t table, rows, all, done;
};
void move_show(const struct moving *m, const char *what, int64_t done, int64_t all);
/* The words index of the target is made when it is opened again. */
MUST_USE enum status move_copy(struct moving *m);
MUST_USE enum status move_compare(struct moving *m);
/* From here on the target is a store like others. */
MUST_USE enum status move_end(struct ctx *ctx, struct store *to);

MUST_USE enum status refuse_half_copied(struct ctx *ctx, struct db *db);
