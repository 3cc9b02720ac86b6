/* word_blocks_check.c - a check that the blocks of the words index hold exactly the words of rows.
 */
#include "store/sql/index/word_blocks.h"

#include "store/sql/index/fresh_words.h"
#include "store/sql/index/words.h"

/*
 * As in words_check.c: both sides are a set, here of (pool, word, document, counts), whose hashes
 * are added up.
 */
/* --- what the rows say --- */

static enum status add_document(struct ctx *ctx, void *own, int64_t pool, doc_id doc,
                                const struct index_text *text)
{
    struct doc_words words = doc_words_of(&ctx->arena, text);
    for (size_t i = 0; i < words.n; i++)
        hash_add(own, words.v[i].word, pool, doc, words.v[i].counts);
    return OK;
}

/* --- what the index says --- */

static enum status sum_blocks(struct ctx *ctx, struct db *db, struct hash_sum *sum,
                              int64_t *damaged)
{
    CLEANUP(ctx_free) struct ctx row = ctx_child(ctx, 0);
    SQL_RUN(q, &row, db, SQL_POSTING_ALL);
    while (sql_row(&q)) {
        int64_t pool = sql_get_int(&q), n = 0;
        str word = sql_see_blob(&q);
        struct posting e = {.doc = sql_get_int(&q)};
        int64_t says = sql_get_int(&q);
        str rest = sql_see_blob(&q);
        struct block_word fresh;
        for (; word.n && block_next(&rest, &e); n++)
            hash_add(sum, word, pool, e.doc, e.counts);
        for (; !word.n && block_next_word(&rest, &fresh); n++)
            hash_add(sum, fresh.word, pool, e.doc, fresh.counts);
        *damaged += n != says;
    }
    return ctx_pass(ctx, &row, sql_end(&q));
}

enum status word_blocks_check(struct ctx *ctx, struct db *db, struct buf *findings)
{
    struct hash_sum rows = {0}, blocks = {0};
    int64_t damaged = 0, miscounted;
    TRY(words_each(ctx, db, add_document, &rows));
    TRY(sum_blocks(ctx, db, &blocks, &damaged));
    TRY(SQL_NUMBER(ctx, db, &miscounted, SQL_POSTING_FRESH_WRONG));
    if (rows.n != blocks.n || rows.hash != blocks.hash)
        buf_printf(findings, "the words index has %lld words of documents, the rows have %lld%s\n",
                   (long long)blocks.n, (long long)rows.n, rows.n == blocks.n ? " others" : "");
    if (damaged + miscounted)
        buf_printf(findings, "%lld rows of the words index count wrongly\n",
                   (long long)(damaged + miscounted));
    return OK;
}
