/* vector_set.h - the set of vectors in force, and how its rows follow the documents. */
#pragma once

#include "store/sql/index/index.h"
#include "store/vectors.h"

/* The set in force; no is 0 when there is none. */
struct vector_set_row {
    int64_t no;
    struct vector_set set;
};
MUST_USE enum status vector_set_find(struct ctx *ctx, struct db *db, struct vector_set_row *out);
/* Documents whose text changed wait for a new vector. The changes are in the order of documents. */
MUST_USE enum status vectors_follow(struct ctx *ctx, struct db *db,
                                    const struct index_changes *changes);
/* Removes rows that erased vectors left behind, once there are many. */
MUST_USE enum status vectors_prune(struct ctx *ctx, struct db *db);
