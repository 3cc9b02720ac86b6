/* erase_again.h - rows that the log of erasures names, erased from an older database. */
#pragma once

#include "store/sql/records/erasure.h"

/* In the writer's transaction: by the rows behind that number. *erased counts rows. */
MUST_USE enum status erase_again(struct ctx *ctx, struct db *db, const struct erasure_key *key,
                                 int64_t behind, int64_t *erased);
