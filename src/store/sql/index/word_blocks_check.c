/* word_blocks_check.c - a check that the blocks of the words index hold exactly the words of rows.
 */
#include "store/sql/index/word_blocks.h"

#include "store/sql/index/fresh_words.h"
#include "store/sql/index/words.h"

/*
 * As in words_check.c: both sides are a set, here of (pool, word, document, counts), whose hashes
 * are added up.
 */
struct sum {
    uint64_t hash;
    int64_t n;
};

static void add_posting(struct sum *sum, int64_t pool, str word, struct block_entry e)
{
    uint64_t h = str_hash(word);
    int64_t parts[] = {pool, e.doc, e.counts};
    for (size_t i = 0; i < 3; i++) {
        h ^= (uint64_t)parts[i] * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
        h *= 0xD6E8FEB86659FD93u;
        h ^= h >> 32;
    }
    sum->hash += h;
    sum->n++;
}

/* --- what the rows say --- */

static enum status add_document(struct ctx *ctx, void *own, int64_t pool, doc_id doc,
                                const struct index_text *text)
{
    struct doc_words words = doc_words_of(&ctx->arena, text);
    for (size_t i = 0; i < words.n; i++)
        add_posting(own, pool, words.v[i].word, (struct block_entry){doc, words.v[i].counts});
    return OK;
}

/* --- what the index says --- */

static enum status sum_blocks(struct ctx *ctx, struct db *db, struct sum *sum, int64_t *damaged)
{
    CLEANUP(ctx_free) struct ctx row = ctx_child(ctx, 0);
    SQL_RUN(q, &row, db, SQL_POSTING_ALL);
    while (sql_row(&q)) {
        int64_t pool = sql_get_int(&q), n = 0;
        str word = sql_see_blob(&q);
        struct block_entry e = {.doc = sql_get_int(&q)};
        int64_t says = sql_get_int(&q);
        str rest = sql_see_blob(&q);
        struct block_word fresh;
        for (; word.n && block_next(&rest, &e); n++)
            add_posting(sum, pool, word, e);
        for (; !word.n && block_next_word(&rest, &fresh); n++)
            add_posting(sum, pool, fresh.word, (struct block_entry){e.doc, fresh.counts});
        *damaged += n != says;
    }
    enum status status = sql_end(&q);
    return status == OK ? OK : fail(ctx, status, "%s", row.why);
}

enum status word_blocks_check(struct ctx *ctx, struct db *db, struct buf *findings)
{
    struct sum rows = {0}, blocks = {0};
    int64_t damaged = 0, miscounted;
    TRY(words_each(ctx, db, add_document, &rows));
    TRY(sum_blocks(ctx, db, &blocks, &damaged));
    SQL_RUN(q, ctx, db, SQL_POSTING_FRESH_WRONG);
    TRY(sql_number(&q, &miscounted));
    if (rows.n != blocks.n || rows.hash != blocks.hash)
        buf_printf(findings, "the words index has %lld words of documents, the rows have %lld%s\n",
                   (long long)blocks.n, (long long)rows.n, rows.n == blocks.n ? " others" : "");
    if (damaged + miscounted)
        buf_printf(findings, "%lld rows of the words index count wrongly\n",
                   (long long)(damaged + miscounted));
    return OK;
}
