/* token_rows.c - vectors of the tokens of texts, read when the texts are candidates, and kept. */
#include "store/sql/db/lookup.h"
#include "store/sql/search/vector_cache.h"
#include "store/sql/state/reader.h"

/*
 * They take some kilobytes a text, so only those of texts that were candidates are in memory, with
 * the vectors of the pool (vector_cache.c). Rows of tokens change together with that vector of
 * their text, so whatever follows the vectors follows them, too: what is kept is of the state that
 * the vectors in memory show. So a row is added only by a reader that sees the same state.
 */

struct looking {
    struct ctx *ctx;
    struct db *db;
    int64_t pool;
    token_vectors_see *see;
    void *what;
    struct token_store *keep; /* or NULL */
};

/* Those that are not kept: of out-of-date readers, too. places: of the docs in the caller's list.
 */
static enum status read_tokens(const struct looking *l, const doc_id *docs, const size_t *places,
                               size_t n)
{
    size_t at = 0;
    SQL_RUN(q, l->ctx, l->db, SQL_TOKENS_OF, l->pool);
    sql_list(&q, docs, n);
    while (sql_row(&q)) {
        doc_id doc = sql_get_int(&q);
        str row = sql_see_blob(&q);
        for (; docs[at] != doc; at++)
            if (l->keep)
                token_store_add(l->keep, docs[at], S(""));
        l->see(l->what, places[at++], row);
        if (l->keep)
            token_store_add(l->keep, doc, row);
    }
    TRY(sql_end(&q));
    for (; at < n && l->keep; at++)
        token_store_add(l->keep, docs[at], S(""));
    return OK;
}

static enum status look_up(struct looking *l, const struct held *h, const doc_id *docs, size_t n)
{
    struct arena *a = &l->ctx->arena;
    str *rows = NEW_N(a, str, n + 1);
    doc_id *missing = NEW_N(a, doc_id, n + 1);
    size_t *places = NEW_N(a, size_t, n + 1), n_missing = 0;
    int64_t last = -1; /* of the rows that are seen, where all is as the vectors show it */
    if (h && token_store_find(l->keep, docs, n, rows))
        TRY(SQL_NUMBER(l->ctx, l->db, &last, SQL_VECTOR_LAST, l->pool));
    for (size_t i = 0; i < n; i++) {
        if (rows[i].n)
            l->see(l->what, i, rows[i]);
        if (rows[i].p)
            continue;
        missing[n_missing] = docs[i];
        places[n_missing++] = i;
    }
    if (!h || last != h->seen)
        l->keep = NULL;
    return n_missing ? read_tokens(l, missing, places, n_missing) : OK;
}

/* Without vectors in memory, as another set begins or they take too long to be read, the rows are
 * read as they are. */
enum status store_token_vectors(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                const doc_id *docs, size_t n, token_vectors_see *see, void *what)
{
    struct lost_rows lost = {0};
    struct vector_set_row set;
    {
        READER(r, ctx, s);
        SQL_AHEAD(ctx, r.db, SQL_VECTOR_SET);
        POOL_ROW(row, ctx, r.db, pool);
        TRY(vector_set_find(ctx, r.db, &set));
        if (!set.no)
            return OK; /* then no text has any */
        CACHED(c);
        if (row.no && cached_begin(ctx, s, r.db, row.no, &set, &lost, &c))
            ctx_clear_failure(ctx);
        struct looking l = {ctx, r.db, row.no, see, what, c.held ? &c.held->tokens : NULL};
        TRY(look_up(&l, c.held, docs, n));
    }
    vector_cache_mend(ctx, s, &lost);
    return OK;
}
