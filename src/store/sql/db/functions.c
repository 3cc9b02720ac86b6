/* functions.c - take() collects the matches of a word, tokens() counts, holds() finds a part. */
#include "store/sql/db/functions.h"

#include "base/utf8.h"
#include "core/tokens.h"

/* The two counts of a posting share one byte. */
void posting_count(struct posting *p, enum word_column at)
{
    enum { COUNT_MAX = 15 };
    unsigned shift = at == IN_LABEL ? 4 : 0;
    if ((p->counts >> shift & COUNT_MAX) < COUNT_MAX)
        p->counts = (uint8_t)(p->counts + (1u << shift));
}

/* FTS5 gives rows one by one, and stepping to each costs microseconds. So the statement calls
 * take(words), which notes the row and its counts; the result is not used. Above max rows it
 * fails the statement. An auxiliary function of FTS5 (sqlite.org/fts5.html, "Extending FTS5").
 * Column 0 is the text's own words, 1 the label. Rows come in ascending order, so the list needs
 * no sorting. */
static void take_match(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *result,
                       UNUSED int n, UNUSED sqlite3_value **values)
{
    struct postings *p = api->xUserData(fts);
    Fts5PhraseIter at;
    int column, offset;
    if (p->n == p->max) {
        sqlite3_result_error_code(result, SQLITE_ABORT);
        return;
    }
    if (p->n == p->cap) {
        p->cap = p->cap ? p->cap * 2 : 1024;
        p->v = heap_grow(p->v, p->cap * sizeof *p->v);
    }
    struct posting posting = {.doc = api->xRowid(fts)};
    int rc = api->xPhraseFirst(fts, 0, &at, &column, &offset);
    for (; rc == SQLITE_OK && column >= 0; api->xPhraseNext(fts, &at, &column, &offset))
        posting_count(&posting, column ? IN_LABEL : IN_TEXT);
    if (rc != SQLITE_OK) {
        sqlite3_result_error_code(result, rc);
        return;
    }
    p->v[p->n++] = posting;
    sqlite3_result_int(result, 1);
}

str value_text(sqlite3_value *v)
{
    const char *p = (const char *)sqlite3_value_text(v);
    return p ? (str){p, (size_t)sqlite3_value_bytes(v)} : S("");
}

/* As the token budget counts them, for the totals of a list. */
static void count_tokens(sqlite3_context *result, UNUSED int n, sqlite3_value **values)
{
    sqlite3_result_int64(result, tokens_of(value_text(values[0])));
}

static bool ascii_holds(str text, str part)
{
    for (size_t i = 0; i + part.n <= text.n; i++) {
        size_t n = 0;
        while (n < part.n && ascii_lower(text.p[i + n]) == part.p[n])
            n++;
        if (n == part.n)
            return true;
    }
    return false;
}

/* holds(text, part): whether the part is in the text, in any case. part is lower case already. */
static void find_part(sqlite3_context *result, UNUSED int n, sqlite3_value **values)
{
    str text = value_text(values[0]), part = value_text(values[1]);
    if (utf8_is_ascii(text)) { /* as most are: then nothing has to be written to be compared */
        sqlite3_result_int(result, ascii_holds(text, part));
        return;
    }
    CLEANUP(arena_free) struct arena own = {0};
    text = utf8_lower(&own, text);
    sqlite3_result_int(result, !part.n || str_find(text, part) < text.n);
}

/* FTS5 hands out its interface only through a pointer bound to a statement. */
static int add_take(struct db *db)
{
    fts5_api *api = NULL;
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db->handle, "SELECT fts5(?1)", -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_pointer(stmt, 1, &api, "fts5_api_ptr", NULL);
    if (rc == SQLITE_OK)
        sqlite3_step(stmt);
    rc = sqlite3_finalize(stmt);
    if (rc == SQLITE_OK && !api)
        rc = SQLITE_ERROR;
    return rc == SQLITE_OK ? api->xCreateFunction(api, "take", db->postings, take_match, NULL) : rc;
}

int functions_add(struct db *db)
{
    enum { FLAGS = SQLITE_UTF8 | SQLITE_DETERMINISTIC };
    sqlite3 *handle = db->handle;
    assert(!db->postings);
    db->postings = heap_alloc(sizeof *db->postings);
    int rc = add_take(db);
    if (rc == SQLITE_OK)
        rc = sqlite3_create_function(handle, "tokens", 1, FLAGS, NULL, count_tokens, NULL, NULL);
    return rc == SQLITE_OK
               ? sqlite3_create_function(handle, "holds", 2, FLAGS, NULL, find_part, NULL, NULL)
               : rc;
}

void functions_end(struct db *db)
{
    if (db->postings)
        free(db->postings->v);
    free(db->postings);
}
