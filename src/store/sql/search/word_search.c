/* word_search.c - searching the words index: one list of documents for each word, merged. */
#include "store/sql/db/functions.h"
#include "store/sql/db/lookup.h"
#include "store/sql/index/posting_cache.h"
#include "store/sql/index/word_blocks.h"
#include "store/sql/index/words.h"
#include "store/sql/state/reader.h"

/*
 * FTS5 only delivers, for each word, which documents have it and how often; ranking is the
 * engine's. A word with more than max documents is too common to be worth its reading: it is
 * skipped, and found says so. Lists are sorted by document, so merging is linear in their lengths.
 * Lists that were fetched before are kept (posting_cache.c).
 */

/* What is searched, in one view of the store. */
struct word_scan {
    struct ctx *ctx;
    struct db *db;
    int64_t pool;
    struct word_prefix prefix;
    uint64_t view;
    doc_id least;
    size_t max;
};

static struct word_scan scan_of(struct ctx *ctx, struct db *db, const struct pool_row *row,
                                bool memories_only, size_t max)
{
    return (struct word_scan){.ctx = ctx,
                              .db = db,
                              .pool = row->no,
                              .prefix = word_prefix_of(row->no, row->generation),
                              .least = memories_only ? DOC_MEMORY : 0,
                              .max = max};
}

/* The token of a stem, in the arena. */
static str token_of(const struct word_scan *s, str stem)
{
    char token[TOKEN_MAX];
    return str_dup(&s->ctx->arena, (str){token, word_token(token, &s->prefix, stem)});
}

/* Without its pool. */
static str word_of(const struct word_scan *s, str token)
{
    return str_sub(token, s->prefix.n, token.n);
}

/* In quotes, as FTS5 wants it. */
static str match_of(const struct word_scan *s, str token)
{
    return str_printf(&s->ctx->arena, "\"" S_FMT "\"", S_ARG(token));
}

/* The documents of one word, by the index. SQLITE_ABORT is what take() fails with above max. */
static enum status ask_index(const struct word_scan *s, str token, struct word_docs *out)
{
    struct postings *p = s->db->postings;
    p->n = 0;
    p->max = s->max;
    SQL_RUN(q, s->ctx, s->db, SQL_WORDS_FIND, match_of(s, token), s->least);
    while (sql_row(&q))
        continue;
    *out = (struct word_docs){.is_over = q.rc == SQLITE_ABORT};
    if (out->is_over)
        return OK;
    TRY(sql_end(&q));
    out->v = DUP_N(&s->ctx->arena, p->v, p->n, p->n + 1);
    out->n = p->n;
    return OK;
}

/* On PostgreSQL with one statement for all. */
static enum status ask_words(const struct word_scan *s, const str *tokens, size_t n,
                             struct word_docs *out)
{
    str words[QUERY_WORDS_MAX];
    for (size_t i = 0; i < n; i++) {
        words[i] = word_of(s, tokens[i]);
        if (!is_postgres(s->db))
            TRY(ask_index(s, tokens[i], &out[i]));
    }
    return n && is_postgres(s->db)
               ? word_blocks_find(s->ctx, s->db, s->pool, words, n, s->least, s->max, out)
               : OK;
}

/* All words at once; those that are kept are given back when it fails. */
static enum status fetch_words(const struct word_scan *s, const str *stems, size_t n,
                               struct word_docs *out)
{
    struct word_docs asked[QUERY_WORDS_MAX];
    str tokens[QUERY_WORDS_MAX];
    size_t places[QUERY_WORDS_MAX], n_missing = 0;
    for (size_t i = 0; i < n; i++) {
        str token = token_of(s, stems[i]);
        out[i] = (struct word_docs){.n = 0};
        if (!stems[i].n || word_lists_find(s->db->lists, s->view, token, s->least, s->max, &out[i]))
            continue;
        tokens[n_missing] = token;
        places[n_missing++] = i;
    }
    enum status status = ask_words(s, tokens, n_missing, asked);
    for (size_t i = 0; status != OK && i < n; i++)
        word_docs_end(&out[i]);
    for (size_t i = 0; status == OK && i < n_missing; i++) {
        word_lists_keep(s->db->lists, s->view, tokens[i], s->least, &asked[i], s->max);
        out[places[i]] = asked[i];
    }
    return status;
}

/* What is not kept, without its documents. */
static size_t find_missing(const struct word_scan *s, const str *stems, size_t n, str *words)
{
    size_t n_missing = 0;
    for (size_t i = 0; i < n; i++) {
        str token = token_of(s, stems[i]);
        struct word_docs docs = {.n = 0};
        bool is_kept = !stems[i].n || (s->view && word_lists_find(s->db->lists, s->view, token,
                                                                  s->least, s->max, &docs));
        if (is_kept)
            word_docs_end(&docs);
        else
            words[n_missing++] = word_of(s, token);
    }
    return n_missing;
}

/* One word's documents, until the search ends. */
struct word_list {
    size_t word;
    struct word_docs docs;
};

struct lists {
    struct word_list v[QUERY_WORDS_MAX];
    size_t n;
};

static void lists_end(struct lists *lists)
{
    for (size_t i = 0; i < lists->n; i++)
        word_docs_end(&lists->v[i].docs);
}

/* Both lists are in ascending order, and so is the result. */
static struct word_hits merge_list(struct arena *a, const struct word_hits *hits,
                                   const struct word_list *list)
{
    const struct word_docs *docs = &list->docs;
    struct word_hits out = {.v = ROOM_N(a, struct word_hit, hits->n + docs->n)};
    size_t i = 0, k = 0;
    while (i < hits->n || k < docs->n) {
        struct word_hit *hit = &out.v[out.n++];
        doc_id left = i < hits->n ? hits->v[i].doc : INT64_MAX;
        doc_id right = k < docs->n ? docs->v[k].doc : INT64_MAX;
        if (left <= right)
            *hit = hits->v[i++];
        else
            *hit = (struct word_hit){.doc = right};
        if (right <= left)
            hit->counts[list->word] = docs->v[k++].counts;
    }
    return out;
}

/* Expired memories stay in the index until they are pruned. Both lists are ascending, so one walk
 * is enough. */
static enum status drop_expired(struct ctx *ctx, struct db *db, int64_t pool,
                                struct word_hits *hits)
{
    size_t i = 0, kept = 0;
    SQL_RUN(q, ctx, db, SQL_MEMORY_EXPIRED, pool, expired_by(db));
    while (sql_row(&q)) {
        doc_id gone = DOC_MEMORY | sql_get_int(&q);
        while (i < hits->n && hits->v[i].doc < gone)
            hits->v[kept++] = hits->v[i++];
        if (i < hits->n && hits->v[i].doc == gone)
            i++;
    }
    while (i < hits->n)
        hits->v[kept++] = hits->v[i++];
    hits->n = kept;
    return sql_end(&q);
}

ORDER(by_count, struct word_list, UP(docs.n));

/* Rarest word first, as long as there are at most max documents: common words tell the least. */
static void merge_all(struct arena *a, struct word_list *lists, size_t n, size_t max,
                      struct word_hits *hits)
{
    qsort(lists, n, sizeof *lists, by_count);
    for (size_t i = 0; i < n; i++) {
        struct word_hits more = merge_list(a, hits, &lists[i]);
        if (more.n > max) {
            for (; i < n; i++)
                hits->found[lists[i].word] = UINT32_MAX;
            return;
        }
        hits->v = more.v;
        hits->n = more.n;
    }
}

/* Lists of words are on the stack. */
static enum status check_words(struct ctx *ctx, size_t n)
{
    if (n > QUERY_WORDS_MAX)
        return fail(ctx, BAD_INPUT, "at most %d words are searched at once", QUERY_WORDS_MAX);
    return OK;
}

/* The numbers of memories are above those of messages. */
enum status store_search_words(struct ctx *ctx, struct store *s, struct pool_ref pool,
                               const str *stems, size_t n, bool memories_only, size_t max,
                               struct word_hits *out)
{
    CLEANUP(lists_end) struct lists lists = {.n = 0};
    TRY(check_words(ctx, n));
    POOL_READER(r, row, ctx, s, pool);
    struct word_scan scan = scan_of(ctx, r.db, &row, memories_only, max);
    struct word_hits hits = {.messages = row.messages, .memories = row.memories};
    struct word_docs docs[QUERY_WORDS_MAX];
    TRY(words_view(ctx, r.db, &scan.view));
    if (row.no)
        TRY(fetch_words(&scan, stems, n, docs));
    for (size_t i = 0; row.no && i < n; i++) {
        hits.found[i] = docs[i].is_over ? UINT32_MAX : (uint32_t)docs[i].n;
        if (docs[i].n)
            lists.v[lists.n++] = (struct word_list){i, docs[i]};
    }
    merge_all(&ctx->arena, lists.v, lists.n, max, &hits);
    if (hits.n && doc_is_memory(hits.v[hits.n - 1].doc))
        TRY(drop_expired(ctx, r.db, row.no, &hits));
    *out = hits;
    return OK;
}

/* In the groups in which they will be searched. Of a pool that was not asked for in this view, its
 * last state is taken for its state. */
enum status store_ask_words(struct ctx *ctx, struct store *s, struct pool_ref pool,
                            const str *stems, size_t n, bool memories_only, size_t max)
{
    str words[QUERY_WORDS_MAX];
    struct pool_row row;
    if (!store_is_postgres(s) || !ctx->view)
        return OK;
    READER(r, ctx, s);
    TRY(pool_guess(ctx, r.db, pool, &row));
    struct word_scan scan = scan_of(ctx, r.db, &row, memories_only, max);
    if (row.no)
        SQL_AHEAD(ctx, r.db, SQL_MEMORY_EXPIRED, row.no, expired_by(r.db));
    if (row.generation)
        TRY(words_view(ctx, r.db, &scan.view));
    for (size_t at = 0; row.no && at < n; at += QUERY_WORDS_MAX) {
        size_t some = n - at < QUERY_WORDS_MAX ? n - at : QUERY_WORDS_MAX;
        some = find_missing(&scan, stems + at, some, words);
        if (some)
            word_blocks_ask(ctx, r.db, row.no, words, some, scan.least, max);
    }
    return OK;
}

/* --- words that are too common --- */

/* The newest max documents between two numbers, ascending. More than max end the statement. */
static enum status take_newest(const struct word_scan *s, str stem, doc_id from, doc_id to,
                               struct word_docs *out)
{
    struct postings *p = s->db->postings;
    str token = token_of(s, stem);
    if (is_postgres(s->db))
        return word_blocks_newest(s->ctx, s->db, s->pool, word_of(s, token), from, to, s->max, out);
    p->n = 0;
    p->max = s->max;
    SQL_RUN(q, s->ctx, s->db, SQL_WORDS_NEWEST, match_of(s, token), from, to);
    while (sql_row(&q))
        continue;
    if (q.rc != SQLITE_ABORT)
        TRY(sql_end(&q));
    struct posting *v = NEW_N(&s->ctx->arena, struct posting, p->n + 1);
    for (size_t i = 0; i < p->n; i++)
        v[i] = p->v[p->n - 1 - i];
    *out = (struct word_docs){.v = v, .n = p->n};
    return OK;
}

static enum status add_newest(const struct word_scan *s, size_t word, str stem, doc_id from,
                              doc_id to, struct word_hits *hits)
{
    struct word_list list = {.word = word};
    TRY(take_newest(s, stem, from, to, &list.docs));
    struct word_hits more = merge_list(&s->ctx->arena, hits, &list);
    hits->v = more.v;
    hits->n = more.n;
    return OK;
}

enum status store_search_newest_words(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                      const str *stems, size_t n, bool memories_only, size_t max,
                                      struct word_hits *out)
{
    TRY(check_words(ctx, n));
    assert(n <= QUERY_WORDS_MAX && max);
    POOL_READER(r, row, ctx, s, pool);
    struct word_scan scan = scan_of(ctx, r.db, &row, memories_only, max);
    struct word_hits hits = {.messages = row.messages, .memories = row.memories};
    for (size_t i = 0; row.no && i < n; i++) {
        if (!stems[i].n)
            continue;
        hits.found[i] = (uint32_t)(row.messages + row.memories);
        if (!memories_only)
            TRY(add_newest(&scan, i, stems[i], 0, DOC_MEMORY - 1, &hits));
        TRY(add_newest(&scan, i, stems[i], DOC_MEMORY, INT64_MAX, &hits));
    }
    TRY(drop_expired(ctx, r.db, row.no, &hits));
    *out = hits;
    return OK;
}
