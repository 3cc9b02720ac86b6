/* search.c - searching the words index: one list of documents for each word, merged. */
#include "base/clock.h"
#include "store/sqlite/sqlite_store.h"

enum { COUNT_MAX = 15 };

struct posting {
    doc_id doc;
    uint8_t counts; /* low half: own, high half: label */
};

struct postings {
    struct posting *v;
    size_t n, cap, max;
};

/* take(words): the SQL function that notes a row of a match; its result says nothing. It fails the
 * statement when there is more than asked for. */
static void take(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *result, int n,
                 sqlite3_value **values)
{
    struct postings *p = api->xUserData(fts);
    Fts5PhraseIter at;
    int column, offset;
    unsigned counts[2] = {0, 0};
    (void)n, (void)values;
    if (p->n == p->max) {
        sqlite3_result_error_code(result, SQLITE_ABORT);
        return;
    }
    if (p->n == p->cap) {
        p->cap = p->cap ? p->cap * 2 : 1024;
        p->v = heap_grow(p->v, p->cap * sizeof *p->v);
    }
    int rc = api->xPhraseFirst(fts, 0, &at, &column, &offset);
    for (; rc == SQLITE_OK && column >= 0; api->xPhraseNext(fts, &at, &column, &offset))
        counts[column & 1] += counts[column & 1] < COUNT_MAX;
    if (rc != SQLITE_OK) {
        sqlite3_result_error_code(result, rc);
        return;
    }
    p->v[p->n++] = (struct posting){api->xRowid(fts), (uint8_t)(counts[0] | counts[1] << 4)};
    sqlite3_result_int(result, 1);
}

enum status words_setup(struct ctx *ctx, struct db *db)
{
    fts5_api *api = NULL;
    sqlite3_stmt *stmt = NULL;
    db->postings = heap_alloc(sizeof *db->postings);
    int rc = sqlite3_prepare_v2(db->handle, "SELECT fts5(?1)", -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_pointer(stmt, 1, &api, "fts5_api_ptr", NULL);
    if (rc == SQLITE_OK)
        sqlite3_step(stmt);
    rc = sqlite3_finalize(stmt);
    if (rc == SQLITE_OK && api)
        rc = api->xCreateFunction(api, "take", db->postings, take, NULL);
    return rc == SQLITE_OK && api ? OK : db_failed(ctx, db, rc);
}

void words_end(struct db *db)
{
    if (db->postings)
        free(db->postings->v);
    free(db->postings);
    db->postings = NULL;
}

/* The documents of one word from a number on, ascending; *too_many when there are more than max. */
static enum status fetch(struct ctx *ctx, struct db *db, const struct word_prefix *prefix, str stem,
                         doc_id least, size_t max, bool *too_many)
{
    char match[TOKEN_MAX + 2] = "\"";
    size_t n = 1 + word_token(match + 1, prefix, stem);
    match[n++] = '"';
    db->postings->n = 0;
    db->postings->max = max;
    SQL_RUN(q, ctx, db, SQL_WORDS_FIND);
    sql_text(&q, (str){match, n});
    sql_int(&q, least);
    while (sql_row(&q))
        continue;
    *too_many = q.rc == SQLITE_ABORT;
    return *too_many ? OK : sql_end(&q);
}

struct word_list {
    size_t word;
    struct posting *v;
    size_t n;
};

/* Both lists ascend; so does what comes of them. */
static struct word_hits merge(struct arena *a, const struct word_hits *hits,
                              const struct word_list *list)
{
    struct word_hits out = {.v = NEW_N(a, struct word_hit, hits->n + list->n)};
    size_t i = 0, k = 0;
    while (i < hits->n || k < list->n) {
        struct word_hit *hit = &out.v[out.n++];
        doc_id left = i < hits->n ? hits->v[i].doc : INT64_MAX;
        doc_id right = k < list->n ? list->v[k].doc : INT64_MAX;
        if (left <= right)
            *hit = hits->v[i++];
        if (right <= left) {
            hit->doc = right;
            hit->counts[list->word] = list->v[k++].counts;
        }
    }
    return out;
}

/* Expired memories stay in the index until they are pruned. */
static enum status drop_expired(struct ctx *ctx, struct db *db, int64_t pool,
                                struct word_hits *hits)
{
    size_t i = 0, kept = 0;
    SQL_RUN(q, ctx, db, SQL_MEMORY_EXPIRED);
    sql_int(&q, pool);
    sql_int(&q, clock_ms());
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

static int by_count(const void *a, const void *b)
{
    const struct word_list *x = a, *y = b;
    return x->n < y->n ? -1 : x->n > y->n;
}

/* Rarest first, for as long as the documents together are no more than max. */
static void merge_all(struct arena *a, struct word_list *lists, size_t n, size_t max,
                      struct word_hits *hits)
{
    qsort(lists, n, sizeof *lists, by_count);
    for (size_t i = 0; i < n; i++) {
        struct word_hits more = merge(a, hits, &lists[i]);
        if (more.n > max) {
            for (; i < n; i++)
                hits->found[lists[i].word] = UINT32_MAX;
            return;
        }
        hits->v = more.v;
        hits->n = more.n;
    }
}

enum status sqlite_search_words(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                const str *stems, size_t n, doc_id least, size_t max,
                                struct word_hits *out)
{
    struct word_hits hits = {0};
    struct word_list lists[QUERY_WORDS_MAX];
    struct pool_row row;
    size_t n_lists = 0;
    READER(r);
    TRY(reader_begin(ctx, sqlite_of(s), &r));
    TRY(pool_find(ctx, r.db, pool, &row));
    struct word_prefix prefix = word_prefix_of(row.no);
    for (size_t i = 0; row.no && i < n; i++) {
        bool too_many;
        if (!stems[i].n)
            continue;
        TRY(fetch(ctx, r.db, &prefix, stems[i], least, max, &too_many));
        const struct postings *p = r.db->postings;
        hits.found[i] = too_many ? UINT32_MAX : (uint32_t)p->n;
        if (too_many || !p->n)
            continue;
        struct posting *v = NEW_N(&ctx->arena, struct posting, p->n);
        memcpy(v, p->v, p->n * sizeof *v);
        lists[n_lists++] = (struct word_list){i, v, p->n};
    }
    merge_all(&ctx->arena, lists, n_lists, max, &hits);
    if (hits.n && doc_is_memory(hits.v[hits.n - 1].doc))
        TRY(drop_expired(ctx, r.db, row.no, &hits));
    hits.messages = row.messages;
    hits.memories = row.memories;
    *out = hits;
    return OK;
}
