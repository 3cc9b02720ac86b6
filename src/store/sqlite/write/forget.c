/* forget.c - forgetting a message, a session, memories of a kind, a pool or a user. */
#include "store/sqlite/write/forget.h"

#include <assert.h>

#include "base/clock.h"
#include "store/sqlite/db/lookup.h"
#include "store/sqlite/db/rows.h"
#include "store/sqlite/index/titles.h"
#include "store/sqlite/records/pending.h"
#include "store/sqlite/records/undo_record.h"
#include "store/sqlite/search/vector_cache.h"
#include "store/sqlite/state/writer.h"
#include "store/sqlite/write/eraser.h"

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
    struct message *v = NEW_N(&e->ctx->arena, struct message, ERASE_BATCH);
    size_t have = 0;
    SQL_RUN(q, e->ctx, e->db, SQL_MESSAGE_RANGE, e->pool, session_first(w->session),
            session_last(w->session), ERASE_BATCH);
    while (sql_row(&q))
        read_message(&q, &v[have++]);
    TRY(sql_end(&q));
    for (size_t i = 0; i < have; i++)
        TRY(erase_message(e, &v[i], w->what && w->what->keeps_memories));
    *n = have;
    return OK;
}

static enum status first_memories(struct eraser *e, enum sql which, struct memory **v, size_t *n)
{
    SQL_RUN(q, e->ctx, e->db, which, e->pool, ERASE_BATCH);
    return read_memories(&q, v, n);
}

static enum status erase_pool_memories(struct eraser *e, struct part *w, size_t *n)
{
    struct memory *v;
    (void)w;
    TRY(first_memories(e, SQL_MEMORY_OF_POOL, &v, n));
    for (size_t i = 0; i < *n; i++)
        TRY(erase_memory(e, &v[i]));
    return OK;
}

/* Memories of a type or age. The id of the last one begins the next batch. */
static enum status erase_kind(struct eraser *e, struct part *w, size_t *n)
{
    struct memory *v;
    SQL_RUN(q, e->ctx, e->db, SQL_MEMORY_OF_KIND, e->pool,
            name_index(type_names, w->what->type, -1), w->what->before, w->last, ERASE_BATCH);
    TRY(read_memories(&q, &v, n));
    for (size_t i = 0; i < *n; i++)
        TRY(erase_memory(e, &v[i]));
    if (*n)
        w->last = str_dup(w->arena, v[*n - 1].id);
    return OK;
}

/* --- summaries of what was erased --- */

/* A summary may itself be part of a summary, so it is asked again after each find. *n is set to a
 * whole batch as long as something was found, so that erase_in_batches asks again. */
static enum status erase_summaries(struct eraser *e, struct part *w, size_t *n)
{
    struct memory *v;
    (void)w;
    TRY(first_memories(e, SQL_MEMORY_OF_ERASED, &v, n));
    for (size_t i = 0; i < *n; i++)
        TRY(erase_memory(e, &v[i]));
    *n = *n ? ERASE_BATCH : 0;
    return OK;
}

/* When another true memory has the key by now, the member stays closed, superseded by that one. */
enum status memory_reopen(struct eraser *e, struct memory *m)
{
    struct memory *other;
    size_t n = 0;
    if (m->key.n)
        TRY(memories_with(e, SQL_MEMORY_BY_KEY, m->key, &other, &n));
    SQL_RUN(q, e->ctx, e->db, n ? SQL_MEMORY_CLOSE : SQL_MEMORY_REOPEN, e->pool, memory_no(m->doc));
    if (n) {
        sql_int(&q, other->valid_from ? other->valid_from : other->created);
        sql_text(&q, other->id);
    }
    sql_int(&q, clock_ms());
    TRY(sql_do(&q));
    if (n)
        return OK;
    index_note_memory(&e->ctx->arena, &e->changes, e->pool, false, m,
                      index_of_memory(&e->ctx->arena, m));
    e->memories--;
    e->closed++;
    return OK;
}

static enum status reopen_members(struct eraser *e, struct part *w, size_t *n)
{
    struct memory *v;
    (void)w;
    TRY(first_memories(e, SQL_MEMORY_TO_REOPEN, &v, n));
    for (size_t i = 0; i < *n; i++)
        TRY(memory_reopen(e, &v[i]));
    return OK;
}

enum status undo_summaries(struct ctx *ctx, struct db *db, int64_t pool, int64_t *erased)
{
    TRY(erase_in_batches(ctx, db, pool, (struct part){0}, erase_summaries, erased));
    return erase_in_batches(ctx, db, pool, (struct part){0}, reopen_members, erased);
}

/* --- what can be forgotten --- */

static enum status erase_learnt(struct eraser *e, str session)
{
    TRY(erase_distilled(e, session));
    return erase_memories_with(e, SQL_MEMORY_BY_SESSION, session);
}

static enum status erase_session(struct ctx *ctx, struct db *db, int64_t pool, int64_t no, str id,
                                 const struct forget *what, int64_t *erased)
{
    struct eraser e = {.ctx = ctx, .db = db, .pool = pool};
    assert(pool && id.n);
    struct part all = {.session = no, .what = what};
    if (no)
        TRY(erase_in_batches(ctx, db, pool, all, erase_messages, erased));
    TRY(what->keeps_memories ? SQL_DO(ctx, db, SQL_MEMORY_LEAVE_SESSION, pool, id)
                             : erase_learnt(&e, id));
    TRY(SQL_DO(ctx, db, SQL_RECEIPT_DELETE_SESSION, pool, id));
    if (no)
        TRY(signals_erase(ctx, db, (struct session_ref){pool, no}));
    TRY(eraser_end(&e, erased));
    if (!no)
        return OK;
    e.messages = e.memories = e.closed = 0;
    TRY(title_put(ctx, db, pool, no, S("")));
    TRY(SQL_DO(ctx, db, SQL_SESSION_DELETE, pool, no));
    return pool_count(ctx, db, pool, (struct pool_gain){.sessions = -1});
}

static enum status next_session(struct ctx *ctx, struct db *db, int64_t pool, int64_t *no, str *id)
{
    *no = 0;
    SQL_RUN(q, ctx, db, SQL_SESSION_FIRST, pool);
    if (sql_row(&q)) {
        *no = sql_get_int(&q);
        *id = sql_get_text(&q);
    }
    return sql_end(&q);
}

static enum status erase_pool(struct ctx *ctx, struct db *db, int64_t pool,
                              const struct forget *what, int64_t *erased)
{
    assert(pool);
    str id = S("");
    /* Done first: each session would search these tables, and leave a row for each vector. */
    TRY(SQL_DO(ctx, db, SQL_RECEIPT_DELETE_ALL, pool));
    TRY(SQL_DO(ctx, db, SQL_WORK_FORGET, pool));
    TRY(SQL_DO(ctx, db, SQL_VECTOR_DELETE_ALL, pool));
    TRY(SQL_DO(ctx, db, SQL_VECTOR_TODO_DELETE_ALL, pool));
    TRY(SQL_DO(ctx, db, SQL_TITLE_DELETE_ALL, pool));
    TRY(SQL_DO(ctx, db, SQL_BAR_DELETE_ALL, pool));
    TRY(SQL_DO(ctx, db, SQL_UNDO_DELETE_ALL, pool));
    for (int64_t no = 1; no;) {
        TRY(next_session(ctx, db, pool, &no, &id));
        if (no)
            TRY(erase_session(ctx, db, pool, no, id, what, erased));
    }
    TRY(erase_in_batches(ctx, db, pool, (struct part){0}, erase_pool_memories, erased));
    return SQL_DO(ctx, db, SQL_POOL_DELETE, pool);
}

static enum status next_pool(struct ctx *ctx, struct db *db, str user, int64_t *pool)
{
    SQL_RUN(q, ctx, db, SQL_POOL_OF_USER, user);
    return sql_number(&q, pool);
}

static enum status erase_user(struct ctx *ctx, struct db *db, const struct forget *what,
                              int64_t *erased)
{
    int64_t pool = 0, n = 0;
    TRY(SQL_DO(ctx, db, SQL_WORK_FORGET_USER, what->pool.user));
    for (;;) {
        TRY(next_pool(ctx, db, what->pool.user, &pool));
        if (!pool)
            break;
        TRY(erase_pool(ctx, db, pool, what, erased));
        n++;
    }
    return n ? OK : fail(ctx, NOT_FOUND, "there is nothing to forget");
}

/* A session without a row may still be named by memories or receipts. total_changes counts rows of
 * any table, so it also sees the ones that only name the session. */
static enum status forget_session(struct ctx *ctx, struct db *db, int64_t pool, str id,
                                  const struct forget *what, int64_t *erased)
{
    int64_t no, changed = sqlite3_total_changes64(db->handle);
    TRY(session_find(ctx, db, pool, id, &no));
    TRY(erase_session(ctx, db, pool, no, id, what, erased));
    return no || sqlite3_total_changes64(db->handle) > changed
               ? OK
               : fail(ctx, NOT_FOUND, "no memory, message or session has the id '" S_FMT "'",
                      S_ARG(id));
}

static enum status find_message(struct eraser *e, str id, struct message *out)
{
    doc_id doc;
    TRY(message_find(e->ctx, e->db, e->pool, id, &doc));
    SQL_RUN(q, e->ctx, e->db, SQL_MESSAGE_GET, e->pool, doc);
    if (sql_row(&q))
        read_message(&q, out);
    return sql_end(&q);
}

/* The id is a memory's, a message's or, failing both, a session's. */
static enum status forget_id(struct ctx *ctx, struct db *db, int64_t pool,
                             const struct forget *what, int64_t *erased)
{
    struct eraser e = {.ctx = ctx, .db = db, .pool = pool};
    struct message message = {0};
    TRY(erase_memories_with(&e, SQL_MEMORY_BY_ID, what->id));
    TRY(find_message(&e, what->id, &message));
    if (message.id.n) {
        TRY(erase_message(&e, &message, false));
        TRY(signal_erase(ctx, db, pool, message.doc));
        TRY(erase_distilled(&e, message.session));
        TRY(SQL_DO(ctx, db, SQL_SESSION_SHRINK, pool, doc_session(message.doc)));
    }
    if (e.messages + e.memories + e.closed)
        return eraser_end(&e, erased);
    return forget_session(ctx, db, pool, what->id, what, erased);
}

static enum status forget_kind(struct ctx *ctx, struct db *db, int64_t pool,
                               const struct forget *what, int64_t *erased)
{
    TRY(erase_in_batches(ctx, db, pool, (struct part){.what = what}, erase_kind, erased));
    return *erased ? OK : fail(ctx, NOT_FOUND, "there is no such memory");
}

/* A user or a pool takes its receipts and summaries with it; other cases look them up. */
static enum status erase_what(struct ctx *ctx, struct db *db, const struct forget *what,
                              int64_t pool, int64_t *erased)
{
    if (what->all_spaces)
        return erase_user(ctx, db, what, erased);
    if (!pool)
        return fail(ctx, NOT_FOUND, "there is nothing to forget");
    if (what->everything)
        return erase_pool(ctx, db, pool, what, erased);
    TRY(what->n_ids      ? erase_each(ctx, db, pool, what->ids, what->n_ids, erased)
        : what->memories ? forget_kind(ctx, db, pool, what, erased)
        : what->id.n     ? forget_id(ctx, db, pool, what, erased)
                         : forget_session(ctx, db, pool, what->session, what, erased));
    TRY(undo_summaries(ctx, db, pool, erased));
    return SQL_DO(ctx, db, SQL_RECEIPT_DELETE_SHOWN, pool);
}

/* --- the words of what is forgotten --- */

/* FTS5 can remove a word from its pages at once (about 20 us a word), or mark it and drop it when
 * the index is rewritten (about 10 us for each document of the store). Nothing is left either way;
 * the cheaper one is chosen. */
enum { MANY = 1000, REWRITE_PAYS = 20 };

static enum status count_kind(struct ctx *ctx, struct db *db, const struct forget *what,
                              int64_t pool, int64_t *out)
{
    SQL_RUN(q, ctx, db, SQL_MEMORY_OF_KIND_COUNT, pool, name_index(type_names, what->type, -1),
            what->before);
    return sql_number(&q, out);
}

static enum status count_documents(struct ctx *ctx, struct db *db, const struct forget *what,
                                   int64_t pool, int64_t *out)
{
    if (what->n_ids) {
        *out = (int64_t)what->n_ids;
        return OK;
    }
    if (what->memories)
        return count_kind(ctx, db, what, pool, out);
    SQL_RUN(q, ctx, db, what->everything ? SQL_WORDS_OF_USER : SQL_WORDS_OF_SESSION);
    if (what->everything)
        sql_text(&q, what->pool.user);
    sql_int(&q, what->all_spaces ? 0 : pool);
    if (!what->everything)
        sql_text(&q, what->id.n ? what->id : what->session);
    return sql_number(&q, out);
}

static enum status count_all(struct ctx *ctx, struct db *db, int64_t *out)
{
    SQL_RUN(q, ctx, db, SQL_WORDS_TOTAL);
    return sql_number(&q, out);
}

enum status pool_forget(struct ctx *ctx, struct db *db, const struct forget *what, int64_t *erased)
{
    struct pool_row row;
    int64_t documents, all;
    assert(db->changes && db_in_transaction(db));
    TRY(erased_clear(ctx, db));
    *erased = 0;
    TRY(pool_find(ctx, db, what->pool, &row));
    TRY(count_documents(ctx, db, what, row.no, &documents));
    TRY(count_all(ctx, db, &all));
    bool rewrite = documents > MANY && documents * REWRITE_PAYS > all;
    TRY(SQL_DO(ctx, db, SQL_WORDS_REMOVAL, !rewrite));
    TRY(erase_what(ctx, db, what, row.no, erased));
    if (!rewrite)
        return OK;
    TRY(SQL_DO(ctx, db, SQL_WORDS_REWRITE));
    return SQL_DO(ctx, db, SQL_WORDS_REMOVAL, true);
}

/* --- the operation of the face --- */

struct forget_call {
    const struct forget *what;
    int64_t *erased;
};

static enum status forget_what(struct ctx *ctx, struct db *db, const void *what)
{
    const struct forget_call *f = what;
    const struct undo_mark *mark = f->what->undo;
    struct pool_row pool;
    UNDO_RECORD(undo);
    TRY(pool_find(ctx, db, f->what->pool, &pool));
    /* Who erases for good does not want what was erased before to come back. */
    if (!mark && pool.no)
        TRY(SQL_DO(ctx, db, SQL_UNDO_DELETE_ALL, pool.no));
    TRY(undo_record_begin(ctx, db, mark, &undo));
    TRY(pool_forget(ctx, db, f->what, f->erased));
    return undo_record_end(ctx, db, pool.no, mark, &undo);
}

enum status sqlite_forget(struct ctx *ctx, struct store *s, const struct forget *what,
                          int64_t *erased)
{
    int64_t n = 0;
    struct forget_call f = {what, &n};
    struct task t = {.ctx = ctx,
                     .call = forget_what,
                     .what = &f,
                     .is_alone = !what->id.n && !what->n_ids,
                     .erases = true};
    TRY(writer_run(sqlite_of(s)->writer, &t));
    vector_cache_follow(sqlite_of(s), what->everything ? NULL : &what->pool);
    *erased = n;
    return OK;
}
