/* word_changes.c - documents that come and go in the words index of PostgreSQL. */
#include "store/sql/db/lookup.h"
#include "store/sql/index/fresh_words.h"
#include "store/sql/index/word_blocks.h"
#include "store/sql/index/words.h"

/*
 * A document that goes is looked for among the fresh rows of its pool (fresh_words.h), and else
 * leaves the blocks. One that comes is a fresh row, or goes into the blocks together with all that
 * is fresh, when there is too much of it: the pool's row counts the words.
 *
 * A group of writes waits once for these counts of all its pools, where documents go once more, and
 * where blocks change for these.
 */

/* A document of the group: the words that the index has of it, and that it will have. */
struct document {
    int64_t pool;
    doc_id doc;
    bool is_removal; /* it was there */
    struct doc_words was, now;
};

/* What is done with the documents of a pool. */
struct pool_work {
    const struct document *docs;
    size_t n, n_going;
    int64_t step, more; /* of its generation; how many more words are fresh */
    bool merges;        /* what is fresh goes into the blocks */
    struct block_changes blocks;
};

ORDER(by_pool, struct document, UP(pool) ?: UP(doc));

static struct document *documents_of(struct arena *a, const struct index_change *v, size_t n,
                                     size_t *out)
{
    struct document *docs = NEW_N(a, struct document, n);
    *out = 0;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && v[to].doc == v[from].doc; to++)
            assert(v[to].pool == v[from].pool && v[to].is_removal != v[to - 1].is_removal);
        struct document *d = &docs[(*out)++];
        *d = (struct document){v[from].pool, v[from].doc, v[from].is_removal};
        if (d->is_removal)
            d->was = doc_words_of(a, &v[from].words);
        if (!v[to - 1].is_removal)
            d->now = doc_words_of(a, &v[to - 1].words);
    }
    return docs;
}

/* --- what is fresh --- */

static void note_words(struct arena *a, struct block_changes *all, doc_id doc,
                       struct doc_words words, bool is_removal)
{
    for (size_t i = 0; i < words.n; i++)
        ARENA_ADD(a, all->v, all->n, all->cap) =
            (struct block_change){words.v[i].word, doc, words.v[i].counts, is_removal};
}

static struct query going_query(struct ctx *ctx, struct db *db, const struct pool_work *w)
{
    int64_t *going = NEW_N(&ctx->arena, int64_t, w->n_going);
    for (size_t i = 0, n = 0; i < w->n; i++)
        if (w->docs[i].was.n)
            going[n++] = w->docs[i].doc;
    struct query q = sql_begin(ctx, db, SQL_POSTING_FRESH_DELETE);
    sql_int(&q, w->blocks.pool);
    sql_list(&q, going, w->n_going);
    return q;
}

/* Where documents go, the count must wait for what they had. */
static void ask_pool(struct ctx *ctx, struct db *db, const struct pool_work *w)
{
    if (!w->n_going) {
        SQL_AHEAD(ctx, db, SQL_POSTING_CHANGED, w->blocks.pool, w->step, w->more);
        return;
    }
    CLEANUP(sql_leave) struct query q = going_query(ctx, db, w);
    sql_ahead(&q);
}

/* Deletes the fresh rows of what goes; the rest of it is in blocks. */
static enum status take_going(struct ctx *ctx, struct db *db, struct pool_work *w)
{
    struct arena *a = &ctx->arena;
    bool *is_fresh = NEW_N(a, bool, w->n);
    CLEANUP(sql_leave) struct query q = going_query(ctx, db, w);
    while (sql_row(&q)) {
        const struct document key = {w->blocks.pool, sql_get_int(&q)};
        const struct document *d = bsearch(&key, w->docs, w->n, sizeof key, by_pool);
        assert(d);
        is_fresh[d - w->docs] = true;
        w->more -= sql_get_int(&q);
    }
    for (size_t i = 0; i < w->n; i++)
        if (!is_fresh[i])
            note_words(a, &w->blocks, w->docs[i].doc, w->docs[i].was, true);
    return sql_end(&q);
}

static enum status count_words(struct ctx *ctx, struct db *db, struct pool_work *w)
{
    int64_t fresh;
    if (w->n_going)
        TRY(take_going(ctx, db, w));
    TRY(SQL_NUMBER(ctx, db, &fresh, SQL_POSTING_CHANGED, w->blocks.pool, w->step, w->more));
    w->merges |= fresh > FRESH_WORDS_MAX;
    return OK;
}

static enum status put_rows(struct ctx *ctx, struct db *db, const struct pool_work *w)
{
    struct arena *a = &ctx->arena;
    struct block_rows rows = {0};
    for (size_t i = 0; i < w->n; i++) {
        const struct doc_words *now = &w->docs[i].now;
        if (now->n)
            ARENA_ADD(a, rows.v, rows.n, rows.cap) =
                (struct block_row){S(""), w->docs[i].doc, block_words_pack(a, now->v, now->n),
                                   now->n};
    }
    return block_rows_write(ctx, db, w->blocks.pool, &rows, true);
}

/* What was fresh until now. */
static enum status take_rows(struct ctx *ctx, struct db *db, struct block_changes *blocks)
{
    struct arena *a = &ctx->arena;
    SQL_RUN(q, ctx, db, SQL_POSTING_FRESH_TAKE, blocks->pool);
    while (sql_row(&q)) {
        struct block_word word;
        doc_id doc = sql_get_int(&q);
        str rest = str_dup(a, sql_see_blob(&q));
        while (block_next_word(&rest, &word))
            note_words(a, blocks, doc, (struct doc_words){&word, 1}, false);
        if (rest.n)
            return refuse_posting(ctx);
    }
    return sql_end(&q);
}

/* The fresh rows get what comes, or all goes into the blocks, which are asked for. */
static enum status change_fresh(struct ctx *ctx, struct db *db, struct pool_work *w)
{
    if (!w->merges) {
        TRY(put_rows(ctx, db, w));
    } else {
        TRY(take_rows(ctx, db, &w->blocks));
        for (size_t i = 0; i < w->n; i++)
            note_words(&ctx->arena, &w->blocks, w->docs[i].doc, w->docs[i].now, false);
        TRY(SQL_LATER(ctx, db, SQL_POSTING_FRESH_NONE, w->blocks.pool));
    }
    block_changes_ask(ctx, db, &w->blocks);
    return OK;
}

/* Also of a document without words: what was read of it may be kept somewhere, so its pool gets
 * another generation. */
static struct pool_work work_on(const struct document *docs, size_t n)
{
    struct pool_work w = {.docs = docs, .n = n, .step = 1, .blocks.pool = docs->pool};
    for (size_t i = 0; i < n; i++) {
        if (docs[i].is_removal && !doc_is_memory(docs[i].doc))
            w.step = GENERATION_REMOVAL;
        w.n_going += docs[i].was.n > 0;
        w.more += (int64_t)docs[i].now.n;
    }
    return w;
}

/* merges: in any case. */
static enum status apply_all(struct ctx *ctx, struct db *db, struct document *docs, size_t n,
                             bool merges)
{
    qsort(docs, n, sizeof *docs, by_pool);
    struct pool_work *pools = NEW_N(&ctx->arena, struct pool_work, n);
    size_t n_pools = 0;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && docs[to].pool == docs[from].pool;)
            to++;
        pools[n_pools] = work_on(docs + from, to - from);
        pools[n_pools].merges = merges;
        ask_pool(ctx, db, &pools[n_pools++]);
    }
    for (size_t i = 0; i < n_pools; i++)
        TRY(count_words(ctx, db, &pools[i]));
    for (size_t i = 0; i < n_pools; i++)
        TRY(change_fresh(ctx, db, &pools[i]));
    for (size_t i = 0; i < n_pools; i++)
        TRY(block_changes_write(ctx, db, &pools[i].blocks));
    return OK;
}

/* The memory of a group is given back behind it. */
enum status word_blocks_apply(struct ctx *ctx, struct db *db, const struct index_change *v,
                              size_t n)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    struct document *docs = documents_of(&own.arena, v, n, &n);
    return ctx_pass(ctx, &own, apply_all(&own, db, docs, n, false));
}

/* --- all documents --- */

enum { HELD_WORDS = 300000 };

struct filling {
    struct db *db;
    struct ctx *own; /* of what is held */
    struct document *v;
    size_t n, cap, words;
};

static enum status put_held(struct filling *f)
{
    enum status s = f->n ? apply_all(f->own, f->db, f->v, f->n, true) : OK;
    *f = (struct filling){.db = f->db, .own = f->own};
    arena_reset(&f->own->arena);
    return s;
}

static enum status hold_document(struct ctx *ctx, void *own, int64_t pool, doc_id doc,
                                 const struct index_text *words)
{
    struct filling *f = own;
    struct arena *a = &f->own->arena;
    struct document d = {pool, doc, .now = doc_words_of(a, words)};
    ARENA_ADD(a, f->v, f->n, f->cap) = d;
    f->words += d.now.n;
    return ctx_pass(ctx, f->own, f->words < HELD_WORDS ? OK : put_held(f));
}

enum status word_blocks_fill(struct ctx *ctx, struct db *db)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    struct filling f = {.db = db, .own = &own};
    TRY(SQL_DO(ctx, db, SQL_POSTING_CHANGED_ALL));
    TRY(words_each(ctx, db, hold_document, &f));
    return ctx_pass(ctx, &own, put_held(&f));
}
