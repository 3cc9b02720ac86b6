/* vector_search.c - the nearest vectors of a pool. */
#include <math.h>

#include "base/clock.h"
#include "store/sqlite/sqlite_store.h"
#include "store/vectors/row.h"

/* What waits is counted no further in a search. */
enum { WAITING_MAX = 1000 };

struct entry {
    doc_id doc;
    float *v;
    float cosine;
};

struct table {
    size_t dimensions, n, cap;
    struct entry *v; /* ascending by doc */
};

static int by_doc(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->doc < y->doc ? -1 : x->doc > y->doc;
}

static float dot(const float *a, const float *b, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static enum status load(struct ctx *ctx, struct db *db, int64_t pool, const struct vector_set *set,
                        struct table *t)
{
    SQL_RUN(q, ctx, db, SQL_VECTOR_SINCE);
    sql_int(&q, pool);
    sql_int(&q, 0);
    while (sql_row(&q)) {
        (void)sql_get_int(&q);
        struct entry e = {.doc = sql_get_int(&q)};
        str row = sql_see_blob(&q);
        e.v = row.n ? NEW_N(&ctx->arena, float, set->dimensions) : NULL;
        if (!e.v || !vector_row_read(row, set->dimensions, set->is_int8, e.v))
            continue;
        t->v = arena_more(&ctx->arena, t->v, t->n, &t->cap, sizeof *t->v);
        t->v[t->n++] = e;
    }
    t->dimensions = set->dimensions;
    if (t->n)
        qsort(t->v, t->n, sizeof *t->v, by_doc);
    return sql_end(&q);
}

static const struct entry *entry_of(const struct table *t, doc_id doc)
{
    struct entry key = {.doc = doc};
    return t->n ? bsearch(&key, t->v, t->n, sizeof *t->v, by_doc) : NULL;
}

static float window_of(struct ctx *ctx, const struct table *t, const float *v, doc_id doc)
{
    if (doc_is_memory(doc))
        return 0;
    float *sum = NEW_N(&ctx->arena, float, t->dimensions);
    for (doc_id d = doc - 2; d <= doc + 1; d++) {
        const struct entry *e = entry_of(t, d);
        for (size_t i = 0; e && doc_session(d) == doc_session(doc) && i < t->dimensions; i++)
            sum[i] += e->v[i];
    }
    float length = sqrtf(dot(sum, sum, t->dimensions));
    return length > 0 ? dot(sum, v, t->dimensions) / length : 0;
}

static int by_cosine(const void *a, const void *b)
{
    const struct vector_hit *x = a, *y = b;
    return x->cosine > y->cosine ? -1 : x->cosine < y->cosine;
}

static int hit_by_doc(const void *a, const void *b)
{
    const struct vector_hit *x = a, *y = b;
    if (x->doc != y->doc)
        return x->doc < y->doc ? -1 : 1;
    return y->is_near - x->is_near;
}

static enum status count_waiting(struct ctx *ctx, struct db *db, int64_t pool, int64_t *out)
{
    *out = 0;
    SQL_RUN(q, ctx, db, SQL_VECTOR_WAITING_COUNT);
    sql_int(&q, pool);
    sql_int(&q, WAITING_MAX);
    if (sql_row(&q))
        *out = sql_get_int(&q);
    return sql_end(&q);
}

static enum status drop_expired(struct ctx *ctx, struct db *db, int64_t pool, struct table *t)
{
    SQL_RUN(q, ctx, db, SQL_MEMORY_EXPIRED);
    sql_int(&q, pool);
    sql_int(&q, clock_ms());
    while (sql_row(&q)) {
        const struct entry *e = entry_of(t, DOC_MEMORY | sql_get_int(&q));
        if (!e)
            continue;
        size_t at = (size_t)(e - t->v);
        memmove(&t->v[at], &t->v[at + 1], (--t->n - at) * sizeof *t->v);
    }
    return sql_end(&q);
}

static void find(struct ctx *ctx, const struct table *t, const struct vector_find *f,
                 struct vector_hits *out)
{
    struct vector_hit *v = NEW_N(&ctx->arena, struct vector_hit, t->n + f->n_also);
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < t->n; i++)
        if (doc_is_memory(t->v[i].doc) ? f->memories : f->messages)
            v[n++] = (struct vector_hit){t->v[i].doc, dot(t->v[i].v, f->v, t->dimensions), 0, true};
    qsort(v, n, sizeof *v, by_cosine);
    n = n < f->nearest ? n : f->nearest;
    for (size_t i = 0; i < f->n_also; i++) {
        const struct entry *e = entry_of(t, f->also[i]);
        v[n++] = (struct vector_hit){f->also[i], e ? dot(e->v, f->v, t->dimensions) : 0, 0, false};
    }
    qsort(v, n, sizeof *v, hit_by_doc);
    for (size_t i = 0; i < n; i++) {
        if (kept && v[kept - 1].doc == v[i].doc)
            continue;
        v[kept] = v[i];
        v[kept].window = window_of(ctx, t, f->v, v[i].doc);
        kept++;
    }
    out->v = v;
    out->n = kept;
}

enum status sqlite_search_vectors(struct ctx *ctx, struct store *s, const struct vector_find *f,
                                  struct vector_hits *out)
{
    struct vector_hits hits = {0};
    struct pool_row pool;
    struct vector_set_row row;
    struct table t = {.dimensions = f->dimensions};
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    TRY(pool_find(ctx, r.db, f->pool, &pool));
    TRY(vector_set_find(ctx, r.db, &row));
    TRY(count_waiting(ctx, r.db, pool.no, &hits.waiting));
    if (row.no && str_eq(row.set.signature, f->signature) && row.set.dimensions == f->dimensions)
        TRY(load(ctx, r.db, pool.no, &row.set, &t));
    hits.vectors = (int64_t)t.n;
    TRY(drop_expired(ctx, r.db, pool.no, &t));
    find(ctx, &t, f, &hits);
    *out = hits;
    return OK;
}
