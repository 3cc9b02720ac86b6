/* writer_postgres.c - the writer's connection to PostgreSQL, and a group of tasks on it. */
#include <sodium.h>
#include <unistd.h>

#include "store/postgres/schema.h"
#include "store/sql/state/notes_postgres.h"
#include "store/sql/state/writer_int.h"

/*
 * A group is one transaction, as on SQLite; each task of several has a savepoint, or shares one
 * with its neighbours (a wave): tasks that write other pools, and that can run again. A commit is
 * durable, so no thread syncs behind it. Several servers may write: who writes to a pool has locked
 * its row since the beginning of the task (pool_find), so that what follows sees all that others
 * have written. Two groups that lock the same pools in another order stop each other (a deadlock,
 * which PostgreSQL ends). The task that was stopped has changed nothing, not even in memory, as its
 * lock is the first thing that it asks for. Vectors lock several pools, and keep nothing in memory.
 */

/* A number that nobody else has, marked by a lock that ends with the connection. Of one that was
 * lost the server may still hold it, and drops it later: then claims last as long as their leases.
 * So they do behind a pooler, where no lock lasts. */
static enum status take_mark(struct ctx *ctx, struct writer *w)
{
    int64_t unused;
    struct hold *hold = &w->s->hold;
    uint64_t random;
    randombytes_buf(&random, sizeof random);
    if (!hold->mark)
        hold->mark = (int64_t)(random >> 4) + 1;
    w->db.hold = hold;
    if (pg_is_pooled(w->db.pg)) {
        hold->mark = 0;
        return OK;
    }
    str lock = str_printf(&ctx->arena, "SELECT pg_try_advisory_lock(%lld)", (long long)hold->mark);
    return db_int(ctx, &w->db, lock.p, &unused);
}

/* What a call has erased is noted in a table of the connection, as in SQLite; so is what can be
 * undone, and what is told to others. */
enum status writer_open_on_postgres(struct ctx *ctx, struct writer *w)
{
    static const char own_tables[] =
        "DO $$BEGIN IF to_regclass('pg_temp.noted') IS NULL THEN "
        "CREATE TEMP TABLE erased(id text COLLATE \"C\", layer bigint, superseded_by text"
        " COLLATE \"C\", PRIMARY KEY(id, layer)) ON COMMIT DELETE ROWS;"
        "CREATE TEMP TABLE undoing(no bigint GENERATED ALWAYS AS IDENTITY, tab text, key_of text,"
        " key text, was jsonb, now jsonb) ON COMMIT DELETE ROWS;"
        "CREATE TEMP TABLE noted(no bigint GENERATED ALWAYS AS IDENTITY, kind text,"
        " \"user\" text, space text, id text) ON COMMIT DELETE ROWS; END IF; END$$";
    struct pg_address at;
    TRY(db_connect(ctx, w->s->path, &w->db));
    TRY(pg_address_of(ctx, str_of(w->s->path), &at));
    TRY(pg_schema_bring(ctx, w->db.pg, str_of(at.schema), !w->s->asked.must_exist));
    TRY(pg_set(ctx, w->db.pg, "statement_timeout", "10min"));
    TRY(pg_set(ctx, w->db.pg, "plan_cache_mode", "auto")); /* 8 % more notes a second */
    TRY(pg_set(ctx, w->db.pg, "enable_seqscan", "on"));    /* joins of whole tables */
    TRY(pg_own_tables(ctx, w->db.pg, own_tables));
    w->db.changes = &w->changes;
    w->db.notes = &w->notes;
    TRY(notes_pg_open(ctx, &w->db, &w->notes));
    TRY(take_mark(ctx, w));
    return w->steps->prepare(ctx, w->s, &w->db);
}

/* Behind a task whose transaction another server stood in the way of. The tasks from there on go
 * back to the head of the queue, and those before it are committed, which lets the other server go
 * on. */
static void put_back(struct writer *w, struct task *last)
{
    struct task *rest = last->next;
    last->next = NULL;
    HOLD(&w->lock);
    writer_put_back(w, rest);
}

/* What came last for a single task is its own failure. */
static enum status end_group(struct writer *w, struct ctx *ctx, struct task *only, struct txn *all)
{
    enum status s = index_apply(ctx, &w->db, &w->changes);
    s = s == OK ? notes_pg_end(ctx, &w->db, &w->notes) : s;
    s = s == OK ? pg_noted(ctx, w->db.pg, &w->xid) : s;
    s = s == OK ? txn_commit(all) : s;
    if (s == OK || !only || pg_is_lost(w->db.pg))
        return s;
    only->result = ctx_pass(only->ctx, ctx, s);
    ctx_clear_failure(ctx);
    notes_clear(&w->notes);
    return OK;
}

/* --- a group --- */

ORDER(by_pool, struct pool_ref, BY_TEXT(user) ?: BY_TEXT(space))

/* Two servers that lock several pools do it in the same order, so that neither stops the other.
 * Sent with what is asked first. */
static enum status lock_pools(struct writer *w, struct ctx *ctx, const struct task *first)
{
    struct pool_ref *v = NULL;
    size_t n = 0, cap = 0;
    for (const struct task *t = first; t && first->next; t = t->next) {
        v = arena_more(&ctx->arena, v, n, &cap, sizeof *v);
        v[n] = t->pool;
        n += t->pool.user.n > 0;
    }
    SORT(v, n, by_pool);
    for (size_t i = 0; i < n; i++)
        if (!i || by_pool(&v[i - 1], &v[i]) != 0)
            TRY(SQL_LATER(ctx, &w->db, SQL_POOL_LOCK, v[i].user, v[i].space));
    return OK;
}

/* Whether an earlier task from there on is of the same pool. */
static bool meets_pool(const struct task *from, const struct task *t)
{
    while (from != t && by_pool(&from->pool, &t->pool) != 0)
        from = from->next;
    return from != t;
}

/* The last task of those that can run as a wave; NULL: there are no two. */
static struct task *wave_of(struct task *first)
{
    enum { WAVE_MAX = 64 };
    struct task *last = NULL;
    size_t n = 0;
    for (struct task *t = first; t && t->ask && n < WAVE_MAX && !meets_pool(first, t); n++) {
        last = t;
        t = t->next;
    }
    return n > 1 ? last : NULL;
}

/* Of an earlier run, in a wave or on a connection that was lost; not the caller's own from before.
 */
static void forget_failure(struct task *t)
{
    if (t->result != OK)
        ctx_clear_failure(t->ctx);
    t->result = OK;
}

/* What all of them need is asked for before the first one runs, so that they wait once. If one
 * fails nothing is written of any, and each runs again by itself. */
static bool run_wave(struct writer *w, struct task *first, const struct task *last)
{
    size_t noted = w->changes.n, told = w->notes.n;
    TXN(part);
    enum status s = txn_savepoint(first->ctx, &w->db, &part);
    for (struct task *t = first; t != last->next; t = t->next) {
        forget_failure(t);
        t->ask(t->ctx, &w->db, t->what);
    }
    for (struct task *t = first; s == OK && t != last->next; t = t->next)
        s = t->result = t->call(t->ctx, &w->db, t->what);
    s = s == OK ? txn_commit(&part) : s;
    if (s == OK)
        return true;
    first->result = first->result == OK ? s : first->result;
    w->changes.n = noted;
    w->notes.n = told;
    return false;
}

/* A task by itself, unless the connection is lost; then the group fails. */
static enum status run_task(struct writer *w, struct ctx *ctx, struct task *t, bool is_only)
{
    if (!pg_is_lost(w->db.pg)) {
        forget_failure(t);
        if (!t->only_notes)
            TRY(index_apply(ctx, &w->db, &w->changes));
        t->result = writer_task(w, t, is_only);
    }
    return pg_is_lost(w->db.pg) ? pg_failed(ctx, w->db.pg) : OK;
}

/* Up to a task that another server stood in the way of: *stopped, which has changed nothing. *last
 * ran before it; NULL: none did that writes. */
static enum status run_tasks(struct writer *w, struct ctx *ctx, struct task *first,
                             struct task **last, bool *stopped)
{
    const struct task *failed = NULL; /* the last task of a wave that did not go well */
    *last = NULL;
    *stopped = false;
    for (struct task *t = first; t; *last = t->call ? t : *last, t = t->next) {
        struct task *wave = failed ? NULL : wave_of(t);
        if (wave && run_wave(w, t, wave)) {
            t = wave;
            continue;
        }
        failed = wave ? wave : failed;
        TRY(run_task(w, ctx, t, !first->next));
        failed = t == failed ? NULL : failed;
        *stopped = t->result == TOO_BUSY && pg_is_again(w->db.pg);
        if (!*stopped)
            continue;
        ctx_clear_failure(t->ctx);
        return OK;
    }
    return OK;
}

/* *again: the first task must be run again, since another server was in its way. */
static enum status run_on_postgres(struct writer *w, struct ctx *ctx, struct task *first,
                                   bool *again)
{
    struct task *last;
    bool is_only = !first->next, stopped;
    *again = false;
    TXN(all);
    w->xid = 0;
    TRY(notes_pg_begin(ctx, &w->db, &w->notes));
    TRY(txn_begin(ctx, &w->db, &all));
    pg_note(w->db.pg, "SELECT pg_current_xact_id()::text::bigint");
    TRY(lock_pools(w, ctx, first));
    TRY(run_tasks(w, ctx, first, &last, &stopped));
    *again = stopped && !last;
    if (stopped && last)
        put_back(w, last);
    if (is_only && first->result != OK)
        notes_clear(&w->notes);
    if (*again || (is_only && first->result != OK))
        return OK; /* the transaction is rolled back */
    return end_group(w, ctx, is_only ? first : NULL, &all);
}

enum status writer_group_on_postgres(struct ctx *ctx, struct writer *w, struct task *first)
{
    enum { TRIES = 10, PAUSE_US = 2000 };
    for (int i = 0; i < TRIES; i++) {
        bool again;
        w->changes.n = 0;
        notes_clear(&w->notes);
        TRY(run_on_postgres(w, ctx, first, &again));
        if (!again)
            return OK;
        usleep(PAUSE_US << (i < 5 ? i : 5));
    }
    return fail(ctx, TOO_BUSY, "another server is writing the same all the time");
}

/* --- the last group of a connection that was lost --- */

enum fate { NOT_WRITTEN, RUNNING, WRITTEN };

/* Of a connection that broke while a group was committed nobody knows whether it was: the server
 * does. One that it knows nothing of (another server in its place) was not. */
static enum status ask_fate(struct ctx *ctx, struct writer *w, int64_t *fate)
{
    *fate = NOT_WRITTEN;
    if (!w->xid)
        return OK;
    CLEANUP(ctx_free) struct ctx own = ctx_detached(ctx);
    str text = str_printf(&own.arena,
                          "SELECT CASE pg_xact_status('%lld') WHEN 'committed' THEN %d"
                          " WHEN 'in progress' THEN %d ELSE %d END",
                          (long long)w->xid, WRITTEN, RUNNING, NOT_WRITTEN);
    enum status status = db_int(&own, &w->db, text.p, fate);
    return pg_is_lost(w->db.pg) ? ctx_pass(ctx, &own, status) : OK;
}

/* Whoever waits to read them can. */
static void show_written(struct writer *w, const struct task *first)
{
    HOLD(&w->lock);
    for (const struct task *t = first; t; t = t->next)
        w->seen_no = t->no;
    pthread_cond_broadcast(&w->seen);
}

/* What was not written goes back to the head of the queue. */
enum status writer_settle_on_postgres(struct ctx *ctx, struct writer *w)
{
    int64_t fate;
    enum status status = ask_fate(ctx, w, &fate);
    if (status == OK && fate == RUNNING)
        status = fail_as(ctx, STORAGE, STORAGE_AWAY, "the server still ends the connection before");
    if (status != OK) {
        writer_leave_postgres(w);
        return status;
    }
    struct task *first = w->doubtful;
    w->doubtful = NULL;
    w->xid = 0;
    if (fate == WRITTEN) {
        show_written(w, first);
        writer_end(w, first);
        return OK;
    }
    HOLD(&w->lock);
    writer_put_back(w, first);
    return OK;
}
