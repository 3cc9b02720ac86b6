/* move.h - a face of the store: all rows of one database, copied to another one. */
#pragma once

#include "store/file.h"

struct store_move {
    struct store_settings from, to;
    /* May be NULL. what: a table, then "indexing", "comparing", "checking". */
    void (*progress)(void *own, const char *what, int64_t done, int64_t all);
    void *own;
};
struct store_moved {
    int64_t rows, users, resumed; /* resumed: rows that an earlier try had copied */
};

/*
 * Copies to an empty store, piece by piece, with the numbers that rows have. A call that was killed
 * is finished by the same call. Until it is finished, store_open refuses the target. Then each
 * table is counted and summed up on both sides, for each pool; CONFLICT: they differ, as they do
 * when `from` was written to meanwhile, or `to` is not empty. What can be undone stays behind.
 */
MUST_USE enum status store_move(struct ctx *ctx, const struct store_move *move,
                                struct store_moved *out);
