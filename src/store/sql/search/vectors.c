/* vectors.c - sets of vectors begun, the queue of texts that wait for one, vectors kept. */
#include "base/clock.h"
#include "base/utf8.h"
#include "store/sql/db/lookup.h"
#include "store/sql/index/vector_set.h"
#include "store/sql/search/vector_cache.h"
#include "store/sql/state/reader.h"
#include "store/sql/state/writer.h"
#include "store/vectors/row.h"

/*
 * The life of a vector: a text changes and is queued (index/vector_set.c), a worker takes it
 * (store_unembedded), computes a vector outside any transaction, and puts it here. Nothing is
 * locked in between: an entry whose text changed has another number, and a set that changed has
 * another signature; in both cases the vector is dropped.
 */

/* Bytes of a text that its vector is made of. The models read at most 512 tokens, about 2 KB;
 * servers with longer limits get four times that. */
enum { EMBEDDED_MAX = 8 << 10 };

struct begin {
    const struct vector_set *set;
    bool anew;
};

/* Vectors of two models cannot be compared, so the old ones are deleted at once. Same set: texts
 * that were given up are tried again. An empty signature ends vectors for this store. Of several
 * servers those that write to any pool end first, or wait: what one of them erases or adds would
 * otherwise be queued for ever, or never. */
static enum status begin_set(struct ctx *ctx, struct db *db, const void *what)
{
    const struct begin *b = what;
    struct vector_set_row row;
    if (is_postgres(db))
        TRY(db_exec(ctx, db, "LOCK TABLE pool IN EXCLUSIVE MODE"));
    TRY(vector_set_find(ctx, db, &row));
    bool is_same = str_eq(row.set.signature, b->set->signature) &&
                   row.set.dimensions == b->set->dimensions && row.set.is_int8 == b->set->is_int8;
    if (row.no && !b->anew && is_same)
        return SQL_DO(ctx, db, SQL_VECTOR_TODO_REVIVE);
    if (!b->set->signature.n && !row.no)
        return OK;
    assert(db_in_transaction(db));
    TRY(SQL_DO(ctx, db, SQL_VECTOR_SET_END));
    TRY(SQL_DO(ctx, db, SQL_VECTOR_CLEAR));
    TRY(SQL_DO(ctx, db, SQL_VECTOR_TODO_CLEAR));
    if (!b->set->signature.n)
        return OK;
    TRY(SQL_DO(ctx, db, SQL_VECTOR_SET_BEGIN, b->set->signature, b->set->dimensions,
               b->set->is_int8, clock_ms()));
    TRY(SQL_DO(ctx, db, SQL_VECTOR_TODO_MESSAGES));
    return SQL_DO(ctx, db, SQL_VECTOR_TODO_MEMORIES);
}

struct puts {
    str signature;
    const struct vector_put *v;
    size_t n;
};

/* The number in the queue changes with the text, so a vector of the old text finds no entry. */
static enum status put_one(struct ctx *ctx, struct db *db, const struct vector_set *set,
                           const struct vector_put *v, char *room)
{
    int64_t pool;
    TRY(SQL_NUMBER(ctx, db, &pool, SQL_VECTOR_TODO_POOL, v->no, v->doc));
    if (!pool)
        return OK;
    if (!v->v || !vector_row_write(v->v, set->dimensions, set->is_int8, room))
        return SQL_LATER(ctx, db, SQL_VECTOR_TODO_AGAIN, v->no, v->v ? 0 : v->again_at);
    TRY(SQL_LATER(ctx, db, SQL_VECTOR_PUT, v->doc, pool,
                  blob_at(room, vector_row_size(set->dimensions, set->is_int8))));
    if (v->tokens.n)
        TRY(SQL_LATER(ctx, db, SQL_TOKENS_PUT, v->doc, pool, blob_of(v->tokens)));
    return SQL_LATER(ctx, db, SQL_VECTOR_TODO_DONE, v->no);
}

/* The set may have changed while the vectors were made; they are dropped then. */
static enum status put_all(struct ctx *ctx, struct db *db, const void *what)
{
    const struct puts *p = what;
    struct vector_set_row row;
    TRY(vector_set_find(ctx, db, &row));
    if (!row.no || !str_eq(row.set.signature, p->signature))
        return OK;
    assert(db_in_transaction(db));
    char *room = arena_alloc(&ctx->arena, vector_row_size(row.set.dimensions, row.set.is_int8));
    for (size_t i = 0; i < p->n; i++)
        TRY(put_one(ctx, db, &row.set, &p->v[i], room));
    return OK;
}

enum status store_begin_vectors(struct ctx *ctx, struct store *s, const struct vector_set *set,
                                bool anew)
{
    if (set->signature.n && (!set->dimensions || set->dimensions > VECTOR_DIMENSIONS_MAX))
        return fail(ctx, BAD_INPUT, "vectors have 1 to %d dimensions", VECTOR_DIMENSIONS_MAX);
    struct begin begin = {set, anew};
    struct task t = {.ctx = ctx, .call = begin_set, .what = &begin, .is_alone = true};
    TRY(writer_run(s->writer, &t));
    vector_cache_follow(s, NULL);
    return OK;
}

enum status store_put_vectors(struct ctx *ctx, struct store *s, str signature,
                              const struct vector_put *v, size_t n)
{
    struct puts puts = {signature, v, n};
    struct task t = {.ctx = ctx, .call = put_all, .what = &puts, .is_early = true};
    return writer_run(s->writer, &t);
}

enum status store_vector_set(struct ctx *ctx, struct store *s, struct vector_set *out)
{
    struct vector_set_row row;
    READER(r, ctx, s);
    TRY(vector_set_find(ctx, r.db, &row));
    *out = row.set;
    return OK;
}

/* A model reads only the beginning of a long text. */
static void read_unembedded(struct query *q, struct unembedded *out)
{
    *out = (struct unembedded){0};
    SQL_GET(q, out->no, out->doc, out->pool.user, out->pool.space, out->tries);
    out->text = str_trim(utf8_cut(sql_get_text(q), EMBEDDED_MAX));
}

enum status store_unembedded(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                             size_t limit, struct unembedded **out, size_t *n)
{
    struct pool_row row = {0};
    READER(r, ctx, s);
    if (pool)
        TRY(pool_find(ctx, r.db, *pool, &row));
    SQL_RUN(q, ctx, r.db, pool ? SQL_VECTOR_WAITING_OF : SQL_VECTOR_WAITING, clock_ms(), limit);
    if (pool)
        sql_int(&q, row.no);
    return SQL_ROWS(&q, read_unembedded, out, n);
}

enum status store_vector_stats(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                               struct vector_stats *out)
{
    struct pool_row row = {0};
    *out = (struct vector_stats){0};
    READER(r, ctx, s);
    if (pool)
        TRY(pool_find(ctx, r.db, *pool, &row));
    SQL_RUN(q, ctx, r.db, pool ? SQL_VECTOR_STATS_OF : SQL_VECTOR_STATS);
    if (pool)
        sql_int(&q, row.no);
    TRY(SQL_GET_ROW(&q, out->rows, out->waiting, out->failed));
    out->bytes = pool && !row.no ? 0 : (int64_t)shelf_bytes(&s->shelf, row.no);
    return OK;
}
