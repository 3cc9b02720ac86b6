/* word_blocks.c - the words index on PostgreSQL: the documents of a word in blocks. */
#include "store/sql/index/word_blocks.h"

#include "store/sql/index/fresh_words.h"

/*
 * A row of the table posting holds some documents of one word of one pool, ascending, with the same
 * counts that FTS5's postings have (struct posting). It begins with a number, and holds the
 * documents up to the next row. Numbers of messages and of memories are in different rows, the
 * first of which begins with 0 and DOC_MEMORY: so each document has a row that it belongs to, or
 * there is none of its kind.
 *
 * All rows that a group of writes changes in a pool are read with one statement, and written with
 * one. Whoever writes to a pool has locked its row (pool_find), so nobody else does.
 */

/* Where a document of a word is. */
struct block_place {
    const struct block_change *change; /* the last of the document */
    doc_id first;                      /* of its row, or of the one to be made */
    bool is_there;                     /* the row */
    str docs;
};

/* What goes before what comes. */
ORDER(by_place, struct block_change, BY_TEXT(word) ?: UP(doc) ?: DOWN(is_removal));

static void make_places(struct arena *a, struct block_changes *all)
{
    all->places = NEW_N(a, struct block_place, all->n + 1);
    qsort(all->v, all->n, sizeof *all->v, by_place);
    for (size_t i = 0; i < all->n; i++) {
        const struct block_change *c = &all->v[i], *next = i + 1 < all->n ? c + 1 : NULL;
        if (!next || next->doc != c->doc || !str_eq(next->word, c->word))
            all->places[all->n_places++] =
                (struct block_place){.change = c, .first = c->doc & DOC_MEMORY};
    }
}

/* --- the rows that are changed --- */

static struct query rows_query(struct ctx *ctx, struct db *db, const struct block_changes *all)
{
    struct arena *a = &ctx->arena;
    const struct block_place *v = all->places;
    size_t n = all->n_places;
    str *words = NEW_N(a, str, n);
    int64_t *least = NEW_N(a, int64_t, n), *docs = NEW_N(a, int64_t, n);
    for (size_t i = 0; i < n; i++) {
        words[i] = v[i].change->word;
        least[i] = v[i].first;
        docs[i] = v[i].change->doc;
    }
    struct query q = sql_begin(ctx, db, SQL_POSTING_BLOCKS);
    sql_int(&q, all->pool);
    sql_blobs(&q, words, n);
    sql_list(&q, least, n);
    sql_list(&q, docs, n);
    return q;
}

static enum status read_rows(struct ctx *ctx, struct db *db, const struct block_changes *all)
{
    CLEANUP(sql_leave) struct query q = rows_query(ctx, db, all);
    while (sql_row(&q)) {
        struct block_place *p = &all->places[sql_get_int(&q) - 1];
        p->first = sql_get_int(&q);
        p->docs = str_dup(&ctx->arena, sql_see_blob(&q));
        p->is_there = true;
    }
    return sql_end(&q);
}

/* --- what they become --- */

/* Both are ascending. *is_longer: only documents behind the last one came. */
static enum status merge_places(struct ctx *ctx, const struct block_place *v, size_t n,
                                struct found_docs *out, bool *is_longer)
{
    struct arena *a = &ctx->arena;
    struct posting old = {.doc = v->first};
    str rest = v->docs;
    bool has_old = block_next(&rest, &old);
    *is_longer = true;
    for (size_t i = 0; i < n; i++) {
        const struct block_change *c = v[i].change;
        doc_id doc = c->doc;
        for (; has_old && old.doc < doc; has_old = block_next(&rest, &old))
            ARENA_ADD(a, out->v, out->n, out->cap) = old;
        *is_longer &= !has_old;
        if (!c->is_removal)
            ARENA_ADD(a, out->v, out->n, out->cap) = (struct posting){doc, c->counts};
        if (has_old && old.doc == doc)
            has_old = block_next(&rest, &old);
    }
    for (; has_old; has_old = block_next(&rest, &old))
        ARENA_ADD(a, out->v, out->n, out->cap) = old;
    return rest.n ? refuse_posting(ctx) : OK;
}

/* What no longer fits one row is cut: where documents only came behind, the full row stays full. */
static void put_entries(struct arena *a, struct block_rows *r, str word, doc_id first,
                        const struct found_docs *e, bool is_longer)
{
    size_t parts = (e->n + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES;
    size_t each = is_longer ? BLOCK_ENTRIES : (e->n + parts - 1) / (parts ? parts : 1);
    for (size_t i = 0; i < e->n; i += each) {
        size_t n = e->n - i < each ? e->n - i : each;
        doc_id begin = i ? e->v[i].doc : first;
        ARENA_ADD(a, r->v, r->n, r->cap) =
            (struct block_row){word, begin, block_pack(a, begin, e->v + i, n), n};
    }
}

static enum status change_rows(struct ctx *ctx, const struct block_changes *all,
                               struct block_rows *puts, struct block_rows *deletes)
{
    struct arena *a = &ctx->arena;
    const struct block_place *v = all->places;
    size_t n = all->n_places;
    for (size_t from = 0, to; from < n; from = to) {
        struct found_docs e = {0};
        bool is_longer;
        str word = v[from].change->word;
        for (to = from + 1;
             to < n && v[to].first == v[from].first && str_eq(v[to].change->word, word);)
            to++;
        TRY(merge_places(ctx, v + from, to - from, &e, &is_longer));
        put_entries(a, puts, word, v[from].first, &e, is_longer);
        if (!e.n && v[from].is_there)
            ARENA_ADD(a, deletes->v, deletes->n, deletes->cap) =
                (struct block_row){word, v[from].first};
    }
    return OK;
}

enum status block_rows_write(struct ctx *ctx, struct db *db, int64_t pool,
                             const struct block_rows *r, bool is_put)
{
    struct arena *a = &ctx->arena;
    str *words = NEW_N(a, str, r->n), *docs = NEW_N(a, str, r->n);
    int64_t *first = NEW_N(a, int64_t, r->n), *n = NEW_N(a, int64_t, r->n);
    if (!r->n)
        return OK;
    for (size_t i = 0; i < r->n; i++) {
        words[i] = r->v[i].word;
        first[i] = r->v[i].first;
        docs[i] = r->v[i].docs;
        n[i] = (int64_t)r->v[i].n;
    }
    SQL_RUN(q, ctx, db, is_put ? SQL_POSTING_PUT : SQL_POSTING_DELETE, pool);
    sql_blobs(&q, words, r->n);
    sql_list(&q, first, r->n);
    if (is_put) {
        sql_list(&q, n, r->n);
        sql_blobs(&q, docs, r->n);
    }
    return sql_later(&q);
}

void block_changes_ask(struct ctx *ctx, struct db *db, struct block_changes *all)
{
    if (!all->n)
        return;
    make_places(&ctx->arena, all);
    CLEANUP(sql_leave) struct query q = rows_query(ctx, db, all);
    sql_ahead(&q);
}

enum status block_changes_write(struct ctx *ctx, struct db *db, const struct block_changes *all)
{
    struct block_rows puts = {0}, deletes = {0};
    if (!all->n)
        return OK;
    TRY(read_rows(ctx, db, all));
    TRY(change_rows(ctx, all, &puts, &deletes));
    TRY(block_rows_write(ctx, db, all->pool, &puts, true));
    return block_rows_write(ctx, db, all->pool, &deletes, false);
}

/* --- reading --- */

static enum status add_postings(struct ctx *ctx, doc_id least, str docs, struct posting *v,
                                size_t *n, size_t max)
{
    struct posting e = {.doc = least};
    while (*n < max && block_next(&docs, &e))
        v[(*n)++] = e;
    return docs.n ? refuse_posting(ctx) : OK;
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

/* The fresh rows come first. */
enum status word_blocks_find(struct ctx *ctx, struct db *db, int64_t pool, const str *words,
                             size_t n, doc_id least, size_t max, struct word_docs *out)
{
    struct arena *a = &ctx->arena;
    struct posting *v = NULL;
    size_t room = 0, before = SIZE_MAX;
    struct fresh_search fresh = fresh_search_of(a, words, n);
    memset(out, 0, n * sizeof *out);
    CLEANUP(sql_leave) struct query q = find_query(ctx, db, pool, words, n, least, max);
    while (sql_row(&q)) {
        size_t place = (size_t)sql_get_int(&q), total = (size_t)sql_get_int(&q), at = place - 1;
        doc_id first = sql_get_int(&q);
        if (!place) {
            TRY(fresh_search_row(ctx, &fresh, first, sql_see_blob(&q)));
            continue;
        }
        out[at].is_over = total > max;
        if (out[at].is_over)
            continue;
        if (at != before)
            v = ROOM_N(a, struct posting, room = total);
        TRY(add_postings(ctx, first, sql_see_blob(&q), v, &out[at].n, room));
        out[at].v = v;
        before = at;
    }
    TRY(sql_end(&q));
    for (size_t i = 0; i < n; i++)
        if (out[i].n + fresh.found[i].n > max)
            out[i] = (struct word_docs){.is_over = true};
        else if (!out[i].is_over)
            out[i] = fresh_search_join(a, &fresh.found[i], out[i].v, out[i].n);
    return OK;
}

enum status word_blocks_newest(struct ctx *ctx, struct db *db, int64_t pool, str word, doc_id from,
                               doc_id to, size_t max, struct word_docs *out)
{
    struct posting *v = ROOM_N(&ctx->arena, struct posting, max + 1), block[BLOCK_ENTRIES];
    size_t left = max;
    struct fresh_search fresh = fresh_search_of(&ctx->arena, &word, 1);
    SQL_RUN(q, ctx, db, SQL_POSTING_NEWEST, pool, blob_of(word), from, to, sql_limit(max));
    while (sql_row(&q)) {
        size_t n = 0;
        bool is_fresh = sql_get_int(&q) == 0;
        doc_id first = sql_get_int(&q);
        if (is_fresh) {
            TRY(fresh_search_row(ctx, &fresh, first, sql_see_blob(&q)));
            continue;
        }
        TRY(add_postings(ctx, first, sql_see_blob(&q), block, &n, BLOCK_ENTRIES));
        size_t take = n < left ? n : left;
        left -= take;
        memcpy(v + left, block + n - take, take * sizeof *v);
    }
    TRY(sql_end(&q));
    *out = fresh_search_join(&ctx->arena, fresh.found, v + left, max - left);
    size_t more = out->n > max ? out->n - max : 0;
    out->v += more;
    out->n -= more;
    return OK;
}
