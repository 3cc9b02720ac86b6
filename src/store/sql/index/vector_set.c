/* vector_set.c - the set of vectors in force; documents that change wait for a new vector. */
#include "store/sql/index/vector_set.h"

#include "store/sql/db/query.h"

/*
 * Vectors of a store belong to one set: a signature (source, model, dimensions) and a form (float32
 * or int8). A document whose text changes loses its vector in the same transaction and gets an
 * entry in the queue vector_todo, which the engine works off; nothing here computes a vector.
 */

/* How many rows without a vector may stay in a pool. Each costs some bytes on disk and a step for
 * caches that start from the beginning. */
enum { GONE_MAX = 1000 };

enum status vector_set_find(struct ctx *ctx, struct db *db, struct vector_set_row *out)
{
    *out = (struct vector_set_row){.set.signature = S("")};
    SQL_RUN(q, ctx, db, SQL_VECTOR_SET);
    return SQL_GET_ROW(&q, out->no, out->set.signature, out->set.dimensions, out->set.is_int8,
                       out->set.begun);
}

/* --- what the writer does --- */

/* The first and the last change of a document decide: one whose text is the same afterwards keeps
 * its vector. */
enum status vectors_follow(struct ctx *ctx, struct db *db, const struct index_changes *changes)
{
    struct vector_set_row row;
    TRY(vector_set_find(ctx, db, &row));
    for (size_t from = 0, to; row.no && from < changes->n; from = to) {
        const struct index_change *first = &changes->v[from], *last = first;
        for (to = from + 1; to < changes->n && changes->v[to].doc == first->doc;)
            last = &changes->v[to++];
        assert(to == changes->n || changes->v[to].doc > first->doc);
        str was = first->is_removal ? first->text : S(""),
            is = last->is_removal ? S("") : last->text;
        if (str_eq(was, is))
            continue;
        if (was.n) {
            TRY(SQL_LATER(ctx, db, SQL_VECTOR_TODO_DELETE, first->doc, first->pool));
            TRY(SQL_LATER(ctx, db, SQL_VECTOR_GONE, first->doc, first->pool));
        }
        if (is.n)
            TRY(SQL_LATER(ctx, db, SQL_VECTOR_TODO_ADD, last->doc, last->pool));
    }
    return OK;
}

/* A row without a vector only informs caches that have missed the removal. When a pool has many,
 * they are deleted, and a row with the negative number of the pool makes caches read it from the
 * beginning. */
enum status vectors_prune(struct ctx *ctx, struct db *db)
{
    for (;;) {
        int64_t pool;
        TRY(SQL_NUMBER(ctx, db, &pool, SQL_VECTOR_MANY_GONE, GONE_MAX));
        if (!pool)
            return OK;
        TRY(SQL_DO(ctx, db, SQL_VECTOR_DELETE_GONE, pool));
        TRY(SQL_DO(ctx, db, SQL_VECTOR_PUT, -pool, pool, blob_at(NULL, 0)));
    }
}
