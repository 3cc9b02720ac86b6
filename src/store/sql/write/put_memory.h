/* put_memory.h - memories put into a pool, by a rule for those that are there already. */
#pragma once

#include "core/index.h"
#include "store/sql/db/lookup.h"
#include "store/write.h"

/* What is being put into a pool, and what the pool gains by it. */
struct put {
    struct ctx *ctx;
    struct db *db;
    struct index_changes *changes;
    int64_t pool, now;
    str space; /* of the pool */
    enum put_rule rule;
    bool keeps_metadata; /* of turns and imports, if too large when merged; else TOO_LARGE */
    struct pool_gain gain;
    size_t added, replaced;
};

/* Sets m's id, doc and times. */
MUST_USE enum status memory_put(struct put *p, struct memory *m, struct index_text words);
/* CONFLICT: another open memory has its key. */
MUST_USE enum status memory_check_key(struct ctx *ctx, struct db *db, int64_t pool,
                                      const struct memory *m);
/* It is true no more, in favour of another one. */
MUST_USE enum status memory_close(struct put *p, const struct memory *old, const struct memory *by);
