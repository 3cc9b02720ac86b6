/* forget.c - forgetting a message, a session, memories of a kind, a pool or a user. */
#include "store/sql/write/forget.h"

#include "base/clock.h"
#include "core/session_title.h"
#include "store/sql/db/lookup.h"
#include "store/sql/db/rows.h"
#include "store/sql/index/titles.h"
#include "store/sql/records/pending.h"

/*
 * A call is one transaction, so that nobody reads half of it. A user may have millions of rows, so
 * they are read and erased in batches, whose memory is freed in between (eraser.c).
 *
 * Order of a call: decide how words are removed, erase rows in batches, undo summaries of what was
 * erased, delete receipts that show it; the writer then empties the log, and the vectors in memory
 * follow. With secure_delete SQLite overwrites freed space with zeros, so nothing stays readable in
 * the file.
 */

/* --- batches --- */

static enum status erase_messages(struct eraser *e, struct part *w, size_t *n)
{
    struct message *v;
    TRY(SQL_LIST(e->ctx, e->db, read_message, &v, n, SQL_MESSAGE_RANGE, e->pool,
                 session_first(w->session), session_last(w->session), (int64_t)w->batch));
    for (size_t i = 0; i < *n; i++)
        TRY(erase_message(e, &v[i], w->f->what->keeps_memories));
    return SQL_DO(e->ctx, e->db, SQL_SESSION_SHRINK, e->pool, w->session, (int64_t)*n);
}

/* Those of the session, or of the whole pool. */
static enum status erase_memories(struct eraser *e, struct part *w, size_t *n)
{
    struct memory *v;
    TRY(w->session_id.n ? SQL_LIST(e->ctx, e->db, read_memory, &v, n, SQL_MEMORY_OF_SESSION,
                                   e->pool, w->session_id, (int64_t)w->batch)
                        : SQL_LIST(e->ctx, e->db, read_memory, &v, n, SQL_MEMORY_OF_KIND, e->pool,
                                   -1, 0, S(""), (int64_t)w->batch));
    return erase_listed(e, v, *n);
}

/* Memories of a type or age. The id of the last one begins the next batch. */
static enum status erase_kind(struct eraser *e, struct part *w, size_t *n)
{
    struct memory *v;
    TRY(SQL_LIST(e->ctx, e->db, read_memory, &v, n, SQL_MEMORY_OF_KIND, e->pool,
                 name_index(type_names, w->f->what->type, -1), w->f->what->before, w->f->last,
                 (int64_t)w->batch));
    if (*n)
        w->f->last = str_dup(&w->f->ctx->arena, v[*n - 1].id);
    return erase_listed(e, v, *n);
}

/* --- summaries of what was erased --- */

/* A summary may itself be part of a summary, so it is asked again after each find. *n is set to a
 * whole batch as long as something was found, so that erase_in_batches asks again. */
static enum status erase_summaries(struct eraser *e, struct part *w, size_t *n)
{
    struct memory *v;
    TRY(SQL_LIST(e->ctx, e->db, read_memory, &v, n, SQL_MEMORY_OF_ERASED, e->pool,
                 (int64_t)w->batch));
    TRY(erase_listed(e, v, *n));
    *n = *n ? w->batch : 0;
    return OK;
}

enum status memory_reopen(struct eraser *e, struct memory *m)
{
    struct memory other;
    TRY(memory_find(e->ctx, e->db, SQL_MEMORY_BY_KEY, e->pool, m->key, &other));
    if (other.id.n)
        return SQL_DO(e->ctx, e->db, SQL_MEMORY_CLOSE, e->pool, memory_no(m->doc),
                      other.valid_from ? other.valid_from : other.created, other.id, clock_ms());
    TRY(SQL_DO(e->ctx, e->db, SQL_MEMORY_REOPEN, e->pool, memory_no(m->doc), clock_ms()));
    index_note_memory(&e->ctx->arena, &e->changes, e->pool, false, m, NULL);
    e->gain.memories++;
    e->gain.closed--;
    return OK;
}

static enum status reopen_members(struct eraser *e, struct part *w, size_t *n)
{
    struct memory *v;
    TRY(SQL_LIST(e->ctx, e->db, read_memory, &v, n, SQL_MEMORY_TO_REOPEN, e->pool,
                 (int64_t)w->batch));
    for (size_t i = 0; i < *n; i++)
        TRY(memory_reopen(e, &v[i]));
    return OK;
}

enum status undo_summaries(struct ctx *ctx, struct db *db, int64_t pool, int64_t *erased)
{
    struct forgetting f = {.ctx = ctx, .db = db, .erased = erased};
    TRY(erase_in_batches(&f, pool, (struct part){0}, erase_summaries));
    return erase_in_batches(&f, pool, (struct part){0}, reopen_members);
}

/* --- what can be forgotten --- */

static enum status erase_learnt(struct forgetting *f, struct part all, int64_t pool)
{
    struct eraser e = {.ctx = f->ctx, .db = f->db, .pool = pool};
    TRY(erase_distilled(&e, all.session_id));
    TRY(eraser_end(&e, f->erased));
    return erase_in_batches(f, pool, all, erase_memories);
}

/* The row goes last: as long as it is there, the session is found again. */
static enum status erase_session(struct forgetting *f, int64_t pool, int64_t no, str id)
{
    assert(pool && id.n); /* without a row no is 0, and there is no message */
    const struct part all = {.session = no, .session_id = id};
    TRY(signals_erase(f->ctx, f->db, (struct session_ref){pool, no}));
    TRY(erase_in_batches(f, pool, all, erase_messages));
    if (time_is_spent(f))
        return OK;
    TRY(f->what->keeps_memories ? SQL_DO(f->ctx, f->db, SQL_MEMORY_LEAVE_SESSION, pool, id)
                                : erase_learnt(f, all, pool));
    if (time_is_spent(f))
        return OK;
    TRY(SQL_DO(f->ctx, f->db, SQL_RECEIPT_DELETE_SESSION, pool, id));
    if (!no)
        return OK;
    TRY(title_put(f->ctx, f->db, pool, no, S("")));
    TRY(SQL_DO(f->ctx, f->db, SQL_SESSION_DELETE, pool, no));
    return pool_count(f->ctx, f->db, pool, (struct pool_gain){.sessions = -1});
}

/* Rows of a pool that nothing hangs on. */
static enum status erase_rows(struct forgetting *f, enum sql which, int64_t pool)
{
    while (!time_is_spent(f)) {
        TRY(SQL_DO(f->ctx, f->db, which, pool, ERASE_BATCH));
        if (!db_changes(f->db))
            break;
    }
    return OK;
}

static enum status erase_sessions(struct forgetting *f, int64_t pool)
{
    for (int64_t no = 1; no && !time_is_spent(f);) {
        str id;
        no = 0;
        TRY(SQL_ALONE(SQL_GET_ROW(&q_, no, id), f->ctx, f->db, SQL_SESSION_FIRST, pool));
        if (no)
            TRY(erase_session(f, pool, no, id));
    }
    return OK;
}

static enum status erase_pool(struct forgetting *f, int64_t pool)
{
    assert(pool);
    TRY(SQL_DO(f->ctx, f->db, SQL_WORK_FORGET, pool));
    TRY(SQL_DO(f->ctx, f->db, SQL_UNDO_DELETE_ALL, pool));
    TRY(erase_rows(f, SQL_RECEIPT_DELETE_SOME, pool)); /* each session would search them */
    TRY(erase_sessions(f, pool));
    TRY(erase_in_batches(f, pool, (struct part){0}, erase_memories));
    TRY(erase_rows(f, SQL_VECTOR_DELETE_SOME, pool));
    TRY(erase_rows(f, SQL_VECTOR_TODO_DELETE_SOME, pool));
    TRY(erase_rows(f, SQL_TITLE_DELETE_SOME, pool));
    if (time_is_spent(f))
        return OK;
    TRY(SQL_DO(f->ctx, f->db, SQL_BAR_DELETE_BEFORE, pool, INT64_MAX));
    return SQL_DO(f->ctx, f->db, SQL_POOL_DELETE, pool);
}

static enum status erase_user(struct forgetting *f)
{
    int64_t pool = 0, n = 0;
    TRY(SQL_DO(f->ctx, f->db, SQL_WORK_FORGET_USER, f->what->pool.user));
    while (!time_is_spent(f)) {
        TRY(SQL_NUMBER(f->ctx, f->db, &pool, SQL_POOL_OF_USER, f->what->pool.user));
        if (!pool)
            break;
        TRY(erase_pool(f, pool));
        n++;
    }
    return n ? OK : fail(f->ctx, NOT_FOUND, "there is nothing to forget");
}

/* A session without a row may still be named by memories or receipts. total_changes counts rows of
 * any table, so it also sees the ones that only name the session. */
static enum status forget_session(struct forgetting *f, int64_t pool, str id)
{
    int64_t no, changed = db_total_changes(f->db);
    TRY(session_find(f->ctx, f->db, pool, id, &no));
    TRY(erase_session(f, pool, no, id));
    return no || db_total_changes(f->db) > changed
               ? OK
               : fail(f->ctx, NOT_FOUND, "no memory, message or session has the id '" S_FMT "'",
                      S_ARG(id));
}

enum status leave_title(const struct forgetting *f, int64_t pool, const struct message *m)
{
    int64_t no = doc_session(m->doc);
    str title;
    TRY(SQL_WORD(f->ctx, f->db, &title, SQL_SESSION_TITLE, pool, no));
    if (!is_title_of(title, m->text))
        return OK;
    TRY(SQL_DO(f->ctx, f->db, SQL_SESSION_CHANGE, pool, no, 1, S(""), 0, S("")));
    return title_put(f->ctx, f->db, pool, no, S(""));
}

/* The id is a memory's, a message's or, failing both, a session's. */
static enum status forget_id(struct forgetting *f, int64_t pool)
{
    struct eraser e = {.ctx = f->ctx, .db = f->db, .pool = pool};
    struct message message = {0};
    struct memory memory = {0};
    if (f->what->if_updated)
        TRY(memory_find(f->ctx, f->db, SQL_MEMORY_BY_ID, pool, f->what->id, &memory));
    TRY(memory_unchanged(f->ctx, &memory, f->what->if_updated));
    TRY(erase_memories_with(&e, SQL_MEMORY_BY_ID, f->what->id));
    TRY(SQL_FIRST(f->ctx, f->db, read_message, &message, SQL_MESSAGE_BY_ID, pool, f->what->id));
    if (message.id.n) {
        TRY(leave_title(f, pool, &message));
        TRY(erase_message(&e, &message, false));
        TRY(SQL_DO(f->ctx, f->db, SQL_SIGNAL_DELETE, pool, message.doc, message.doc));
        TRY(erase_distilled(&e, message.session));
        TRY(SQL_DO(f->ctx, f->db, SQL_SESSION_SHRINK, pool, doc_session(message.doc), 1));
    }
    if (e.gain.messages + e.gain.memories + e.gain.closed)
        return eraser_end(&e, f->erased);
    return forget_session(f, pool, f->what->id);
}

static enum status forget_kind(struct forgetting *f, int64_t pool)
{
    TRY(erase_in_batches(f, pool, (struct part){0}, erase_kind));
    return *f->erased ? OK : fail(f->ctx, NOT_FOUND, "there is no such memory");
}

/* A user or a pool takes its receipts and summaries with it; other cases look them up. */
static enum status erase_what(struct forgetting *f, int64_t pool)
{
    const struct forget *what = f->what;
    if (what->all_spaces)
        return erase_user(f);
    if (!pool)
        return fail(f->ctx, NOT_FOUND, "there is nothing to forget");
    if (what->everything)
        return erase_pool(f, pool);
    TRY(what->n_ids      ? erase_each(f->ctx, f->db, pool, what, f->erased)
        : what->memories ? forget_kind(f, pool)
        : what->id.n     ? forget_id(f, pool)
                         : forget_session(f, pool, what->session));
    TRY(undo_summaries(f->ctx, f->db, pool, f->erased));
    return SQL_DO(f->ctx, f->db, SQL_RECEIPT_DELETE_SHOWN, pool);
}

/* --- the words of what is forgotten --- */

/* FTS5 can remove a word from its pages at once (about 20 us a word), or mark it and drop it when
 * the index is rewritten (about 10 us for each document of the store). Nothing is left either way;
 * the cheaper one is chosen. */
enum { MANY = 1000, REWRITE_PAYS = 20 };

static enum status count_documents(struct ctx *ctx, struct db *db, const struct forget *what,
                                   int64_t pool, int64_t *out)
{
    if (what->n_ids) {
        *out = (int64_t)what->n_ids;
        return OK;
    }
    if (what->memories)
        return SQL_NUMBER(ctx, db, out, SQL_MEMORY_OF_KIND_COUNT, pool,
                          name_index(type_names, what->type, -1), what->before);
    if (what->everything)
        return SQL_NUMBER(ctx, db, out, SQL_WORDS_OF_USER, what->pool.user,
                          what->all_spaces ? 0 : pool);
    return SQL_NUMBER(ctx, db, out, SQL_WORDS_OF_SESSION, pool,
                      what->id.n ? what->id : what->session);
}

enum status forget_measure(struct ctx *ctx, struct db *db, const struct forget *what,
                           int64_t *documents, bool *rewrites)
{
    int64_t all;
    POOL_ROW(row, ctx, db, what->pool);
    TRY(count_documents(ctx, db, what, row.no, documents));
    TRY(SQL_NUMBER(ctx, db, &all, SQL_WORDS_TOTAL));
    *rewrites = !is_postgres(db) && *documents > MANY && *documents * REWRITE_PAYS > all;
    return OK;
}

/* How FTS5 removes words; PostgreSQL's rows are rewritten at once. */
static enum status set_removal(const struct forgetting *f, bool at_once)
{
    return is_postgres(f->db) ? OK : SQL_DO(f->ctx, f->db, SQL_WORDS_REMOVAL, at_once);
}

/* Words are removed at once again behind it, whoever erases next. */
enum status forget_some(struct forgetting *f, bool rewrites)
{
    assert(f->db->changes && db_in_transaction(f->db));
    TRY(SQL_DO(f->ctx, f->db, SQL_ERASED_CLEAR));
    POOL_ROW(row, f->ctx, f->db, f->what->pool);
    TRY(set_removal(f, !rewrites));
    TRY(erase_what(f, row.no));
    return rewrites ? set_removal(f, true) : OK;
}

enum status pool_forget(struct ctx *ctx, struct db *db, const struct forget *what, int64_t *erased)
{
    struct forgetting f = {.ctx = ctx, .db = db, .what = what, .erased = erased};
    int64_t documents;
    bool rewrites;
    *erased = 0;
    TRY(forget_measure(ctx, db, what, &documents, &rewrites));
    TRY(forget_some(&f, rewrites));
    return rewrites ? SQL_DO(ctx, db, SQL_WORDS_REWRITE) : OK;
}
