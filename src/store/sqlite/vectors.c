/* vectors.c - the set of vectors, the queue of what waits for its vector, and their rows. */
#include "base/clock.h"
#include "store/sqlite/sqlite_store.h"
#include "store/vectors/row.h"

/* What of a text a vector is made of. */
enum { EMBEDDED_MAX = 8 << 10 };

/* So many rows without a vector may stay in a pool. */
enum { GONE_MAX = 1000 };

enum status vector_set_find(struct ctx *ctx, struct db *db, struct vector_set_row *out)
{
    *out = (struct vector_set_row){.set.signature = S("")};
    SQL_RUN(q, ctx, db, SQL_VECTOR_SET);
    if (sql_row(&q)) {
        out->no = sql_get_int(&q);
        out->set.signature = sql_get_text(&q);
        out->set.dimensions = (size_t)sql_get_int(&q);
        out->set.is_int8 = sql_get_int(&q) != 0;
        out->set.begun = sql_get_int(&q);
    }
    return sql_end(&q);
}

/* --- what the writer does --- */

static enum status run(struct ctx *ctx, struct db *db, enum sql which)
{
    SQL_RUN(q, ctx, db, which);
    return sql_do(&q);
}

static enum status run_1(struct ctx *ctx, struct db *db, enum sql which, int64_t number)
{
    SQL_RUN(q, ctx, db, which);
    sql_int(&q, number);
    return sql_do(&q);
}

static enum status wait_for_vector(struct ctx *ctx, struct db *db, int64_t pool, doc_id doc)
{
    SQL_RUN(q, ctx, db, SQL_VECTOR_TODO_ADD);
    sql_int(&q, doc);
    sql_int(&q, pool);
    return sql_do(&q);
}

static enum status drop_vector(struct ctx *ctx, struct db *db, doc_id doc)
{
    TRY(run_1(ctx, db, SQL_VECTOR_TODO_DELETE, doc));
    return run_1(ctx, db, SQL_VECTOR_GONE, doc);
}

/* A document that says in the end what it said before keeps what it has. */
enum status vectors_follow(struct ctx *ctx, struct db *db, const struct index_changes *changes)
{
    struct vector_set_row row;
    TRY(vector_set_find(ctx, db, &row));
    for (size_t from = 0, to; row.no && from < changes->n; from = to) {
        const struct index_change *first = &changes->v[from], *last = first;
        for (to = from + 1; to < changes->n && changes->v[to].doc == first->doc;)
            last = &changes->v[to++];
        str was = first->is_removal ? first->text : S(""),
            is = last->is_removal ? S("") : last->text;
        if (str_eq(was, is))
            continue;
        if (was.n)
            TRY(drop_vector(ctx, db, first->doc));
        if (is.n)
            TRY(wait_for_vector(ctx, db, last->pool, last->doc));
    }
    return OK;
}

/*
 * A row that a vector left behind is of use only to copies that have missed it. Where they get many
 * they go, and one with the pool's negative number says to read everything anew.
 */
enum status vectors_prune(struct ctx *ctx, struct db *db)
{
    for (int64_t pool = 1; pool;) {
        pool = 0;
        SQL_RUN(q, ctx, db, SQL_VECTOR_MANY_GONE);
        sql_int(&q, GONE_MAX);
        if (sql_row(&q))
            pool = sql_get_int(&q);
        TRY(sql_end(&q));
        if (!pool)
            break;
        TRY(run_1(ctx, db, SQL_VECTOR_DELETE_GONE, pool));
        SQL_RUN(mark, ctx, db, SQL_VECTOR_PUT);
        sql_int(&mark, -pool);
        sql_int(&mark, pool);
        sql_blob(&mark, NULL, 0);
        TRY(sql_do(&mark));
    }
    return OK;
}

struct begin {
    const struct vector_set *set;
    bool anew;
};

static bool same_set(const struct vector_set *a, const struct vector_set *b)
{
    return str_eq(a->signature, b->signature) && a->dimensions == b->dimensions &&
           a->is_int8 == b->is_int8;
}

static enum status add_set(struct ctx *ctx, struct db *db, const struct vector_set *set)
{
    SQL_RUN(q, ctx, db, SQL_VECTOR_SET_BEGIN);
    sql_text(&q, set->signature);
    sql_int(&q, (int64_t)set->dimensions);
    sql_int(&q, set->is_int8);
    sql_int(&q, clock_ms());
    return sql_do(&q);
}

static enum status begin_set(struct ctx *ctx, struct db *db, const void *what)
{
    const struct begin *b = what;
    struct vector_set_row row;
    TRY(vector_set_find(ctx, db, &row));
    if (row.no && !b->anew && same_set(&row.set, b->set))
        return run(ctx, db, SQL_VECTOR_TODO_REVIVE);
    if (!b->set->signature.n && !row.no)
        return OK;
    TRY(run(ctx, db, SQL_VECTOR_SET_END));
    TRY(run(ctx, db, SQL_VECTOR_CLEAR));
    TRY(run(ctx, db, SQL_VECTOR_TODO_CLEAR));
    if (!b->set->signature.n)
        return OK;
    TRY(add_set(ctx, db, b->set));
    TRY(run(ctx, db, SQL_VECTOR_TODO_MESSAGES));
    return run(ctx, db, SQL_VECTOR_TODO_MEMORIES);
}

struct puts {
    str signature;
    const struct vector_put *v;
    size_t n;
};

static enum status put_row(struct ctx *ctx, struct db *db, int64_t pool, const struct vector_put *v,
                           str row)
{
    SQL_RUN(q, ctx, db, SQL_VECTOR_PUT);
    sql_int(&q, v->doc);
    sql_int(&q, pool);
    sql_blob(&q, row.p, row.n);
    TRY(sql_do(&q));
    return run_1(ctx, db, SQL_VECTOR_TODO_DONE, v->no);
}

static enum status put_one(struct ctx *ctx, struct db *db, const struct vector_set *set,
                           const struct vector_put *v, char *room)
{
    int64_t pool = 0;
    SQL_RUN(find, ctx, db, SQL_VECTOR_TODO_POOL);
    sql_int(&find, v->no);
    sql_int(&find, v->doc);
    if (sql_row(&find))
        pool = sql_get_int(&find);
    TRY(sql_end(&find));
    if (!pool)
        return OK;
    if (v->v && vector_row_write(v->v, set->dimensions, set->is_int8, room))
        return put_row(ctx, db, pool, v,
                       (str){room, vector_row_size(set->dimensions, set->is_int8)});
    SQL_RUN(again, ctx, db, SQL_VECTOR_TODO_AGAIN);
    sql_int(&again, v->no);
    sql_int(&again, v->v ? 0 : v->again_at);
    return sql_do(&again);
}

static enum status put_all(struct ctx *ctx, struct db *db, const void *what)
{
    const struct puts *p = what;
    struct vector_set_row row;
    TRY(vector_set_find(ctx, db, &row));
    if (!row.no || !str_eq(row.set.signature, p->signature))
        return OK;
    char *room = arena_alloc(&ctx->arena, vector_row_size(row.set.dimensions, row.set.is_int8));
    for (size_t i = 0; i < p->n; i++)
        TRY(put_one(ctx, db, &row.set, &p->v[i], room));
    return OK;
}

/* --- the operations of the face --- */

enum status sqlite_begin_vectors(struct ctx *ctx, struct store *s, const struct vector_set *set,
                                 bool anew)
{
    TRY(writer_call(ctx, sqlite_of(s)->writer, begin_set, &(struct begin){set, anew}));
    copies_follow(sqlite_of(s), NULL);
    return OK;
}

enum status sqlite_put_vectors(struct ctx *ctx, struct store *s, str signature,
                               const struct vector_put *v, size_t n)
{
    return writer_call(ctx, sqlite_of(s)->writer, put_all, &(struct puts){signature, v, n});
}

enum status sqlite_vector_set(struct ctx *ctx, struct store *s, struct vector_set *out)
{
    struct vector_set_row row;
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    TRY(vector_set_find(ctx, r.db, &row));
    *out = row.set;
    return OK;
}

static void read_unembedded(struct query *q, struct unembedded *out)
{
    *out = (struct unembedded){0};
    out->no = sql_get_int(q);
    out->doc = sql_get_int(q);
    out->pool.user = sql_get_text(q);
    out->pool.space = sql_get_text(q);
    out->tries = sql_get_int(q);
    out->text = str_trim(utf8_cut(sql_get_text(q), EMBEDDED_MAX));
}

enum status sqlite_unembedded(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                              size_t limit, struct unembedded **out, size_t *n)
{
    struct pool_row row = {0};
    struct unembedded *v = NULL;
    size_t have = 0, cap = 0;
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    if (pool)
        TRY(pool_find(ctx, r.db, *pool, &row));
    SQL_RUN(q, ctx, r.db, pool ? SQL_VECTOR_WAITING_OF : SQL_VECTOR_WAITING);
    sql_int(&q, clock_ms());
    sql_int(&q, (int64_t)limit);
    if (pool)
        sql_int(&q, row.no);
    while (sql_row(&q)) {
        v = arena_more(&ctx->arena, v, have, &cap, sizeof *v);
        read_unembedded(&q, &v[have++]);
    }
    TRY(sql_end(&q));
    *out = v;
    *n = have;
    return OK;
}

enum status sqlite_vector_stats(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                                struct vector_stats *out)
{
    struct pool_row row = {0};
    struct vector_stats found = {0};
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    if (pool)
        TRY(pool_find(ctx, r.db, *pool, &row));
    SQL_RUN(q, ctx, r.db, pool ? SQL_VECTOR_STATS_OF : SQL_VECTOR_STATS);
    if (pool)
        sql_int(&q, row.no);
    if (sql_row(&q)) {
        found.rows = sql_get_int(&q);
        found.waiting = sql_get_int(&q);
        found.failed = sql_get_int(&q);
    }
    TRY(sql_end(&q));
    found.bytes = pool && !row.no ? 0 : (int64_t)shelf_bytes(&sqlite_of(s)->shelf, row.no);
    pthread_mutex_lock(&sqlite_of(s)->lock);
    found.unreadable = sqlite_of(s)->unreadable;
    pthread_mutex_unlock(&sqlite_of(s)->lock);
    *out = found;
    return OK;
}
