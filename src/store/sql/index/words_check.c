/* words_check.c - a check that the words index holds exactly the words of the rows. */
#include "store/sql/index/words.h"

#include "store/sql/db/query.h"
#include "store/sql/index/word_blocks.h"

/*
 * Rows and index are both a set of (token, document, column, place), whose hashes are added up:
 * that takes two passes and constant memory, where sorting both sides would take as much memory as
 * the index. It tells that they differ, not where: the remedy is the same, a rebuild. The mixing is
 * that of a 64-bit finalizer (xor-shift and multiplication for each part), so that single
 * differences do not cancel out.
 */
void hash_add(struct hash_sum *sum, str word, int64_t a, int64_t b, int64_t c)
{
    uint64_t h = str_hash(word);
    int64_t parts[] = {a, b, c};
    for (size_t i = 0; i < 3; i++) {
        h ^= (uint64_t)parts[i] * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
        h *= 0xD6E8FEB86659FD93u;
        h ^= h >> 32;
    }
    sum->hash += h;
    sum->n++;
}

static void add_words(struct hash_sum *sum, const struct word_prefix *prefix, doc_id doc,
                      const struct words *words, bool in_label)
{
    char token[TOKEN_MAX];
    int64_t place = 0;
    for (size_t i = 0; i < words->n; i++)
        if (word_is_indexed(&words->v[i], in_label))
            hash_add(sum, (str){token, word_token(token, prefix, words->v[i].stem)}, doc, in_label,
                     place++);
}

static enum status add_text(UNUSED struct ctx *ctx, void *own, int64_t pool, doc_id doc,
                            const struct index_text *text)
{
    struct word_prefix prefix = word_prefix_of(pool, 0);
    add_words(own, &prefix, doc, &text->own, false);
    add_words(own, &prefix, doc, &text->label, true);
    return OK;
}

static enum status sum_index(struct db *db, struct ctx *ctx, struct hash_sum *sum)
{
    CLEANUP(ctx_free) struct ctx row = ctx_child(ctx, 0);
    SQL_RUN(q, &row, db, SQL_WORDS_ALL);
    while (sql_row(&q)) {
        str token = sql_get_text(&q);
        doc_id doc = sql_get_int(&q);
        int64_t column = sql_get_int(&q);
        hash_add(sum, token, doc, column, sql_get_int(&q));
        arena_reset(&row.arena);
    }
    return ctx_pass(ctx, &row, sql_end(&q));
}

enum status words_check(struct ctx *ctx, struct db *db, struct buf *findings)
{
    if (is_postgres(db))
        return word_blocks_check(ctx, db, findings);
    struct hash_sum rows = {0}, index = {0};
    TRY(words_each(ctx, db, add_text, &rows));
    TRY(sum_index(db, ctx, &index));
    if (rows.n != index.n || rows.hash != index.hash)
        buf_printf(findings, "the words index has %lld words, the rows have %lld%s\n",
                   (long long)index.n, (long long)rows.n, rows.n == index.n ? " others" : "");
    return OK;
}
