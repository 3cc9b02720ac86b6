/* erase.c - forgetting: rows, their words, what came from them and the receipts that show them. */
#include "base/clock.h"
#include "store/sqlite/sqlite_store.h"

/* Rows that are erased before their words are, in one go. */
enum { BATCH = 256 };

const char erased_table[] = "CREATE TEMP TABLE erased(id TEXT, layer INTEGER, superseded_by TEXT,"
                            " PRIMARY KEY(id, layer)) WITHOUT ROWID";

struct eraser {
    struct ctx *ctx;
    struct db *db;
    int64_t pool;
    struct index_changes changes;
    int64_t messages, memories, closed;
};

static enum status run_1(struct ctx *ctx, struct db *db, enum sql which, int64_t pool)
{
    SQL_RUN(q, ctx, db, which);
    sql_int(&q, pool);
    return sql_do(&q);
}

static enum status run_number(struct eraser *e, enum sql which, int64_t number)
{
    SQL_RUN(q, e->ctx, e->db, which);
    sql_int(&q, e->pool);
    sql_int(&q, number);
    return sql_do(&q);
}

static enum status run_text(struct eraser *e, enum sql which, str text)
{
    SQL_RUN(q, e->ctx, e->db, which);
    sql_int(&q, e->pool);
    sql_text(&q, text);
    return sql_do(&q);
}

/* Receipts and summaries that show it are looked for at the end. A message has layer -1. */
static enum status note_erased(struct eraser *e, str id, int64_t layer, str superseded_by)
{
    SQL_RUN(q, e->ctx, e->db, SQL_ERASED_ADD);
    sql_text(&q, id);
    sql_int(&q, layer);
    sql_text(&q, superseded_by);
    return sql_do(&q);
}

static enum status erase_memory(struct eraser *e, const struct memory *m)
{
    TRY(run_number(e, SQL_MEMORY_DELETE, m->doc & ~DOC_MEMORY));
    TRY(note_erased(e, m->id, m->layer, m->superseded_by));
    if (m->valid_to) {
        e->closed++;
        return OK;
    }
    struct arena *a = &e->ctx->arena;
    index_note_memory(a, &e->changes, e->pool, true, m, index_of_memory(a, m));
    e->memories++;
    return OK;
}

static enum status memories_with(struct eraser *e, enum sql which, str text, struct memory **out,
                                 size_t *n)
{
    SQL_RUN(q, e->ctx, e->db, which);
    sql_int(&q, e->pool);
    sql_text(&q, text);
    return read_memories(&q, out, n);
}

static enum status erase_memories_with(struct eraser *e, enum sql which, str text)
{
    struct memory *v;
    size_t n;
    TRY(memories_with(e, which, text, &v, &n));
    for (size_t i = 0; i < n; i++)
        TRY(erase_memory(e, &v[i]));
    return OK;
}

/* --- what was made of whole sessions --- */

/* Sessions that must be distilled anew; each is looked at once. */
struct sessions {
    struct distilled {
        str id;
        bool renews; /* what the user said in it waits again */
    } * v;
    size_t n, cap;
};

static void note_session(struct eraser *e, struct sessions *all, str id)
{
    for (size_t i = 0; i < all->n; i++)
        if (str_eq(all->v[i].id, id))
            return;
    all->v = arena_more(&e->ctx->arena, all->v, all->n, &all->cap, sizeof *all->v);
    all->v[all->n++] = (struct distilled){.id = id};
}

static bool came_from_session(const struct memory *m)
{
    return m->layer == LAYER_EPISODE || (m->origin == ORIGIN_DISTILLED && !m->source.n);
}

/* Sessions whose episodes were merged with this one: both hold something of both. */
static enum status note_relatives(struct eraser *e, struct sessions *all, const struct memory *m)
{
    struct memory *v;
    size_t n;
    TRY(memories_with(e, SQL_MEMORY_BY_SUPERSEDER, m->id, &v, &n));
    for (size_t i = 0; i < n; i++)
        if (v[i].layer == LAYER_EPISODE && v[i].session.n)
            note_session(e, all, v[i].session);
    if (!m->superseded_by.n)
        return OK;
    TRY(memories_with(e, SQL_MEMORY_BY_ID, m->superseded_by, &v, &n));
    if (n && v->layer == LAYER_EPISODE && v->session.n)
        note_session(e, all, v->session);
    return OK;
}

static enum status erase_distilled(struct eraser *e, struct sessions *all, size_t at)
{
    struct memory *v;
    size_t n;
    TRY(memories_with(e, SQL_MEMORY_BY_SESSION, all->v[at].id, &v, &n));
    for (size_t i = 0; i < n; i++) {
        if (!came_from_session(&v[i]))
            continue;
        all->v[at].renews = true;
        if (v[i].layer == LAYER_EPISODE)
            TRY(note_relatives(e, all, &v[i]));
        TRY(erase_memory(e, &v[i]));
    }
    return OK;
}

/*
 * A session that lost something loses what was made of it as a whole, and with it the episodes that
 * were merged with its own; what the user said in these sessions waits to be distilled anew.
 */
static enum status forget_distilled(struct eraser *e, str session)
{
    struct sessions all = {0};
    struct session_ref ref = {.pool = e->pool};
    note_session(e, &all, session);
    for (size_t i = 0; i < all.n; i++)
        TRY(erase_distilled(e, &all, i));
    for (size_t i = 0; i < all.n; i++) {
        TRY(session_find(e->ctx, e->db, e->pool, all.v[i].id, &ref.no));
        if (ref.no)
            TRY(signals_renew(e->ctx, e->db, ref, all.v[i].renews));
    }
    return OK;
}

/* keeps: what was learnt from it stays, and knows it no more. */
static enum status erase_message(struct eraser *e, const struct message *m, bool keeps)
{
    TRY(run_number(e, SQL_MESSAGE_DELETE, m->doc));
    TRY(note_erased(e, m->id, -1, S("")));
    struct arena *a = &e->ctx->arena;
    index_note_message(a, &e->changes, e->pool, true, m, index_of_message(a, m));
    TRY(keeps ? run_text(e, SQL_MEMORY_LEAVE_MESSAGE, m->id)
              : erase_memories_with(e, SQL_MEMORY_BY_SOURCE, m->id));
    TRY(run_number(e, SQL_RECEIPT_DELETE_CHAIN, (int64_t)m->chain));
    e->messages++;
    return OK;
}

/* --- batches: the memory of one is given back before the next --- */

static enum status count_pool(struct eraser *e, int64_t sessions)
{
    SQL_RUN(q, e->ctx, e->db, SQL_POOL_COUNT);
    sql_int(&q, e->pool);
    sql_int(&q, -sessions);
    sql_int(&q, -e->messages);
    sql_int(&q, -e->memories);
    sql_int(&q, -e->closed);
    return sql_do(&q);
}

static enum status end_batch(struct eraser *e, int64_t *erased)
{
    TRY(index_apply(e->ctx, e->db, &e->changes));
    TRY(count_pool(e, 0));
    *erased += e->messages + e->memories + e->closed;
    return OK;
}

/* What is erased batch by batch. */
struct part {
    struct arena *arena; /* of what stays from one batch to the next */
    int64_t session;
    const struct forget *what;
    str last; /* id of the batch before */
};

/* Does one batch; less than BATCH of them is the last one. */
static enum status in_batches(struct ctx *ctx, struct db *db, int64_t pool, struct part work,
                              enum status (*step)(struct eraser *e, struct part *w, size_t *n),
                              int64_t *erased)
{
    work.arena = &ctx->arena;
    for (size_t n = BATCH; n == BATCH;) {
        CLEANUP(ctx_free) struct ctx mine = {0};
        struct eraser e = {.ctx = &mine, .db = db, .pool = pool};
        enum status status = step(&e, &work, &n);
        if (status == OK)
            status = end_batch(&e, erased);
        if (status != OK)
            return fail(ctx, status, "%s", mine.why);
    }
    return OK;
}

static enum status erase_messages(struct eraser *e, struct part *w, size_t *n)
{
    struct message *v = NEW_N(&e->ctx->arena, struct message, BATCH);
    size_t have = 0;
    SQL_RUN(q, e->ctx, e->db, SQL_MESSAGE_RANGE);
    sql_int(&q, e->pool);
    sql_int(&q, doc_of_message(w->session, 0));
    sql_int(&q, doc_of_message(w->session + 1, 0) - 1);
    sql_int(&q, BATCH);
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
    SQL_RUN(q, e->ctx, e->db, which);
    sql_int(&q, e->pool);
    sql_int(&q, BATCH);
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

/* The memories of a kind. */
static enum status erase_kind(struct eraser *e, struct part *w, size_t *n)
{
    struct memory *v;
    SQL_RUN(q, e->ctx, e->db, SQL_MEMORY_OF_KIND);
    sql_int(&q, e->pool);
    sql_int(&q, name_index(type_names, w->what->type, -1));
    sql_int(&q, w->what->before);
    sql_text(&q, w->last);
    sql_int(&q, BATCH);
    TRY(read_memories(&q, &v, n));
    for (size_t i = 0; i < *n; i++)
        TRY(erase_memory(e, &v[i]));
    if (*n)
        w->last = str_dup(w->arena, v[*n - 1].id);
    return OK;
}

/* --- summaries of what was erased --- */

/* Where there were some, their own summaries are looked for as well. */
static enum status erase_summaries(struct eraser *e, struct part *w, size_t *n)
{
    struct memory *v;
    (void)w;
    TRY(first_memories(e, SQL_MEMORY_OF_ERASED, &v, n));
    for (size_t i = 0; i < *n; i++)
        TRY(erase_memory(e, &v[i]));
    *n = *n ? BATCH : 0;
    return OK;
}

/* It is true again, unless another memory has its key by now. */
static enum status reopen(struct eraser *e, struct memory *m)
{
    struct memory *other;
    size_t n = 0;
    if (m->key.n)
        TRY(memories_with(e, SQL_MEMORY_BY_KEY, m->key, &other, &n));
    SQL_RUN(q, e->ctx, e->db, n ? SQL_MEMORY_CLOSE : SQL_MEMORY_REOPEN);
    sql_int(&q, e->pool);
    sql_int(&q, m->doc & ~DOC_MEMORY);
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
        TRY(reopen(e, &v[i]));
    return OK;
}

/* A summary says what was erased. What else it says is said by those it was made of. */
static enum status undo_summaries(struct ctx *ctx, struct db *db, int64_t pool, int64_t *erased)
{
    TRY(in_batches(ctx, db, pool, (struct part){0}, erase_summaries, erased));
    return in_batches(ctx, db, pool, (struct part){0}, reopen_members, erased);
}

/* --- what can be forgotten --- */

static enum status erase_learnt(struct eraser *e, str session)
{
    TRY(forget_distilled(e, session));
    return erase_memories_with(e, SQL_MEMORY_BY_SESSION, session);
}

static enum status erase_session(struct ctx *ctx, struct db *db, int64_t pool, int64_t no, str id,
                                 const struct forget *what, int64_t *erased)
{
    struct eraser e = {.ctx = ctx, .db = db, .pool = pool};
    struct part all = {.session = no, .what = what};
    if (no)
        TRY(in_batches(ctx, db, pool, all, erase_messages, erased));
    TRY(what->keeps_memories ? run_text(&e, SQL_MEMORY_LEAVE_SESSION, id) : erase_learnt(&e, id));
    TRY(run_text(&e, SQL_RECEIPT_DELETE_SESSION, id));
    if (no)
        TRY(signals_erase(ctx, db, (struct session_ref){pool, no}));
    TRY(end_batch(&e, erased));
    if (!no)
        return OK;
    e.messages = e.memories = e.closed = 0;
    TRY(title_put(ctx, db, pool, no, S("")));
    TRY(run_number(&e, SQL_SESSION_DELETE, no));
    return count_pool(&e, 1);
}

static enum status next_session(struct ctx *ctx, struct db *db, int64_t pool, int64_t *no, str *id)
{
    *no = 0;
    SQL_RUN(q, ctx, db, SQL_SESSION_FIRST);
    sql_int(&q, pool);
    if (sql_row(&q)) {
        *no = sql_get_int(&q);
        *id = sql_get_text(&q);
    }
    return sql_end(&q);
}

static enum status erase_pool(struct ctx *ctx, struct db *db, int64_t pool,
                              const struct forget *what, int64_t *erased)
{
    str id = S("");
    /* First, or each session would look through them and leave a row for each vector. */
    TRY(run_1(ctx, db, SQL_RECEIPT_DELETE_ALL, pool));
    TRY(run_1(ctx, db, SQL_WORK_FORGET, pool));
    TRY(run_1(ctx, db, SQL_VECTOR_DELETE_ALL, pool));
    TRY(run_1(ctx, db, SQL_VECTOR_TODO_DELETE_ALL, pool));
    TRY(run_1(ctx, db, SQL_TITLE_DELETE_ALL, pool));
    for (int64_t no = 1; no;) {
        TRY(next_session(ctx, db, pool, &no, &id));
        if (no)
            TRY(erase_session(ctx, db, pool, no, id, what, erased));
    }
    TRY(in_batches(ctx, db, pool, (struct part){0}, erase_pool_memories, erased));
    return run_1(ctx, db, SQL_POOL_DELETE, pool);
}

static enum status pools_of(struct ctx *ctx, struct db *db, str user, int64_t *pool)
{
    *pool = 0;
    SQL_RUN(q, ctx, db, SQL_POOL_OF_USER);
    sql_text(&q, user);
    if (sql_row(&q))
        *pool = sql_get_int(&q);
    return sql_end(&q);
}

static enum status erase_user(struct ctx *ctx, struct db *db, const struct forget *what,
                              int64_t *erased)
{
    int64_t pool = 0, n = 0;
    SQL_RUN(work, ctx, db, SQL_WORK_FORGET_USER);
    sql_text(&work, what->pool.user);
    TRY(sql_do(&work));
    for (;;) {
        TRY(pools_of(ctx, db, what->pool.user, &pool));
        if (!pool)
            break;
        TRY(erase_pool(ctx, db, pool, what, erased));
        n++;
    }
    return n ? OK : fail(ctx, NOT_FOUND, "there is nothing to forget");
}

/* A session that only memories or receipts name counts as well. */
static enum status forget_session(struct ctx *ctx, struct db *db, int64_t pool, str id,
                                  const struct forget *what, int64_t *erased)
{
    int64_t no, changed = sqlite3_total_changes64(db->handle);
    TRY(session_find(ctx, db, pool, id, &no));
    TRY(erase_session(ctx, db, pool, no, id, what, erased));
    /* Counting the pool is one change. */
    return no || sqlite3_total_changes64(db->handle) > changed + 1
               ? OK
               : fail(ctx, NOT_FOUND, "no memory, message or session '" S_FMT "'", S_ARG(id));
}

static enum status find_message(struct eraser *e, str id, struct message *out)
{
    doc_id doc;
    TRY(message_find(e->ctx, e->db, e->pool, id, &doc));
    SQL_RUN(q, e->ctx, e->db, SQL_MESSAGE_GET);
    sql_int(&q, e->pool);
    sql_int(&q, doc);
    if (sql_row(&q))
        read_message(&q, out);
    return sql_end(&q);
}

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
        TRY(forget_distilled(&e, message.session));
        TRY(run_number(&e, SQL_SESSION_SHRINK, doc_session(message.doc)));
    }
    if (e.messages + e.memories + e.closed)
        return end_batch(&e, erased);
    return forget_session(ctx, db, pool, what->id, what, erased);
}

static enum status forget_kind(struct ctx *ctx, struct db *db, int64_t pool,
                               const struct forget *what, int64_t *erased)
{
    TRY(in_batches(ctx, db, pool, (struct part){.what = what}, erase_kind, erased));
    return *erased ? OK : fail(ctx, NOT_FOUND, "there is no such memory");
}

static enum status erase_what(struct ctx *ctx, struct db *db, const struct forget *what,
                              int64_t pool, int64_t *erased)
{
    if (what->all_spaces)
        return erase_user(ctx, db, what, erased);
    if (!pool)
        return fail(ctx, NOT_FOUND, "there is nothing to forget");
    if (what->everything)
        return erase_pool(ctx, db, pool, what, erased);
    TRY(what->memories ? forget_kind(ctx, db, pool, what, erased)
        : what->id.n   ? forget_id(ctx, db, pool, what, erased)
                       : forget_session(ctx, db, pool, what->session, what, erased));
    TRY(undo_summaries(ctx, db, pool, erased));
    return run_1(ctx, db, SQL_RECEIPT_DELETE_SHOWN, pool);
}

/* --- the words of what is forgotten --- */

/*
 * FTS5 can take a word out of its pages at once, which costs about 20 us a word, or mark it as gone
 * and drop it for good when the index is rewritten, which costs about 10 us for each document there
 * is. Either way nothing of it is left in the end.
 */
enum { MANY = 1000, REWRITE_PAYS = 20 };

static enum status count_kind(struct ctx *ctx, struct db *db, const struct forget *what,
                              int64_t pool, int64_t *out)
{
    SQL_RUN(q, ctx, db, SQL_MEMORY_OF_KIND_COUNT);
    sql_int(&q, pool);
    sql_int(&q, name_index(type_names, what->type, -1));
    sql_int(&q, what->before);
    *out = sql_row(&q) ? sql_get_int(&q) : 0;
    return sql_end(&q);
}

static enum status count_documents(struct ctx *ctx, struct db *db, const struct forget *what,
                                   int64_t pool, int64_t *out)
{
    if (what->memories)
        return count_kind(ctx, db, what, pool, out);
    SQL_RUN(q, ctx, db, what->everything ? SQL_WORDS_OF_USER : SQL_WORDS_OF_SESSION);
    if (what->everything)
        sql_text(&q, what->pool.user);
    sql_int(&q, what->all_spaces ? 0 : pool);
    if (!what->everything)
        sql_text(&q, what->id.n ? what->id : what->session);
    *out = sql_row(&q) ? sql_get_int(&q) : 0;
    return sql_end(&q);
}

static enum status count_all(struct ctx *ctx, struct db *db, int64_t *out)
{
    SQL_RUN(q, ctx, db, SQL_WORDS_TOTAL);
    *out = sql_row(&q) ? sql_get_int(&q) : 0;
    return sql_end(&q);
}

enum status erase(struct ctx *ctx, struct db *db, const struct forget *what, int64_t *erased)
{
    struct pool_row row;
    int64_t documents, all;
    SQL_RUN(clear, ctx, db, SQL_ERASED_CLEAR);
    TRY(sql_do(&clear));
    *erased = 0;
    TRY(pool_find(ctx, db, what->pool, &row));
    TRY(count_documents(ctx, db, what, row.no, &documents));
    TRY(count_all(ctx, db, &all));
    bool rewrite = documents > MANY && documents * REWRITE_PAYS > all;
    TRY(run_1(ctx, db, SQL_WORDS_REMOVAL, !rewrite));
    TRY(erase_what(ctx, db, what, row.no, erased));
    if (!rewrite)
        return OK;
    SQL_RUN(q, ctx, db, SQL_WORDS_REWRITE);
    TRY(sql_do(&q));
    return run_1(ctx, db, SQL_WORDS_REMOVAL, true);
}

/* One batch, with the memory of its own. */
static enum status erase_few(struct ctx *ctx, struct db *db, int64_t pool, const str *ids, size_t n,
                             int64_t *erased)
{
    CLEANUP(ctx_free) struct ctx mine = {0};
    struct eraser e = {.ctx = &mine, .db = db, .pool = pool};
    enum status status = OK;
    for (size_t i = 0; i < n && status == OK; i++)
        status = erase_memories_with(&e, SQL_MEMORY_BY_ID, ids[i]);
    if (status == OK)
        status = end_batch(&e, erased);
    return status == OK ? OK : fail(ctx, status, "%s", mine.why);
}

enum status erase_each(struct ctx *ctx, struct db *db, int64_t pool, const str *ids, size_t n,
                       int64_t *erased)
{
    SQL_RUN(clear, ctx, db, SQL_ERASED_CLEAR);
    TRY(sql_do(&clear));
    for (size_t i = 0; i < n; i += BATCH)
        TRY(erase_few(ctx, db, pool, ids + i, n - i < BATCH ? n - i : BATCH, erased));
    return n ? run_1(ctx, db, SQL_RECEIPT_DELETE_SHOWN, pool) : OK;
}

enum status memory_prune(struct ctx *ctx, struct db *db, int64_t pool, int64_t no)
{
    struct memory m = {0};
    int64_t erased = 0;
    struct eraser e = {.ctx = ctx, .db = db, .pool = pool};
    SQL_RUN(q, ctx, db, SQL_MEMORY_GET);
    sql_int(&q, pool);
    sql_int(&q, no);
    if (sql_row(&q))
        read_memory(&q, &m);
    TRY(sql_end(&q));
    TRY(erase_memory(&e, &m));
    return end_batch(&e, &erased);
}
