/* word_blocks_fill.c - the blocks of the words index made anew from all documents. */
#include "store/sqlite/index/word_blocks.h"

#include <assert.h>
#include <stdlib.h>

#include "store/sqlite/index/fresh_words.h"
#include "store/sqlite/index/words.h"

/*
 * Documents come in the order of pools and of their numbers. The words of some thousand of them are
 * held in memory and sorted, and each block is written once. A pool that does not fit is written
 * in parts: what comes behind the first part begins blocks of its own.
 */
enum { ENTRIES_FEW = 100000, ENTRIES_MOST = 300000, ROWS = 10000 };

struct entry {
    int64_t pool;
    str word;
    doc_id doc;
    uint8_t counts;
};

struct fill_rows {
    int64_t pool[ROWS], first[ROWS], n_docs[ROWS];
    str word[ROWS], docs[ROWS];
    size_t n;
};

struct filling {
    struct db *db;
    struct ctx *own; /* of the entries */
    struct entry *v;
    size_t n, cap;
    struct fill_rows *rows;
    int64_t pool;      /* of the last document that came */
    doc_id kind;       /* and whether it was a memory */
    bool has_its_part; /* a part of this pool is written */
};

static int by_word(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->pool != y->pool)
        return x->pool < y->pool ? -1 : 1;
    int order = str_cmp(x->word, y->word);
    if (order)
        return order;
    return (x->doc > y->doc) - (x->doc < y->doc);
}

static enum status write_rows(struct filling *f)
{
    struct fill_rows *r = f->rows;
    size_t n = r->n;
    r->n = 0;
    if (!n)
        return OK;
    SQL_RUN(q, f->own, f->db, SQL_POSTING_FILL);
    sql_list(&q, r->pool, n);
    sql_blobs(&q, r->word, n);
    sql_list(&q, r->first, n);
    sql_list(&q, r->n_docs, n);
    sql_blobs(&q, r->docs, n);
    return sql_do(&q);
}

static enum status put_block(struct filling *f, const struct entry *word, doc_id first,
                             const struct block_entry *docs, size_t n)
{
    struct fill_rows *r = f->rows;
    size_t at = r->n++;
    r->pool[at] = word->pool;
    r->word[at] = word->word;
    r->first[at] = first;
    r->n_docs[at] = (int64_t)n;
    r->docs[at] = block_pack(&f->own->arena, first, docs, n);
    return r->n == ROWS ? write_rows(f) : OK;
}

/* The documents of one word of one pool, each with its counts. */
static enum status put_word(struct filling *f, const struct entry *v, size_t n, bool is_later)
{
    struct block_entry block[BLOCK_ENTRIES];
    size_t full = 0;
    doc_id first = is_later ? v->doc : f->kind;
    for (size_t i = 0; i < n; i++) {
        if (full == BLOCK_ENTRIES) {
            TRY(put_block(f, v, first, block, full));
            full = 0;
            first = v[i].doc;
        }
        block[full++] = (struct block_entry){v[i].doc, v[i].counts};
    }
    return put_block(f, v, first, block, full);
}

/* What is held becomes rows. is_part: more of the last pool may come. */
static enum status put_held(struct filling *f, bool is_part)
{
    bool is_later = f->has_its_part;
    if (f->n)
        qsort(f->v, f->n, sizeof *f->v, by_word);
    for (size_t from = 0, to; from < f->n; from = to) {
        const struct entry *one = &f->v[from];
        for (to = from + 1;
             to < f->n && f->v[to].pool == one->pool && str_eq(f->v[to].word, one->word);)
            to++;
        TRY(put_word(f, one, to - from, is_later && one->pool == f->v->pool));
    }
    TRY(write_rows(f));
    f->has_its_part = is_part;
    f->n = f->cap = 0;
    f->v = NULL;
    arena_reset(&f->own->arena);
    return OK;
}

static void hold(struct filling *f, const struct index_text *text, doc_id doc)
{
    struct doc_words words = doc_words_of(&f->own->arena, text);
    for (size_t i = 0; i < words.n; i++) {
        f->v = arena_more(&f->own->arena, f->v, f->n, &f->cap, sizeof *f->v);
        f->v[f->n++] = (struct entry){f->pool, words.v[i].word, doc, words.v[i].counts};
    }
}

static enum status take_document(struct ctx *ctx, void *own, int64_t pool, doc_id doc,
                                 const struct index_text *words)
{
    struct filling *f = own;
    doc_id kind = doc & DOC_MEMORY;
    bool is_same = pool == f->pool && kind == f->kind;
    enum status s = OK;
    assert(is_same || kind != f->kind || pool > f->pool);
    if (f->n >= (is_same ? ENTRIES_MOST : ENTRIES_FEW) || kind != f->kind)
        s = put_held(f, is_same);
    else if (!is_same && !f->n)
        f->has_its_part = false;
    f->pool = pool;
    f->kind = kind;
    if (s != OK)
        return fail_as(ctx, s, f->own->detail, "%s", f->own->why);
    hold(f, words, doc);
    return OK;
}

enum status word_blocks_fill(struct ctx *ctx, struct db *db)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    struct filling f = {.db = db, .own = &own, .rows = NEW(&ctx->arena, struct fill_rows)};
    TRY(words_each(ctx, db, take_document, &f));
    enum status s = put_held(&f, false);
    return s == OK ? SQL_DO(ctx, db, SQL_POSTING_CHANGED_ALL)
                   : fail_as(ctx, s, own.detail, "%s", own.why);
}
