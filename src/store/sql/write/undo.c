/* undo.c - puts back what a deletion or a change that was recorded has erased and changed. */
#include "base/clock.h"
#include "store/sql/db/lookup.h"
#include "store/sql/db/rows.h"
#include "store/sql/index/index.h"
#include "store/sql/index/titles.h"
#include "store/sql/records/erasure.h"
#include "store/sql/records/pending.h"
#include "store/sql/records/sessions.h"
#include "store/sql/state/reader.h"
#include "store/sql/state/writer.h"
#include "store/sql/write/eraser.h"
#include "store/sql/write/put_memory.h"

/*
 * A recorded changeset (undo_record.c) is applied backwards: rows come back with their numbers,
 * ids, times and uses. What is made of rows follows from comparing them before and after: words,
 * vectors (made again in the background), titles and the pool's counts.
 *
 * Meanwhile the pool may have changed. A row that cannot come back, because its id is in use, ends
 * it: all or nothing. A change of a row that was changed again is left out: the later one counts.
 */

/* Rows that the changesets name, by the keys of their tables. */
struct touched {
    struct touched_row {
        int64_t no, updated;
        bool was_there, was_open;
    } * v;
    size_t n, cap;
};

struct undoing {
    struct ctx *ctx;
    struct db *db;
    int64_t pool;
    struct touched memories, messages, sessions, receipts;
    struct touched waits; /* sessions whose signals changed */
    struct pool_gain gain;
    int64_t restored, changed; /* rows that came back; memories that were there otherwise */
    int64_t left_out;          /* changes of memories that did not come back */
    bool refuses_memory;       /* it is what cannot come back */
};

static bool is_touched(const struct touched *t, int64_t no)
{
    return SOME(i, t->n, t->v[i].no == no);
}

static void touch_row(struct undoing *u, struct touched *t, int64_t no)
{
    if (!is_touched(t, no))
        ARENA_ADD(&u->ctx->arena, t->v, t->n, t->cap) = (struct touched_row){.no = no};
}

static void touch(struct undoing *u, const char *table, int64_t no)
{
    bool is_signal = strcmp(table, "signal") == 0;
    struct touched *rows = strcmp(table, "memory") == 0                 ? &u->memories
                           : strcmp(table, "message") == 0              ? &u->messages
                           : strcmp(table, "session") == 0              ? &u->sessions
                           : strcmp(table, "receipt") == 0              ? &u->receipts
                           : is_signal || strcmp(table, "waiting") == 0 ? &u->waits
                                                                        : NULL;
    if (rows)
        touch_row(u, rows, is_signal ? doc_session(no) : no);
}

static enum status note_on_postgres(struct undoing *u, str changes)
{
    SQL_RUN(q, u->ctx, u->db, SQL_UNDO_TOUCHED, blob_of(changes));
    while (sql_row(&q)) {
        str table = sql_get_text(&q);
        touch(u, table.p, sql_get_int(&q));
    }
    return sql_end(&q);
}

/* The first column of these tables is their number, but of a signal the third is its message. */
static enum status note_touched(struct undoing *u, str changes)
{
    sqlite3_changeset_iter *each = NULL;
    if (is_postgres(u->db))
        return note_on_postgres(u, changes);
    int rc = sqlite3changeset_start(&each, (int)changes.n, (void *)changes.p);
    while (rc == SQLITE_OK && sqlite3changeset_next(each) == SQLITE_ROW) {
        const char *table;
        int columns, op, is_indirect;
        sqlite3_value *key = NULL;
        sqlite3changeset_op(each, &table, &columns, &op, &is_indirect);
        bool is_signal = strcmp(table, "signal") == 0;
        (op == SQLITE_INSERT ? sqlite3changeset_new : sqlite3changeset_old)(each, is_signal ? 2 : 0,
                                                                            &key);
        touch(u, table, sqlite3_value_int64(key));
    }
    int end = sqlite3changeset_finalize(each);
    rc = rc == SQLITE_OK ? end : rc;
    return rc == SQLITE_OK ? OK : db_failed(u->ctx, u->db, rc);
}

/* --- before and after --- */

static enum status memory_row_of(struct undoing *u, int64_t no, struct memory *out)
{
    *out = (struct memory){0};
    return SQL_FIRST(u->ctx, u->db, read_memory, out, SQL_MEMORY_GET, u->pool, no);
}

static enum status look_before(struct undoing *u)
{
    struct memory m;
    for (size_t i = 0; i < u->memories.n; i++) {
        struct touched_row *t = &u->memories.v[i];
        TRY(memory_row_of(u, t->no, &m));
        t->was_there = m.id.n > 0;
        t->updated = m.updated;
        t->was_open = t->was_there && !m.valid_to;
        if (t->was_open)
            index_note_memory(&u->ctx->arena, u->db->changes, u->pool, true, &m, NULL);
    }
    for (size_t i = 0; i < u->sessions.n; i++) {
        struct touched_row *t = &u->sessions.v[i];
        TRY(SQL_ANY(u->ctx, u->db, &t->was_there, SQL_SESSION_GET, u->pool, t->no));
    }
    return OK;
}

static enum status follow_memories(struct undoing *u)
{
    struct memory m;
    for (size_t i = 0; i < u->memories.n; i++) {
        const struct touched_row *t = &u->memories.v[i];
        TRY(memory_row_of(u, t->no, &m));
        bool is_there = m.id.n > 0, is_open = is_there && !m.valid_to;
        u->gain.memories += is_open - t->was_open;
        u->gain.closed += (is_there && !is_open) - (t->was_there && !t->was_open);
        u->restored += is_there && !t->was_there;
        u->changed += is_there && t->was_there && m.updated != t->updated;
        if (!is_open)
            continue;
        TRY(memory_check_key(u->ctx, u->db, u->pool, &m));
        index_note_memory(&u->ctx->arena, u->db->changes, u->pool, false, &m, NULL);
    }
    return OK;
}

static enum status follow_messages(struct undoing *u)
{
    for (size_t i = 0; i < u->messages.n; i++) {
        struct message m = {0};
        TRY(SQL_FIRST(u->ctx, u->db, read_message, &m, SQL_MESSAGE_GET, u->pool,
                      u->messages.v[i].no));
        if (!m.id.n)
            continue;
        index_note_message(&u->ctx->arena, u->db->changes, u->pool, false, &m, NULL);
        touch_row(u, &u->sessions, doc_session(m.doc));
        u->gain.messages++;
        u->restored++;
    }
    return OK;
}

/* A session that went on has other counts than the ones that were recorded. */
static enum status follow_sessions(struct undoing *u)
{
    for (size_t i = 0; i < u->sessions.n; i++) {
        const int64_t no = u->sessions.v[i].no;
        struct session_row row;
        TRY(SQL_DO(u->ctx, u->db, SQL_SESSION_RECOUNT, u->pool, no, session_first(no),
                   session_last(no)));
        SQL_RUN(q, u->ctx, u->db, SQL_SESSION_GET, u->pool, no);
        enum status s = session_read(&q, &row);
        if (s == NOT_FOUND)
            return fail(u->ctx, CONFLICT, "the session of a message is gone by now");
        TRY(s);
        u->gain.sessions += !u->sessions.v[i].was_there;
        TRY(title_put(u->ctx, u->db, u->pool, no, row.session.title));
    }
    return OK;
}

/* The recorded signals may be of messages that another erasure took since. */
static enum status follow_others(struct undoing *u)
{
    for (size_t i = 0; i < u->waits.n; i++)
        TRY(signals_follow(u->ctx, u->db, (struct session_ref){u->pool, u->waits.v[i].no}));
    for (size_t i = 0; i < u->receipts.n; i++)
        TRY(SQL_DO(u->ctx, u->db, SQL_GIVEN_AGAIN, u->pool, u->receipts.v[i].no));
    return OK;
}

/* --- the rows --- */

/* A session that was distilled since, without what comes back, waits again: its new episode has the
 * id of the one that comes back. */
static enum status make_room(struct undoing *u)
{
    for (size_t i = 0; i < u->waits.n; i++) {
        struct eraser e = {.ctx = u->ctx, .db = u->db, .pool = u->pool, .is_undo = true};
        MEMORIES_WITH(v, n, &e, SQL_MEMORY_EPISODES, u->waits.v[i].no);
        if (!SOME(k, n,
                  v[k].origin == ORIGIN_DISTILLED &&
                      !is_touched(&u->memories, memory_no(v[k].doc))))
            continue;
        TRY(erase_distilled(&e, v->session));
        TRY(index_apply(u->ctx, u->db, &e.changes));
        TRY(pool_count(u->ctx, u->db, u->pool, e.gain));
    }
    return OK;
}

/* Of a conflict: what was changed again stays; what cannot come back ends it. */
static int on_conflict(void *arg, int kind, sqlite3_changeset_iter *each)
{
    struct undoing *u = arg;
    const char *table;
    int columns, op, is_indirect;
    if (kind == SQLITE_CHANGESET_FOREIGN_KEY)
        return SQLITE_CHANGESET_ABORT;
    sqlite3changeset_op(each, &table, &columns, &op, &is_indirect);
    bool is_memory = strcmp(table, "memory") == 0;
    bool is_kept = is_memory || strcmp(table, "message") == 0 || strcmp(table, "session") == 0;
    u->left_out += is_memory;
    if (op != SQLITE_INSERT || !is_kept)
        return SQLITE_CHANGESET_OMIT;
    u->refuses_memory = is_memory;
    return SQLITE_CHANGESET_ABORT;
}

static enum status refuse(struct undoing *u, bool is_memory)
{
    return fail(u->ctx, CONFLICT, "a %s with the same id is there by now",
                is_memory ? "memory" : "message or session");
}

static enum status apply_on_postgres(struct undoing *u, str changes)
{
    SQL_RUN(q, u->ctx, u->db, SQL_UNDO_APPLY, blob_of(changes));
    str table = S("");
    if (sql_row(&q)) {
        u->left_out += sql_get_int(&q);
        table = sql_get_text(&q);
    }
    TRY(sql_end(&q));
    return table.n ? refuse(u, str_is(table, "memory")) : OK;
}

static enum status apply_changes(struct undoing *u, str changes)
{
    if (is_postgres(u->db))
        return apply_on_postgres(u, changes);
    int rc = sqlite3changeset_apply_v2(u->db->handle, (int)changes.n, (void *)changes.p, NULL,
                                       on_conflict, u, NULL, NULL, SQLITE_CHANGESETAPPLY_INVERT);
    if (rc == SQLITE_ABORT)
        return refuse(u, u->refuses_memory);
    return rc == SQLITE_OK ? OK : db_failed(u->ctx, u->db, rc);
}

static void read_part(struct query *q, str *out)
{
    *out = str_dup(&q->ctx->arena, sql_see_blob(q));
}

static enum status put_back(struct ctx *ctx, struct db *db, const void *what)
{
    const struct pool_call *c = what;
    struct undoing u = {.ctx = ctx, .db = db};
    assert(db->changes && db_in_transaction(db));
    POOL_ROW(pool, ctx, db, c->pool);
    u.pool = pool.no;
    SQL_ALL(str, parts, n, ctx, db, read_part, SQL_UNDO_PARTS, u.pool, c->id, clock_ms());
    if (!n)
        return fail(ctx, NOT_FOUND, "there is nothing to undo with the id '" S_FMT "'",
                    S_ARG(c->id));
    for (size_t i = 0; i < n; i++)
        TRY(note_touched(&u, parts[i]));
    TRY(make_room(&u));
    TRY(look_before(&u));
    for (size_t i = 0; i < n; i++)
        TRY(apply_changes(&u, parts[i]));
    TRY(follow_memories(&u));
    TRY(follow_messages(&u));
    TRY(follow_sessions(&u));
    TRY(follow_others(&u));
    TRY(pool_count(ctx, db, u.pool, u.gain));
    if (!u.restored && u.left_out)
        return fail(ctx, CONFLICT, "it was changed again since");
    *c->n = u.restored ? u.restored : u.changed; /* a deletion may change others, too */
    assert(c->id.n);                             /* "" would take back all */
    TRY(erasure_taken_back(ctx, db, c->id, 0));
    return SQL_DO(ctx, db, SQL_UNDO_DELETE, u.pool, c->id);
}

enum status store_undo(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                       int64_t *restored)
{
    return erase_by(ctx, s, pool, put_back, &(struct pool_call){pool, id, restored});
}

/* --- the end of the time --- */

static enum status erase_old(struct ctx *ctx, struct db *db, const void *what)
{
    return SQL_DO(ctx, db, SQL_UNDO_PRUNE, *(const int64_t *)what);
}

/* Asked often, so it writes only when there is something to erase. */
enum status store_undo_prune(struct ctx *ctx, struct store *s, int64_t now)
{
    bool any;
    {
        READER(r, ctx, s);
        TRY(SQL_ANY(ctx, r.db, &any, SQL_UNDO_ANY, now));
    }
    if (!any)
        return OK;
    struct task t = {.ctx = ctx, .call = erase_old, .what = &now, .erases = true};
    TRY(writer_run(s->writer, &t));
    return writer_erased(&t);
}
