/* word_blocks.c - the words index on PostgreSQL: the documents of a word in blocks. */
#include "store/sqlite/index/word_blocks.h"

#include <assert.h>
#include <string.h>

#include "store/postgres/posting_block.h"
#include "store/sqlite/db/lookup.h"
#include "store/sqlite/index/words.h"

/*
 * A row of the table posting holds some documents of one word of one pool, ascending, with the same
 * counts that FTS5's postings have (struct posting). It begins with a number, and holds the
 * documents up to the next row. Numbers of messages and of memories are in different rows, the
 * first of which begins with 0 and DOC_MEMORY: so each document has a row that it belongs to, or
 * there is none of its kind.
 *
 * A group of writes reads all rows that it changes with one statement for each pool, and writes
 * them with one. Whoever writes to a pool has locked its row (pool_find), so nobody else does.
 */

/* A word of a document that comes or goes. */
struct change {
    int64_t pool;
    str word;
    doc_id doc;
    size_t order;
    enum word_column at;
    bool is_removal;
};

struct changes {
    struct change *v;
    size_t n, cap;
};

/* --- which words --- */

static void note_words(struct arena *a, struct changes *all, const struct index_change *c,
                       const struct words *words, enum word_column at)
{
    for (size_t i = 0; i < words->n; i++) {
        if (!word_is_indexed(&words->v[i], at == IN_LABEL))
            continue;
        all->v = arena_more(a, all->v, all->n, &all->cap, sizeof *all->v);
        all->v[all->n] =
            (struct change){c->pool,      word_of_stem(a, words->v[i].stem), c->doc, all->n, at,
                            c->is_removal};
        all->n++;
    }
}

static int by_place(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->pool != y->pool)
        return x->pool < y->pool ? -1 : 1;
    int order = str_cmp(x->word, y->word);
    if (order)
        return order;
    if (x->doc != y->doc)
        return x->doc < y->doc ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static bool is_same_document(const struct change *a, const struct change *b)
{
    return a->pool == b->pool && a->doc == b->doc && str_eq(a->word, b->word);
}

/* --- the rows that are changed --- */

/* Where a document of a word is. */
struct place {
    const struct change *from, *to; /* its changes */
    doc_id first;                   /* of its row, or of the one to be made */
    bool is_there;                  /* the row */
    str docs;
};

static struct place *places_of(struct arena *a, const struct change *v, size_t n, size_t *out)
{
    struct place *places = NEW_N(a, struct place, n + 1);
    *out = 0;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && is_same_document(&v[from], &v[to]);)
            to++;
        places[(*out)++] =
            (struct place){.from = v + from, .to = v + to, .first = v[from].doc & DOC_MEMORY};
    }
    return places;
}

/* What changes in a pool. */
struct pool_changes {
    struct place *v;
    size_t n;
};

static struct query rows_query(struct ctx *ctx, struct db *db, const struct place *v, size_t n)
{
    struct arena *a = &ctx->arena;
    str *words = NEW_N(a, str, n);
    int64_t *least = NEW_N(a, int64_t, n), *docs = NEW_N(a, int64_t, n);
    for (size_t i = 0; i < n; i++) {
        words[i] = v[i].from->word;
        least[i] = v[i].first;
        docs[i] = v[i].from->doc;
    }
    struct query q = sql_begin(ctx, db, SQL_POSTING_BLOCKS);
    sql_int(&q, v->from->pool);
    sql_blobs(&q, words, n);
    sql_list(&q, least, n);
    sql_list(&q, docs, n);
    return q;
}

static enum status read_rows(struct ctx *ctx, struct db *db, struct place *v, size_t n)
{
    CLEANUP(sql_leave) struct query q = rows_query(ctx, db, v, n);
    while (sql_row(&q)) {
        struct place *p = &v[sql_get_int(&q) - 1];
        p->first = sql_get_int(&q);
        p->docs = str_dup(&ctx->arena, sql_see_blob(&q));
        p->is_there = true;
    }
    return sql_end(&q);
}

/* --- what they become --- */

struct entries {
    struct block_entry *v;
    size_t n, cap;
};

static struct block_entry *more_entries(struct arena *a, struct entries *e)
{
    e->v = arena_more(a, e->v, e->n, &e->cap, sizeof *e->v);
    return &e->v[e->n++];
}

static enum status refuse_row(struct ctx *ctx)
{
    return fail(ctx, STORAGE, "a row of the words index is damaged");
}

/* All changes of a document. */
static void change_entry(struct arena *a, struct entries *out, const struct place *p,
                         const struct block_entry *had)
{
    struct posting one = {.doc = p->from->doc, .counts = had ? had->counts : 0};
    bool is_there = had != NULL;
    for (const struct change *c = p->from; c < p->to; c++) {
        if (!is_there)
            one.counts = 0;
        is_there = !c->is_removal;
        if (is_there)
            posting_count(&one, c->at);
    }
    if (is_there)
        *more_entries(a, out) = (struct block_entry){one.doc, one.counts};
}

/* Both are ascending. *is_longer: only documents behind the last one came. */
static enum status merge_places(struct ctx *ctx, const struct place *v, size_t n,
                                struct entries *out, bool *is_longer)
{
    struct arena *a = &ctx->arena;
    struct block_entry old = {.doc = v->first};
    str rest = v->docs;
    bool has_old = block_next(&rest, &old);
    *is_longer = true;
    for (size_t i = 0; i < n; i++) {
        doc_id doc = v[i].from->doc;
        for (; has_old && old.doc < doc; has_old = block_next(&rest, &old))
            *more_entries(a, out) = old;
        bool is_same = has_old && old.doc == doc;
        *is_longer &= !has_old;
        change_entry(a, out, &v[i], is_same ? &old : NULL);
        if (is_same)
            has_old = block_next(&rest, &old);
    }
    for (; has_old; has_old = block_next(&rest, &old))
        *more_entries(a, out) = old;
    return rest.n ? refuse_row(ctx) : OK;
}

/* Rows to be written and deleted. */
struct rows {
    str *words, *docs;
    int64_t *first, *n_docs;
    size_t n, n_words, n_firsts, n_counts, n_packed;
};

static void put_row(struct arena *a, struct rows *r, str word, doc_id first, str docs, size_t n)
{
    size_t at = r->n++;
    r->words = arena_more(a, r->words, at, &r->n_words, sizeof *r->words);
    r->first = arena_more(a, r->first, at, &r->n_firsts, sizeof *r->first);
    r->n_docs = arena_more(a, r->n_docs, at, &r->n_counts, sizeof *r->n_docs);
    r->docs = arena_more(a, r->docs, at, &r->n_packed, sizeof *r->docs);
    r->words[at] = word;
    r->first[at] = first;
    r->n_docs[at] = (int64_t)n;
    r->docs[at] = docs;
}

/* What no longer fits one row is cut: where documents only came behind, the full row stays full. */
static void put_entries(struct arena *a, struct rows *r, str word, doc_id first,
                        const struct entries *e, bool is_longer)
{
    size_t parts = (e->n + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES;
    size_t each = is_longer ? BLOCK_ENTRIES : (e->n + parts - 1) / (parts ? parts : 1);
    for (size_t i = 0; i < e->n; i += each) {
        size_t n = e->n - i < each ? e->n - i : each;
        doc_id begin = i ? e->v[i].doc : first;
        put_row(a, r, word, begin, block_pack(a, begin, e->v + i, n), n);
    }
}

static enum status change_rows(struct ctx *ctx, const struct place *v, size_t n, struct rows *puts,
                               struct rows *deletes)
{
    struct arena *a = &ctx->arena;
    for (size_t from = 0, to; from < n; from = to) {
        struct entries e = {0};
        bool is_longer;
        str word = v[from].from->word;
        for (to = from + 1;
             to < n && v[to].first == v[from].first && str_eq(v[to].from->word, word);)
            to++;
        TRY(merge_places(ctx, v + from, to - from, &e, &is_longer));
        put_entries(a, puts, word, v[from].first, &e, is_longer);
        if (!e.n && v[from].is_there)
            put_row(a, deletes, word, v[from].first, S(""), 0);
    }
    return OK;
}

static enum status write_rows(struct ctx *ctx, struct db *db, int64_t pool, const struct rows *r,
                              bool is_put)
{
    if (!r->n)
        return OK;
    SQL_RUN(q, ctx, db, is_put ? SQL_POSTING_PUT : SQL_POSTING_DELETE, pool);
    sql_blobs(&q, r->words, r->n);
    sql_list(&q, r->first, r->n);
    if (is_put) {
        sql_list(&q, r->n_docs, r->n);
        sql_blobs(&q, r->docs, r->n);
    }
    return sql_later(&q);
}

static enum status apply_pool(struct ctx *ctx, struct db *db, const struct pool_changes *c)
{
    struct rows puts = {0}, deletes = {0};
    int64_t pool = c->v->from->pool;
    TRY(read_rows(ctx, db, c->v, c->n));
    TRY(change_rows(ctx, c->v, c->n, &puts, &deletes));
    TRY(write_rows(ctx, db, pool, &puts, true));
    return write_rows(ctx, db, pool, &deletes, false);
}

/* The rows of all pools are asked for together. */
static enum status apply_all(struct ctx *ctx, struct db *db, const struct change *v, size_t n)
{
    struct pool_changes *pools = NULL;
    size_t n_pools = 0, cap = 0;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && v[to].pool == v[from].pool;)
            to++;
        pools = arena_more(&ctx->arena, pools, n_pools, &cap, sizeof *pools);
        struct pool_changes *one = &pools[n_pools++];
        one->v = places_of(&ctx->arena, v + from, to - from, &one->n);
        CLEANUP(sql_leave) struct query q = rows_query(ctx, db, one->v, one->n);
        sql_ahead(&q);
    }
    for (size_t i = 0; i < n_pools; i++)
        TRY(apply_pool(ctx, db, &pools[i]));
    return OK;
}

/* Also of a document without words: what was read of it may be kept somewhere. */
static enum status renew_pools(struct ctx *ctx, struct db *db, const struct index_change *v,
                               size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t before = 0;
        int64_t step = 1;
        while (v[before].pool != v[i].pool)
            before++;
        for (size_t k = i; k < n && before == i; k++)
            if (v[k].pool == v[i].pool && v[k].is_removal && !doc_is_memory(v[k].doc))
                step = GENERATION_REMOVAL;
        if (before == i)
            TRY(SQL_LATER(ctx, db, SQL_POSTING_CHANGED, v[i].pool, step));
    }
    return OK;
}

/* The memory of a group is given back behind it. */
enum status word_blocks_apply(struct ctx *ctx, struct db *db, const struct index_change *v,
                              size_t n)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    struct changes all = {0};
    enum status s = renew_pools(&own, db, v, n);
    for (size_t i = 0; i < n; i++) {
        note_words(&own.arena, &all, &v[i], &v[i].words.own, IN_TEXT);
        note_words(&own.arena, &all, &v[i], &v[i].words.label, IN_LABEL);
    }
    if (all.n)
        qsort(all.v, all.n, sizeof *all.v, by_place);
    if (s == OK)
        s = apply_all(&own, db, all.v, all.n);
    return s == OK ? OK : fail_as(ctx, s, own.detail, "%s", own.why);
}

/* --- reading --- */

static enum status add_postings(struct ctx *ctx, doc_id least, str docs, struct posting *v,
                                size_t *n, size_t max)
{
    struct block_entry e = {.doc = least};
    while (*n < max && block_next(&docs, &e))
        v[(*n)++] = (struct posting){.doc = e.doc, .counts = e.counts};
    return docs.n ? refuse_row(ctx) : OK;
}

static struct query find_query(struct ctx *ctx, struct db *db, int64_t pool, const str *words,
                               size_t n, doc_id least, size_t max)
{
    struct query q = sql_begin(ctx, db, SQL_POSTING_FIND);
    sql_int(&q, pool);
    sql_blobs(&q, words, n);
    SQL_BIND(&q, least, sql_limit(max));
    return q;
}

void word_blocks_ask(struct ctx *ctx, struct db *db, int64_t pool, const str *words, size_t n,
                     doc_id least, size_t max)
{
    CLEANUP(sql_leave) struct query q = find_query(ctx, db, pool, words, n, least, max);
    sql_ahead(&q);
}

enum status word_blocks_find(struct ctx *ctx, struct db *db, int64_t pool, const str *words,
                             size_t n, doc_id least, size_t max, struct word_docs *out)
{
    struct posting *v = NULL;
    size_t room = 0, before = SIZE_MAX;
    memset(out, 0, n * sizeof *out);
    CLEANUP(sql_leave) struct query q = find_query(ctx, db, pool, words, n, least, max);
    while (sql_row(&q)) {
        size_t at = (size_t)sql_get_int(&q) - 1, total = (size_t)sql_get_int(&q);
        doc_id first = sql_get_int(&q);
        out[at].is_over = total > max;
        if (out[at].is_over)
            continue;
        if (at != before)
            v = ROOM_N(&ctx->arena, struct posting, room = total);
        TRY(add_postings(ctx, first, sql_see_blob(&q), v, &out[at].n, room));
        out[at].v = v;
        before = at;
    }
    return sql_end(&q);
}

enum status word_blocks_newest(struct ctx *ctx, struct db *db, int64_t pool, str word, doc_id from,
                               doc_id to, size_t max, struct word_docs *out)
{
    struct posting *v = ROOM_N(&ctx->arena, struct posting, max + 1), block[BLOCK_ENTRIES];
    size_t left = max;
    SQL_RUN(q, ctx, db, SQL_POSTING_NEWEST, pool);
    sql_blob(&q, word.p, word.n);
    SQL_BIND(&q, from, to, sql_limit(max));
    while (left && sql_row(&q)) {
        size_t n = 0;
        doc_id first = sql_get_int(&q);
        TRY(add_postings(ctx, first, sql_see_blob(&q), block, &n, BLOCK_ENTRIES));
        size_t take = n < left ? n : left;
        left -= take;
        memcpy(v + left, block + n - take, take * sizeof *v);
    }
    *out = (struct word_docs){.v = v + left, .n = max - left};
    return sql_end(&q);
}
