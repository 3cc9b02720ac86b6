/* word_blocks_check.c - a check that the blocks of the words index hold exactly the words of rows.
 */
#include "store/sqlite/index/word_blocks.h"

#include "store/postgres/posting_block.h"
#include "store/sqlite/db/query.h"
#include "store/sqlite/index/words.h"

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

struct doc_words {
    struct doc_word {
        str word;
        enum word_column at;
    } * v;
    size_t n, cap;
};

static void note_words(struct arena *a, struct doc_words *all, const struct words *words,
                       enum word_column at)
{
    for (size_t i = 0; i < words->n; i++) {
        if (!word_is_indexed(&words->v[i], at == IN_LABEL))
            continue;
        all->v = arena_more(a, all->v, all->n, &all->cap, sizeof *all->v);
        all->v[all->n++] = (struct doc_word){word_of_stem(a, words->v[i].stem), at};
    }
}

static int by_word(const void *a, const void *b)
{
    return str_cmp(((const struct doc_word *)a)->word, ((const struct doc_word *)b)->word);
}

static enum status add_document(struct ctx *ctx, void *own, int64_t pool, doc_id doc,
                                const struct index_text *text)
{
    struct arena *a = &ctx->arena;
    struct doc_words all = {0};
    note_words(a, &all, &text->own, IN_TEXT);
    note_words(a, &all, &text->label, IN_LABEL);
    if (all.n)
        qsort(all.v, all.n, sizeof *all.v, by_word);
    for (size_t from = 0, to; from < all.n; from = to) {
        struct posting p = {.doc = doc};
        for (to = from; to < all.n && str_eq(all.v[to].word, all.v[from].word); to++)
            posting_count(&p, all.v[to].at);
        add_posting(own, pool, all.v[from].word, (struct block_entry){p.doc, p.counts});
    }
    return OK;
}

/* --- what the blocks say --- */

static enum status sum_blocks(struct ctx *ctx, struct db *db, struct sum *sum, int64_t *damaged)
{
    CLEANUP(ctx_free) struct ctx row = ctx_child(ctx, 0);
    SQL_RUN(q, &row, db, SQL_POSTING_ALL);
    while (sql_row(&q)) {
        int64_t pool = sql_get_int(&q), n = 0;
        str word = sql_see_blob(&q);
        struct block_entry e = {.doc = sql_get_int(&q)};
        int64_t says = sql_get_int(&q);
        for (str docs = sql_see_blob(&q); block_next(&docs, &e); n++)
            add_posting(sum, pool, word, e);
        *damaged += n != says;
    }
    enum status status = sql_end(&q);
    return status == OK ? OK : fail(ctx, status, "%s", row.why);
}

enum status word_blocks_check(struct ctx *ctx, struct db *db, struct buf *findings)
{
    struct sum rows = {0}, blocks = {0};
    int64_t damaged = 0;
    TRY(words_each(ctx, db, add_document, &rows));
    TRY(sum_blocks(ctx, db, &blocks, &damaged));
    if (rows.n != blocks.n || rows.hash != blocks.hash)
        buf_printf(findings, "the words index has %lld words of documents, the rows have %lld%s\n",
                   (long long)blocks.n, (long long)rows.n, rows.n == blocks.n ? " others" : "");
    if (damaged)
        buf_printf(findings, "%lld rows of the words index count wrongly\n", (long long)damaged);
    return OK;
}
