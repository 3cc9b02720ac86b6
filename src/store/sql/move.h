/* move.h - rows copied from one store to another, in parts; a half copied store is not opened. */
#pragma once

#include "store/move.h"
#include "store/sql/db/db.h"

/* Of two open stores; source is the name of `from`, by which the same copy is known again. */
struct move {
    struct store *from, *to;
    str source;
    void (*progress)(void *own, const char *what, int64_t done, int64_t all); /* or NULL */
    void *own;
    struct store_moved *out;
};
/* The words index of the target is made when it is opened again. */
MUST_USE enum status move_copy(struct ctx *ctx, const struct move *move);
MUST_USE enum status move_compare(struct ctx *ctx, const struct move *move);
/* From here on the target is a store like others. */
MUST_USE enum status move_end(struct ctx *ctx, struct store *to);

MUST_USE enum status refuse_half_copied(struct ctx *ctx, struct db *db);
