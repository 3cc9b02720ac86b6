/* vector_pairs.c - documents of a pool with vectors that are near each other. */
#include "store/sql/db/lookup.h"
#include "store/sql/search/vector_cache.h"
#include "store/sql/state/reader.h"
#include "store/vectors/nearest.h"
#include "store/vectors/row.h"

/*
 * For finding duplicates among memories. The chosen codes are copied under the lock of the pool and
 * compared without it, as comparing all pairs takes time by the square of their number.
 */

/* Collects the documents that have a vector, in their order; place says which one each row is. */
static void gather_codes(const struct codes *all, const doc_id *docs, size_t n, struct codes *out,
                         uint32_t *place)
{
    int16_t row[VECTOR_LANES_MAX];
    int8_t codes[VECTOR_LANES_MAX];
    codes_begin(out, all->dimensions);
    codes_reserve(out, n);
    for (size_t i = 0; i < n; i++) {
        size_t at = codes_find(all, docs[i]);
        if (at == SIZE_MAX || codes_find(out, docs[i]) != SIZE_MAX)
            continue;
        codes_row(all, at, row);
        for (size_t k = 0; k < all->lanes; k++)
            codes[k] = (int8_t)row[k];
        place[out->n] = (uint32_t)i;
        codes_put(out, docs[i], codes, all->scales[at]);
    }
}

/* Copied, so that searches need not wait until all pairs are compared. */
static enum status copy_rows(struct ctx *ctx, struct store *s, struct pool_ref pool,
                             const doc_id *docs, size_t n, struct lost_rows *lost,
                             struct codes *out, uint32_t *place)
{
    struct vector_set_row set;
    POOL_READER(r, row, ctx, s, pool);
    TRY(vector_set_find(ctx, r.db, &set));
    CACHED(c);
    if (row.no && set.no)
        TRY(cached_begin(ctx, s, r.db, row.no, &set, lost, &c));
    if (c.held)
        gather_codes(&c.held->codes, docs, n, out, place);
    return OK;
}

enum status store_vector_pairs(struct ctx *ctx, struct store *s, struct pool_ref pool,
                               const doc_id *docs, size_t n, float least, size_t each,
                               struct vector_pairs *out)
{
    struct lost_rows lost = {0};
    struct codes c = {0};
    uint32_t *place = NEW_N(&ctx->arena, uint32_t, n + 1);
    TRY(copy_rows(ctx, s, pool, docs, n, &lost, &c, place));
    vector_cache_mend(ctx, s, &lost);
    struct vector_pairs pairs = {.has_vector = NEW_N(&ctx->arena, bool, n + 1)};
    for (size_t i = 0; i < c.n; i++)
        pairs.has_vector[place[i]] = true;
    bool is_whole = nearest_pairs(&ctx->arena, &c, least, each, ctx->deadline_us, &pairs);
    codes_free(&c);
    if (!is_whole)
        return fail(ctx, TIMED_OUT, "the vectors could not be compared in time");
    for (size_t i = 0; i < pairs.n; i++) {
        pairs.v[i].one = place[pairs.v[i].one];
        pairs.v[i].other = place[pairs.v[i].other];
    }
    *out = pairs;
    return OK;
}
