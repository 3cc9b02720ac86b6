/* token_rows.c - vectors of the tokens of a text, read when the text is a candidate. */
#include "store/sqlite/db/lookup.h"
#include "store/sqlite/state/reader.h"

/*
 * They take some kilobytes a text, so they are not kept in memory as those of whole texts are. The
 * rows of one search lie near each other, and SQLite keeps their pages.
 */
enum status sqlite_token_vectors(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                 const doc_id *docs, size_t n, str *out)
{
    struct pool_row row;
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    TRY(pool_find(ctx, r.db, pool, &row));
    for (size_t i = 0; i < n; i++) {
        SQL_RUN(q, ctx, r.db, SQL_TOKENS_OF, docs[i], row.no);
        out[i] = sql_row(&q) ? str_dup(&ctx->arena, sql_see_blob(&q)) : S("");
        TRY(sql_end(&q));
    }
    return OK;
}
