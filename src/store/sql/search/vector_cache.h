/* vector_cache.h - the vectors of pools in memory, which follow the rows. */
#pragma once

#include "store/sql/index/vector_set.h"
#include "store/sql/state/sql_store.h"

/* Damaged rows that were read; vector_cache_mend has their vectors made again. */
struct lost_row {
    int64_t seq, pool;
    doc_id doc;
};
struct lost_rows {
    struct lost_row *v;
    size_t n, cap;
};

/* A pool's vectors, which nobody changes during a scope; held is NULL when another set has begun
 * meanwhile. */
struct cached {
    struct store *s;
    struct held *held;
};

#define CACHED(c) CLEANUP(cached_end) struct cached c = {0}

/* All that db sees of a pool. */
MUST_USE enum status cached_begin(struct ctx *ctx, struct store *s, struct db *db, int64_t pool,
                                  const struct vector_set_row *set, struct lost_rows *lost,
                                  struct cached *out);
void cached_end(struct cached *c);
/* Not while a reader or cached vectors are in use. */
void vector_cache_mend(struct ctx *ctx, struct store *s, const struct lost_rows *lost);
/* Erased vectors leave memory: those of that pool, or (NULL) of all. */
void vector_cache_follow(struct store *s, const struct pool_ref *pool);
