/* writer.c - the one thread that writes: everything that waits is committed together. */
#include "store/sql/state/reserve.h"
#include "store/sql/state/writer_int.h"

#include <errno.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/sql/index/posting_cache.h"
#include "store/sql/index/words.h"

/*
 * SQLite takes one writer at a time, and a commit costs an fsync. So one thread writes: callers
 * queue a task and sleep, and whatever is queued when the thread is ready shares one transaction
 * and one fsync (group commit). Each task has a savepoint, so that the failure of one leaves the
 * others in place.
 *
 * A group that somebody waits for can be read when it is durable: a write that is refused was never
 * seen. A group that nobody waits for, or only for vectors, which can be made again, can be read
 * before it is durable, and a second thread syncs the log, so that a read that follows a queued
 * turn does not wait for the disk. What is queued during such a sync waits for the sync's end and
 * shares the next one, unless somebody wants to read it.
 *
 * Tasks note changes of the words index, which are applied once for the group (index.c). A task
 * that reads the index has them applied before it runs.
 *
 * The queue and all counters are under w->lock; the connection and w->changes belong to the writing
 * thread and need none. The lock is never held during a statement, a commit or a sync. A crash
 * loses what was not durable: writes that somebody waited for were acknowledged only when they
 * were.
 */

enum {
    TOUCH_MS = 200,           /* how long touches wait for other writes to join */
    GROUP_BYTES_MAX = 4 << 20 /* of the input that is committed together */
};

/*
 * A task that changes much runs without a savepoint: a savepoint keeps what each page was, and
 * SQLite walks through all of that at the end of every statement, so that the time would grow with
 * the square of what is changed. The only task of a group needs none: it is undone as a whole.
 */
enum status writer_task(struct writer *w, struct task *t, bool is_only)
{
    size_t noted = w->changes.n, told = w->notes.n;
    size_t listed = word_lists_noted(w->s->lists, SIZE_MAX);
    assert(db_in_transaction(&w->db));
    if (!t->call)
        return OK;
    if (is_only)
        return t->call(t->ctx, &w->db, t->what);
    TXN(part);
    TRY(txn_savepoint(t->ctx, &w->db, &part));
    enum status status = t->call(t->ctx, &w->db, t->what);
    status = status == OK ? txn_commit(&part) : status;
    if (status == OK)
        return OK;
    w->changes.n = noted;
    w->notes.n = told;
    word_lists_noted(w->s->lists, listed);
    return status;
}

/* After a failed sync the system may take lost pages for written ones, so a later sync of the log
 * proves nothing: all of the log goes into the database, which is synced, before the next commit.
 */
static enum status make_safe(struct writer *w, struct ctx *ctx)
{
    if (!atomic_load(&w->is_unsafe))
        return OK;
    int rc = commits_checkpoint(&w->counted, w->db.handle, SQLITE_CHECKPOINT_FULL);
    if (rc != SQLITE_OK)
        return db_failed(ctx, &w->db, rc);
    atomic_store(&w->is_unsafe, false);
    return OK;
}

/* FULL: the commit is durable when it returns, and readers see it only then. */
static enum status set_sync(struct writer *w, struct ctx *ctx, bool is_full)
{
    if (w->is_full == is_full)
        return OK;
    TRY(db_exec(ctx, &w->db, is_full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL"));
    w->is_full = is_full;
    return OK;
}

/* A task that finds its transaction gone (SQLite rolls back by itself on a full disk, for one) ends
 * the group: all its tasks fail. */
static enum status run_group(struct writer *w, struct ctx *ctx, struct task *first, bool is_full)
{
    w->changes = (struct index_changes){0};
    w->counted.group = (struct commit_count){0};
    notes_clear(&w->notes);
    if (!w->is_open)
        return writer_failure(ctx, w);
    if (store_is_postgres(w->s))
        return writer_group_on_postgres(ctx, w, first);
    TRY(files_check(ctx, &w->s->files));
    TRY(make_safe(w, ctx));
    TRY(set_sync(w, ctx, is_full));
    bool is_only = !first->next;
    assert(is_only || !first->is_alone);
    int64_t before = sqlite3_total_changes64(w->db.handle);
    TXN(all);
    TRY(txn_begin(ctx, &w->db, &all));
    for (struct task *t = first; t; t = t->next) {
        /* Before the task's savepoint: a failure of the task must not undo what others have noted.
         */
        if (!t->only_notes)
            TRY(index_apply(ctx, &w->db, &w->changes));
        t->result = writer_task(w, t, is_only);
        if (!db_in_transaction(&w->db))
            return ctx_pass(ctx, t->ctx, t->result);
        if (is_only && t->result != OK) {
            notes_clear(&w->notes);
            return OK; /* undone as a whole */
        }
    }
    TRY(index_apply(ctx, &w->db, &w->changes));
    TRY(words_seal(ctx, &w->db));
    if (sqlite3_total_changes64(w->db.handle) != before)
        TRY(commits_add(ctx, &w->db, &w->counted));
    TRY(txn_commit(&all));
    return files_check(ctx, &w->s->files); /* what went into a lost file is not acknowledged */
}

/* Erased rows must not stay readable in the log, nor in pages of the file that newer ones in the
 * log replace. A reader that began before needs both. */
int writer_empty_log(struct writer *w, int wait_ms)
{
    db_wait_for_locks(w->db.handle, wait_ms);
    int rc = commits_checkpoint(&w->counted, w->db.handle, SQLITE_CHECKPOINT_TRUNCATE);
    db_wait_for_locks(w->db.handle, BUSY_MS);
    w->is_stale = rc != SQLITE_OK;
    return rc;
}

static void empty_log_behind(struct writer *w, struct task *first)
{
    int wait_ms = EMPTY_LOG_MS;
    if (store_is_postgres(w->s))
        return;
    for (const struct task *t = first; t; t = t->next)
        wait_ms = t->wait_ms > wait_ms ? t->wait_ms : wait_ms;
    int rc = writer_empty_log(w, wait_ms);
    for (struct task *t = first; t; t = t->next)
        t->left_in_log = t->erases && t->result == OK ? rc : SQLITE_OK;
}

/* Their group failed. Who failed alone keeps the words; the first of a wave may have none. */
static void fail_all(struct task *first, const struct ctx *why)
{
    for (struct task *t = first; t; t = t->next) {
        if (t->result != OK && t->ctx->failed != OK)
            continue;
        ctx_clear_failure(t->ctx);
        t->result = fail_as(t->ctx, why->failed, why->detail, "%s", why->why);
    }
}

/* Nobody reads the result, so it is logged. */
static void end_later(struct task *t)
{
    struct later *later = (struct later *)t;
    if (t->result != OK)
        log_event(LOG_ERROR, "store.write_lost", "status=%s why=\"%s\"", status_name(t->result),
                  t->ctx->why);
    ctx_free(&later->ctx);
    free(later);
}

/* A flush reports failures of tasks without a waiter. The lock is held. */
static void answer_for_lost(struct writer *w, struct task *t)
{
    if (t->nobody_waits && t->result != OK)
        (void)!ctx_pass(&w->lost, t->ctx, t->result);
    if (!t->is_flush || t->result != OK || w->lost.failed == OK)
        return;
    t->result = ctx_pass(t->ctx, &w->lost, w->lost.failed);
    ctx_clear_failure(&w->lost);
}

/* The link behind the last one. */
static struct task **tasks_end(struct task **list)
{
    while (*list)
        list = &(*list)->next;
    return list;
}

/* What the group wrote can be read, and waits to be synced. */
static void show_group(struct writer *w, struct task *first, uint64_t last_no)
{
    HOLD(&w->lock);
    writer_note_result(w, NULL, OK);
    w->commits++;
    w->seen_no = last_no;
    if (w->counted.group.n)
        w->counted.latest = w->counted.group;
    w->is_syncing = true;
    *tasks_end(&w->unsynced) = first;
    pthread_cond_broadcast(&w->seen);
    pthread_cond_signal(&w->committed);
}

/* Counts the group and wakes the waiting threads. A task with a waiter lives on that thread's
 * stack, so it must not be touched once is_done is set. */
void writer_end(struct writer *w, struct task *first)
{
    struct task *laters = NULL, *next;
    bool wrote = false;
    pthread_mutex_lock(&w->lock);
    for (struct task *t = first; t; t = next) {
        next = t->next;
        w->ended_no = t->no > w->ended_no ? t->no : w->ended_no;
        answer_for_lost(w, t);
        assert(w->queued > 0);
        w->queued--;
        w->writes += t->result == OK && !t->is_probe;
        wrote |= t->result == OK && !t->is_flush && !t->is_touch && !t->is_probe;
        w->touches -= t->is_touch;
        w->failures += t->result == STORAGE && !t->is_probe;
        if (t->nobody_waits) {
            w->n_later--;
            w->later_bytes -= t->bytes;
            t->next = laters;
            laters = t;
        } else {
            t->is_done = true;
        }
    }
    pthread_cond_broadcast(&w->done);
    if (wrote) {
        w->groups++;
        pthread_cond_broadcast(&w->written);
    }
    pthread_mutex_unlock(&w->lock);
    for (struct task *t = laters; t; t = next) {
        next = t->next;
        end_later(t);
    }
}

/* Takes the tasks that are committed together. Their words take many times the memory of their
 * text, so the bytes are bounded. The lock is held. At least one task is taken, however large. */
static struct task *take_group(struct writer *w)
{
    struct task *first = w->first, *last = first;
    size_t bytes = first->bytes;
    while (last->next && !last->is_alone && !last->next->is_alone &&
           bytes + last->next->bytes <= GROUP_BYTES_MAX) {
        last = last->next;
        bytes += last->bytes;
    }
    w->first = last->next;
    last->next = NULL;
    if (!w->first)
        w->last = &w->first;
    return first;
}

/* Whether there is nothing to do yet: what comes during a sync waits for its end, unless somebody
 * waits to read it. The lock is held. */
static bool is_idle(const struct writer *w)
{
    bool is_held = w->is_syncing && w->wanted_no <= w->seen_no;
    bool is_cut = store_is_postgres(w->s) && !w->is_open && !w->has_late;
    return !w->is_ending && (!w->first || is_held || is_cut);
}

/* A connection that breaks there is closed before the next group. The failure of the last one
 * stays. */
static void look_at_others(struct writer *w, const struct ctx *ctx)
{
    CLEANUP(ctx_free) struct ctx own = ctx_detached(ctx);
    notes_look(&own, &w->db, &w->notes);
    (void)writer_lost_postgres(w, &own);
}

/* Until there is something to do, or a look is due. Meanwhile a follower learns what other
 * processes write. The lock is held, but not during its look. */
static void wait_until_busy(struct writer *w, struct ctx *ctx)
{
    while (is_idle(w) && !writer_is_due(w)) {
        int64_t due_ms =
            store_is_postgres(w->s) && !w->is_open ? w->pause_ms + 1 : notes_due_ms(&w->notes);
        struct timespec until = steady_in_ms(due_ms > 0 && due_ms < LOOK_MS ? due_ms : LOOK_MS);
        if (due_ms != 0) {
            pthread_cond_timedwait(&w->some, &w->lock, &until);
        } else {
            pthread_mutex_unlock(&w->lock);
            look_at_others(w, ctx);
            pthread_mutex_lock(&w->lock);
        }
    }
}

/* Touches wait for other writes to join, so that a write seldom finds the disk busy with a touch,
 * unless somebody waits to read one. It may return when there is nothing to write. The lock is
 * held. */
static void wait_for_some(struct writer *w, struct ctx *ctx)
{
    wait_until_busy(w, ctx);
    struct timespec until = steady_in_ms(TOUCH_MS);
    int rc = 0;
    while (w->first && rc != ETIMEDOUT && w->queued == w->touches && w->touches < QUEUE_MAX / 2 &&
           !w->is_ending && w->wanted_no <= w->seen_no)
        rc = pthread_cond_timedwait(&w->some, &w->lock, &until);
}

/* Ends a group that needs no further sync: all of it is durable, or none of it can be read. Groups
 * end in the order of their commits. */
static void end_group(struct writer *w, const struct ctx *ctx, struct task *first, uint64_t last_no,
                      enum status result)
{
    pthread_mutex_lock(&w->lock);
    writer_note_result(w, ctx, result);
    w->commits += result == OK;
    w->seen_no = last_no;
    pthread_cond_broadcast(&w->seen);
    w->awaits_sync = true;
    while (w->is_syncing)
        pthread_cond_wait(&w->some, &w->lock);
    w->awaits_sync = false;
    pthread_mutex_unlock(&w->lock);
    if (result == OK)
        commits_tell(&w->counted, &w->counted.group);
    writer_end(w, first);
}

/* The order behind a commit matters: the log is emptied before the tasks end, so that a caller
 * whose erasure has returned can rely on it. Who follows is told before that, too: an event comes
 * no later than the answer to the request that made it. */
void writer_write(struct writer *w, struct ctx *ctx, struct task *first)
{
    uint64_t last_no = first->no;
    bool erases = false, is_full = store_is_postgres(w->s), lends = false;
    for (const struct task *t = first; t; t = t->next) {
        lends |= t->erases;
        is_full |= t->call && !t->nobody_waits && !t->is_early;
    }
    lends = lends && !store_is_postgres(w->s) && reserve_lend(w->s->path);
    enum status result = run_group(w, ctx, first, is_full);
    word_lists_end(w->s->lists, result == OK);
    for (const struct task *t = first; t; t = t->next) {
        last_no = t->no;
        erases |= t->erases && t->result == OK;
    }
    bool is_lost = writer_lost_postgres(w, ctx);
    if (result != OK && is_lost) {
        last_no = w->seen_no; /* the rest of the group is written later */
        first = writer_put_aside(w, first);
    } else if (w->is_open && store_is_away(w->s)) { /* it has answered */
        files_take(ctx, &w->s->files);
    }
    if (result != OK)
        fail_all(first, ctx);
    else if (erases && w->is_open) {
        empty_log_behind(w, first);
        w->steps->erased(ctx, w->s, &w->db);
    }
    if (lends)
        reserve_keep(w->s->path);
    if (result == OK)
        notes_tell(&w->notes);
    if (w->is_open && notes_due_ms(&w->notes) == 0)
        look_at_others(w, ctx);
    if (result != OK || is_full)
        end_group(w, ctx, first, last_no, result);
    else
        show_group(w, first, last_no);
}

struct task *writer_take_waited(struct task **list)
{
    struct task *out = NULL, **last = &out;
    while (*list) {
        struct task *t = *list;
        if (t->nobody_waits) {
            list = &t->next;
            continue;
        }
        *list = t->next;
        t->next = NULL;
        *last = t;
        last = &t->next;
    }
    return out;
}

/* They came while PostgreSQL was lost; behind that none is queued. The lock is held, and not in
 * between. */
static void refuse_waited(struct writer *w, struct ctx *ctx)
{
    struct task *waited = writer_take_waited(&w->first);
    w->last = tasks_end(&w->first);
    w->has_late = false;
    pthread_mutex_unlock(&w->lock);
    if (writer_failure(ctx, w) == OK)
        fail_as(ctx, STORAGE, STORAGE_AWAY, "the database is being opened again");
    fail_all(waited, ctx);
    writer_end(w, waited);
    ctx_clear_failure(ctx);
    pthread_mutex_lock(&w->lock);
}

/* To the head of the queue, in their order. The lock is held. */
void writer_put_back(struct writer *w, struct task *first)
{
    *tasks_end(&first) = w->first;
    w->first = first;
    w->last = tasks_end(&w->first);
}

static void *write_groups(void *arg)
{
    struct writer *w = arg;
    CLEANUP(ctx_free) struct ctx ctx = {0};
    pthread_mutex_lock(&w->lock);
    for (;;) {
        wait_for_some(w, &ctx);
        if (writer_is_due(w))
            writer_look(w, &ctx);
        if (w->is_ending && w->doubtful) {
            writer_put_back(w, w->doubtful);
            w->doubtful = NULL;
        }
        if (!w->first && w->is_ending)
            break;
        if (store_is_away(w->s) && !w->is_ending)
            refuse_waited(w, &ctx);
        bool is_cut = store_is_postgres(w->s) && !w->is_open && !w->is_ending;
        if (!w->first || is_cut || is_idle(w))
            continue;
        struct task *group = take_group(w);
        pthread_mutex_unlock(&w->lock);
        writer_write(w, &ctx, group);
        ctx_clear_failure(&ctx);
        arena_reset(&ctx.arena);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* --- the disk --- */

static void end_sync(struct writer *w, struct ctx *ctx, struct task *first,
                     const struct commit_count *count)
{
    enum status result = log_sync_run(ctx, &w->log);
    if (result != OK)
        atomic_store(&w->is_unsafe, true);
    if (result == OK)
        commits_tell(&w->counted, count);
    else
        fail_all(first, ctx);
    writer_end(w, first);
    HOLD(&w->lock);
    if (result != OK)
        writer_note_result(w, ctx, result);
    w->is_syncing = w->unsynced != NULL;
    if (w->first || w->awaits_sync)
        pthread_cond_signal(&w->some);
}

static void *sync_groups(void *arg)
{
    struct writer *w = arg;
    CLEANUP(ctx_free) struct ctx ctx = {0};
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!w->unsynced && !w->is_sync_ending)
            pthread_cond_wait(&w->committed, &w->lock);
        if (!w->unsynced)
            break;
        struct task *first = w->unsynced;
        w->unsynced = NULL;
        struct commit_count count = w->counted.latest;
        pthread_mutex_unlock(&w->lock);
        end_sync(w, &ctx, first, &count);
        ctx_clear_failure(&ctx);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* --- opening and closing --- */

/* Tells a thread, and waits until it has done what is left. */
static void end_thread(struct writer *w, pthread_t thread, bool *is_ending, pthread_cond_t *told)
{
    pthread_mutex_lock(&w->lock);
    *is_ending = true;
    pthread_cond_signal(told);
    pthread_mutex_unlock(&w->lock);
    pthread_join(thread, NULL);
}

/* On failure neither thread runs. The thread that syncs starts first, since the other one hands
 * groups to it. */
static enum status start_threads(struct ctx *ctx, struct writer *w)
{
    bool syncs = pthread_create(&w->sync_thread, NULL, sync_groups, w) == 0;
    if (syncs && pthread_create(&w->thread, NULL, write_groups, w) == 0)
        return OK;
    if (syncs)
        end_thread(w, w->sync_thread, &w->is_sync_ending, &w->committed);
    return fail(ctx, STORAGE, "cannot start a thread");
}

static void free_writer(struct writer *w)
{
    log_sync_close(&w->log);
    db_close(&w->db);
    commits_close(&w->counted);
    notes_close(&w->notes);
    pthread_cond_t *conds[] = {&w->some, &w->done, &w->written, &w->seen, &w->committed};
    for (size_t i = 0; i < sizeof conds / sizeof *conds; i++)
        pthread_cond_destroy(conds[i]);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

/* A store that may wait and finds its disk failing is opened by the thread later. */
static enum status open_or_wait(struct ctx *ctx, struct writer *w)
{
    enum status status = writer_connect(ctx, w);
    bool is_away = status == STORAGE && ctx->detail == STORAGE_AWAY;
    if (!(is_away || store_disk_failed(ctx, status)) || !w->s->asked.may_wait)
        return status;
    writer_note_result(w, ctx, status);
    ctx_clear_failure(ctx);
    return OK;
}

enum status writer_open(struct ctx *ctx, struct store *s, const struct writer_steps *steps,
                        struct writer **out)
{
    struct writer *w = heap_alloc(sizeof *w);
    pthread_mutex_init(&w->lock, NULL);
    steady_cond_init(&w->some);
    pthread_cond_init(&w->done, NULL);
    steady_cond_init(&w->written);
    steady_cond_init(&w->seen);
    pthread_cond_init(&w->committed, NULL);
    notes_open(&w->notes);
    w->s = s;
    w->steps = steps;
    w->last = &w->first;
    w->groups = 1;
    w->counted.fd = -1;
    enum status status = open_or_wait(ctx, w);
    status = status == OK ? start_threads(ctx, w) : status;
    if (status == OK)
        *out = w;
    else
        free_writer(w);
    return status;
}

void writer_close(struct writer *w)
{
    if (!w)
        return;
    end_thread(w, w->thread, &w->is_ending, &w->some);
    end_thread(w, w->sync_thread, &w->is_sync_ending, &w->committed);
    if (!store_is_postgres(w->s) &&
        atomic_load(&w->s->files.state) == FILES_OPEN) /* else closing would do it */
        commits_checkpoint(&w->counted, w->db.handle, SQLITE_CHECKPOINT_PASSIVE);
    assert(!w->first && !w->unsynced && !w->queued && !w->n_later);
    free_writer(w);
}
