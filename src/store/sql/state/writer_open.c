/* writer_open.c - the writer's connections: opened, now or later, and tried again after a failure.
 */
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/sql/db/schema.h"
#include "store/sql/state/reserve.h"
#include "store/sql/state/writer_int.h"

/*
 * A server must not need somebody's write to find out that its disk is well again: a load balancer
 * sends nobody to a server that is not ready. So the writer looks every LOOK_MS when nothing is
 * written. As long as all is well, a look is a question for the names of three files. After a
 * failure it is one row in a durable transaction (4 to 12 KB), or opening the store.
 */

/* --- syncing --- */

/*
 * With synchronous=FULL SQLite syncs the log inside the commit, and readers see the commit only
 * afterwards. With NORMAL readers see the commit at once, and the log is synced here. A connection
 * of its own has a file handle of its own, which no other thread uses. A checkpoint syncs the log
 * and the database itself, so what has left the log is durable. Whoever opens it closes it, also
 * when that fails.
 */
static enum status log_sync_open(struct ctx *ctx, const struct store *s, struct log_sync *out)
{
    int64_t version;
    TRY(db_open(ctx, s->path, s->key, &out->db));
    TRY(db_int(ctx, &out->db, "PRAGMA schema_version", &version)); /* opens it */
    sqlite3_file_control(out->db.handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &out->log);
    return out->log && out->log->pMethods
               ? OK
               : fail(ctx, STORAGE, "the database has no write-ahead log");
}

enum status log_sync_run(struct ctx *ctx, struct log_sync *l)
{
    assert(l->log && l->log->pMethods);
    int rc = l->log->pMethods->xSync(l->log, SQLITE_SYNC_NORMAL);
    return rc == SQLITE_OK ? OK : fail(ctx, STORAGE, "the log could not be synced (%d)", rc);
}

void log_sync_close(struct log_sync *l)
{
    db_close(&l->db);
    *l = (struct log_sync){0};
}

/* --- opening --- */

/* Behind an accepted loss: a log without a commit that the file lacks is from before the file's
 * last checkpoint, and would put old pages over new ones, with what was erased since. Nobody else
 * has the store open, as it was refused. */
static enum status leave_older_log(struct ctx *ctx, const struct store *s, struct db *db)
{
    CLEANUP(db_close) struct db alone = {0};
    struct commit_count with_log, without;
    TRY(commits_read(ctx, db, &with_log));
    TRY(db_open_to_read(ctx, s->path, s->key, &alone));
    TRY(commits_read(ctx, &alone, &without));
    if (without.n < with_log.n)
        return OK;
    db_close_unsettled(db);
    unlink(str_printf(&ctx->arena, "%s-wal", s->path).p);
    unlink(str_printf(&ctx->arena, "%s-shm", s->path).p);
    return db_open(ctx, s->path, s->key, db);
}

/* To the newest tables. What an upgrade writes is not counted. */
static enum status bring_schema(struct ctx *ctx, struct writer *w)
{
    int64_t version;
    TRY(schema_check(ctx, &w->db, &version));
    if (version == schema_version())
        return OK;
    if (version) {
        TRY(commits_settle(ctx, &w->db, w->s->path, SQLITE_CHECKPOINT_PASSIVE));
        TRY(w->steps->keep_old(ctx, w->s, &w->db, version));
    }
    return schema_bring(ctx, &w->db);
}

static enum status open_connection(struct ctx *ctx, struct writer *w)
{
    const struct store *s = w->s;
    struct db *db = &w->db;
    TRY(db_open(ctx, s->path, s->key, db));
    TRY(commits_check(ctx, db, s->path, s->asked.accepts_loss, &w->counted));
    if (w->counted.has_lost)
        TRY(leave_older_log(ctx, s, db));
    TRY(bring_schema(ctx, w));
    db->hold = &s->hold;
    /* Notes what a call has erased, for the receipts and summaries that show it. */
    return db_exec(ctx, db,
                   "CREATE TEMP TABLE erased(id TEXT, layer INTEGER, superseded_by TEXT,"
                   " PRIMARY KEY(id, layer)) WITHOUT ROWID");
}

/* A failure leaves nothing open, so that it can be called again. */
static enum status open_parts(struct ctx *ctx, struct writer *w)
{
    if (store_is_postgres(w->s))
        return writer_open_on_postgres(ctx, w);
    TRY(w->steps->take_file(ctx, w->s));
    TRY(open_connection(ctx, w));
    w->db.changes = &w->changes;
    w->db.notes = &w->notes;
    w->is_full = true; /* as every connection begins */
    TRY(commits_open(ctx, &w->db, w->s->path, &w->counted));
    TRY(w->steps->prepare(ctx, w->s, &w->db));
    w->db.lists = w->s->lists; /* from here on there are readers */
    return log_sync_open(ctx, w->s, &w->log);
}

enum status writer_connect(struct ctx *ctx, struct writer *w)
{
    assert(!w->is_open);
    enum status status = open_parts(ctx, w);
    pthread_mutex_lock(&w->lock);
    w->is_open = status == OK;
    pthread_mutex_unlock(&w->lock);
    if (status == OK) {
        if (atomic_load(&w->s->files.state) == FILES_AWAY)
            files_take(ctx, &w->s->files);
        if (w->s->asked.keeps_reserve && !store_is_postgres(w->s))
            reserve_keep(w->s->path);
    } else {
        log_sync_close(&w->log);
        if (w->counted.fd >= 0) /* its log is its own; closing would settle it without a mark */
            commits_checkpoint(&w->counted, w->db.handle, SQLITE_CHECKPOINT_PASSIVE);
        (w->counted.fd >= 0 ? db_close : db_close_unsettled)(&w->db);
        commits_close(&w->counted);
    }
    return status;
}

/* --- looking, and trying again --- */

/* Of a group that failed because nothing is open, the opening's result stays. */
void writer_note_result(struct writer *w, const struct ctx *ctx, enum status result)
{
    bool was_ok = w->result == OK;
    if (!w->is_open && !was_ok && result != OK && ctx->detail == STORAGE_AWAY)
        return;
    w->result = result;
    snprintf(w->why, sizeof w->why, "%s", result == OK ? "" : ctx->why);
    if (was_ok != (result == OK))
        log_event(result == OK ? LOG_INFO : LOG_ERROR,
                  result == OK ? "store.recovered" : "store.failing", "why=\"%s\"",
                  result == OK ? "the database is written again" : ctx->why);
}

/* PostgreSQL may be open again, and what the last group had to do not yet settled. */
enum status writer_failure(struct ctx *ctx, struct writer *w)
{
    HOLD(&w->lock);
    if (w->result == OK)
        return OK;
    bool is_away = !w->is_open || store_is_postgres(w->s);
    return fail_as(ctx, w->result, is_away ? STORAGE_AWAY : STORE_DISK_FAILED, "%s: %s",
                   is_away ? "the database is not open" : "the last write failed", w->why);
}

/* Replaces a row of the writer's own, which is enough to make a commit, and so a sync. */
static enum status write_probe(struct ctx *ctx, struct db *db, UNUSED const void *what)
{
    return SQL_DO(ctx, db, SQL_FACT_PUT, S("probe"), S(""));
}

bool writer_is_due(const struct writer *w)
{
    bool is_lost = atomic_load(&w->s->files.state) == FILES_LOST && !w->has_left;
    bool is_doubted = w->has_doubt && w->is_open;
    return is_lost || is_doubted || ((!w->first || !w->is_open) && clock_mono_us() >= w->look_us);
}

void writer_open_circuit(struct writer *w)
{
    files_leave(&w->s->files);
    pthread_cond_broadcast(&w->seen);
    HOLD(&w->s->lock);
    pthread_cond_broadcast(&w->s->given);
}

/* Opens the store when it is not open yet. PostgreSQL is tried again soon, and then less often. */
static void open_now(struct writer *w, struct ctx *ctx)
{
    enum { PAUSE_MS = 50, PAUSE_MAX_MS = 500 };
    enum status status = writer_connect(ctx, w);
    if (store_is_postgres(w->s) && status == OK && w->doubtful)
        status = writer_settle_on_postgres(ctx, w);
    HOLD(&w->lock);
    writer_note_result(w, ctx, status);
    bool is_away = status != OK && store_is_postgres(w->s);
    int64_t ms = w->pause_ms ? 2 * w->pause_ms : PAUSE_MS;
    w->pause_ms = !is_away ? 0 : ms < PAUSE_MAX_MS ? ms : PAUSE_MAX_MS;
    if (is_away)
        writer_open_circuit(w);
}

/* It was seldom that nobody asked for long; a server that is not ready must say so by itself. */
static void ask_postgres(struct writer *w, struct ctx *ctx)
{
    int64_t one;
    enum status status = db_int(ctx, &w->db, "SELECT 1", &one);
    if (status == OK && store_is_away(w->s))
        files_take(ctx, &w->s->files);
    if (status == OK || !writer_lost_postgres(w, ctx))
        return;
    HOLD(&w->lock);
    writer_note_result(w, ctx, status);
}

/* The connection is closed. The thread opens another at once; when it cannot, or the server is
 * silent, the circuit opens. */
bool writer_lost_postgres(struct writer *w, struct ctx *ctx)
{
    if (!store_is_postgres(w->s) || !w->is_open || !pg_is_lost(w->db.pg))
        return false;
    if (ctx->failed == STORAGE)
        ctx->detail = STORAGE_AWAY;
    writer_leave_postgres(w);
    return true;
}

void writer_leave_postgres(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    w->is_open = false;
    w->look_us = 0;
    if (is_postgres(&w->db) && pg_is_silent(w->db.pg))
        writer_open_circuit(w);
    pthread_mutex_unlock(&w->lock);
    db_close(&w->db);
}

/* What was lost before it began, as by a server that closes idle connections, costs nobody a
 * failure. */
struct task *writer_put_aside(struct writer *w, struct task *first)
{
    if (!w->xid && !first->is_probe) {
        HOLD(&w->lock);
        writer_put_back(w, first);
        w->has_late = true;
        return NULL;
    }
    struct task *waited = writer_take_waited(&first);
    assert(!w->doubtful);
    w->doubtful = first;
    return waited;
}

/* The log may lie beside another database now, whose log it would be taken for. So it is emptied,
 * into the file that it belongs to; when only the log was deleted, nothing is lost by that. Not
 * without the index, which holds the locks that keep other processes out meanwhile. */
static void leave_lost(struct writer *w, struct ctx *ctx)
{
    if (w->has_left || files_check(ctx, &w->s->files) == OK)
        return;
    w->has_left = true;
    if (files_has_log_index(&w->s->files))
        writer_empty_log(w, EMPTY_LOG_MS);
}

/* The lock is held when it is called and when it returns, and not in between. The probe's number
 * is taken before a task of another thread gets one. */
void writer_look(struct writer *w, struct ctx *ctx)
{
    struct ctx own = {0};
    struct task probe = {.ctx = &own, .call = write_probe, .is_probe = true};
    bool is_lost = atomic_load(&w->s->files.state) == FILES_LOST;
    bool is_open = w->is_open; /* what is queued is a probe itself */
    bool has_failed = is_open && !is_lost && !w->first && w->result != OK;
    w->has_doubt = false;
    if (has_failed) {
        probe.no = ++w->queued_no;
        w->queued++;
    }
    pthread_mutex_unlock(&w->lock);
    if (!is_open)
        open_now(w, ctx);
    else if (has_failed)
        writer_write(w, ctx, &probe);
    else if (store_is_postgres(w->s))
        ask_postgres(w, ctx);
    else if (w->is_stale && files_check(ctx, &w->s->files) == OK)
        writer_empty_log(w, EMPTY_LOG_MS);
    else
        leave_lost(w, ctx);
    ctx_clear_failure(ctx);
    arena_reset(&ctx->arena);
    ctx_free(&own);
    pthread_mutex_lock(&w->lock);
    bool is_cut = store_is_postgres(w->s) && !w->is_open && !w->pause_ms; /* just lost */
    w->look_us = is_cut ? 0 : clock_mono_us() + (w->pause_ms ? w->pause_ms : LOOK_MS) * 1000;
}
