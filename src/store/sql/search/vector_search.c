/* vector_search.c - the nearest vectors of a pool, and how near other documents are. */
#include "store/sql/db/lookup.h"
#include "store/sql/search/vector_cache.h"
#include "store/sql/state/reader.h"
#include "store/vectors/nearest.h"
#include "store/vectors/row.h"

/*
 * Steps: bring the codes in memory up to date (cached_begin); take the nearest by codes, without
 * expired memories; where rows are float32, compute their cosines again from the rows; add the
 * documents of `also`, which the words search found; sort by document and give each message the
 * cosine of its window. All cosines are of unit vectors, so they are dot products.
 */

/* Waiting documents are counted up to here. Callers estimate what share of a pool has vectors;
 * above this they need no exact number. */
enum { WAITING_MAX = 1000 };

struct search {
    struct ctx *ctx;
    struct db *db;
    const struct vector_find *find;
    int64_t pool;
    struct vector_set_row set;
    struct among among;
};

/* Expired memories keep their vectors until they are pruned. */
static enum status find_expired(struct search *s)
{
    doc_id *v = NULL;
    size_t n = 0, cap = 0;
    SQL_RUN(q, s->ctx, s->db, SQL_MEMORY_EXPIRED, s->pool, expired_by(s->db));
    while (sql_row(&q))
        ARENA_ADD(&s->ctx->arena, v, n, cap) = DOC_MEMORY | sql_get_int(&q);
    s->among = (struct among){.messages = s->find->messages,
                              .memories = s->find->memories,
                              .without = v,
                              .n_without = n};
    return sql_end(&q);
}

/* --- exact cosines, where rows say more than the codes --- */

/* A code is rounded to one of 127 steps, which moves a cosine at 256 dimensions by 0.0006 on
 * average. Where rows are float32, some more candidates are taken and compared by their rows. */
static size_t to_take(const struct search *s)
{
    size_t n = s->find->nearest;
    return s->set.set.is_int8 ? n : n + n / 4 + 4;
}

static enum status read_cosine(struct search *s, doc_id doc, float *room, float *out)
{
    SQL_RUN(q, s->ctx, s->db, SQL_VECTOR_OF, s->pool, doc);
    if (sql_row(&q) && vector_row_read(sql_see_blob(&q), s->set.set.dimensions, room)) {
        double sum = 0;
        for (size_t i = 0; i < s->set.set.dimensions; i++)
            sum += (double)room[i] * (double)s->find->v[i];
        *out = (float)sum;
    }
    return sql_end(&q);
}

ORDER(by_cosine, struct near, DOWN(cosine));

static enum status look_closer(struct search *s, const struct codes *c, struct near *v, size_t *n)
{
    if (s->set.set.is_int8)
        return OK;
    float *room = NEW_N(&s->ctx->arena, float, s->set.set.dimensions);
    for (size_t i = 0; i < *n; i++)
        TRY(read_cosine(s, c->docs[v[i].at], room, &v[i].cosine));
    qsort(v, *n, sizeof *v, by_cosine);
    if (*n > s->find->nearest)
        *n = s->find->nearest;
    return OK;
}

/* --- hits --- */

/* A document may be both near and in `also`; the near one stands first and is kept. */
ORDER(by_doc, struct vector_hit, UP(doc) ?: DOWN(is_near));

/* Sorts the hits, keeps each document once, and gives messages their window. c is NULL without
 * vectors. */
static void finish_hits(struct vector_hits *hits, const struct codes *c, const struct question *q)
{
    size_t kept = 0;
    SORT(hits->v, hits->n, by_doc);
    for (size_t i = 0; i < hits->n; i++) {
        if (kept && hits->v[kept - 1].doc == hits->v[i].doc)
            continue;
        struct vector_hit *hit = &hits->v[kept++];
        *hit = hits->v[i];
        if (c && !doc_is_memory(hit->doc))
            hit->window = window_of(c, q, hit->doc);
    }
    hits->n = kept;
}

static void add_also(const struct search *s, struct vector_hits *hits, const struct codes *c,
                     const struct question *q)
{
    for (size_t i = 0; i < s->find->n_also; i++) {
        doc_id doc = s->find->also[i];
        size_t at = c ? codes_find(c, doc) : SIZE_MAX;
        float cosine = at == SIZE_MAX ? 0 : cosine_of(c, q, at);
        hits->v[hits->n++] = (struct vector_hit){.doc = doc, .cosine = cosine};
    }
}

static enum status look_through(struct search *s, const struct codes *c, struct vector_hits *hits)
{
    struct arena *a = &s->ctx->arena;
    struct question q = question_of(a, c, s->find->v);
    size_t n = to_take(s) < c->n ? to_take(s) : c->n;
    struct near *v = NEW_N(a, struct near, n);
    TRY(find_expired(s));
    n = nearest(a, c, &q, &s->among, n, v);
    TRY(look_closer(s, c, v, &n));
    hits->v = NEW_N(a, struct vector_hit, n + s->find->n_also);
    for (size_t i = 0; i < n; i++)
        hits->v[hits->n++] =
            (struct vector_hit){.doc = c->docs[v[i].at], .cosine = v[i].cosine, .is_near = true};
    add_also(s, hits, c, &q);
    finish_hits(hits, c, &q);
    hits->vectors = (int64_t)c->n;
    return OK;
}

/* Without a set, or with that of another model, only the documents of `also` are answered. */
static enum status search_pool(struct ctx *ctx, struct store *store, const struct vector_find *f,
                               struct lost_rows *lost, struct vector_hits *out)
{
    struct vector_hits hits = {0};
    POOL_READER(r, pool, ctx, store, f->pool);
    struct search s = {.ctx = ctx, .db = r.db, .find = f, .pool = pool.no};
    TRY(vector_set_find(ctx, r.db, &s.set));
    TRY(SQL_NUMBER(ctx, r.db, &hits.waiting, SQL_VECTOR_WAITING_COUNT, s.pool, WAITING_MAX));
    bool is_ours = s.set.no && str_eq(s.set.set.signature, f->signature) &&
                   s.set.set.dimensions == f->dimensions;
    CACHED(c);
    if (s.pool && is_ours)
        TRY(cached_begin(ctx, store, r.db, s.pool, &s.set, lost, &c));
    if (c.held) {
        TRY(look_through(&s, &c.held->codes, &hits));
    } else {
        hits.v = NEW_N(&ctx->arena, struct vector_hit, f->n_also);
        add_also(&s, &hits, NULL, NULL);
        finish_hits(&hits, NULL, NULL);
    }
    *out = hits;
    return OK;
}

enum status store_search_vectors(struct ctx *ctx, struct store *s, const struct vector_find *f,
                                 struct vector_hits *out)
{
    struct lost_rows lost = {0};
    TRY(search_pool(ctx, s, f, &lost, out));
    vector_cache_mend(ctx, s, &lost);
    return OK;
}
