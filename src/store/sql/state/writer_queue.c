/* writer_queue.c - the writer's queue as other threads see it: tasks put in, and waited for. */
#include "store/sql/state/writer_int.h"

#include <errno.h>

#include "base/clock.h"
#include "base/id.h"

/*
 * A task is committed, and so can be read, before it is on disk: two numbers tell how far the
 * writer has come. seen_no: the last task that can be read. ended_no: the last one that is durable
 * or has failed. Who acknowledges a write waits for the second; who reads after writing for the
 * first.
 */
enum {
    QUEUE_BYTES_MAX = 64 << 20, /* of the input that nobody waits for */
    EMPTY_MS = 10000,           /* for emptying the log behind an erasure */
    EMPTY_AGAIN_MS = 100,       /* between two tries, in which others write */
    EMPTY_TRY_MS = 1600         /* the most that a try waits for readers, and others with it */
};

/* The lock is held. */
static void queue_task(struct writer *w, struct task *t)
{
    assert(!w->is_ending && !t->is_done);
    t->next = NULL;
    t->no = ++w->queued_no;
    *w->last = t;
    w->last = &t->next;
    w->queued++;
    w->has_late |= !w->is_open && !t->nobody_waits;
    pthread_cond_signal(&w->some);
}

/* t lives on the caller's stack and may be used by the writer until is_done is set. There is no
 * deadline: a task in the queue is run, and its result must be known. */
static void run_queued(struct writer *w, struct task *t)
{
    HOLD(&w->lock);
    queue_task(w, t);
    while (!t->is_done)
        pthread_cond_wait(&w->done, &w->lock);
}

/* The erasure is committed, but a reader began before and needs the log. A try must outlast that
 * reader, and one that began during the try: it waits twice as long as the try before. */
static void empty_log_later(struct writer *w, struct task *t)
{
    int ms = EMPTY_LOG_MS, left_ms = EMPTY_MS;
    for (; t->left_in_log == SQLITE_BUSY && left_ms > 0; left_ms -= ms + EMPTY_AGAIN_MS) {
        ms = 2 * ms < EMPTY_TRY_MS ? 2 * ms : EMPTY_TRY_MS;
        struct task again = {.ctx = t->ctx, .erases = true, .wait_ms = ms, .is_probe = true};
        nanosleep(&(struct timespec){.tv_nsec = EMPTY_AGAIN_MS * 1000000}, NULL);
        run_queued(w, &again);
        if (again.result == OK)
            t->left_in_log = again.left_in_log;
        ctx_clear_failure(t->ctx);
    }
}

enum status writer_erased(const struct task *t)
{
    if (t->left_in_log == SQLITE_OK)
        return OK;
    if (t->left_in_log != SQLITE_BUSY)
        return fail_as(t->ctx, STORAGE, STORE_DISK_FAILED,
                       "it is erased, but its bytes are still in the files: %s (%d)",
                       sqlite3_errstr(t->left_in_log), t->left_in_log);
    return fail(t->ctx, TIMED_OUT,
                "it is erased, but a long read of the database still keeps its bytes in the files; "
                "they go when that read ends");
}

enum status writer_run(struct writer *w, struct task *t)
{
    if (store_is_away(w->s))
        TRY(writer_failure(t->ctx, w));
    /* Whoever waits for the writer holds no connection, and reads what was written. */
    store_view_rest(t->ctx, w->s);
    assert(!pthread_equal(pthread_self(), w->thread)); /* would wait for itself */
    run_queued(w, t);
    empty_log_later(w, t);
    return t->result;
}

enum status writer_call(struct ctx *ctx, struct writer *w, write_fn *call, const void *what)
{
    struct task t = {.ctx = ctx, .call = call, .what = what};
    return writer_run(w, &t);
}

/* What nobody waits for is not queued while the connection is away for however short: if the
 * process ends meanwhile it is lost, and its caller has a safer place for it. */
static enum status check_connection(struct ctx *ctx, struct writer *w)
{
    if (!store_is_postgres(w->s))
        return OK;
    HOLD(&w->lock);
    return w->is_open && !store_is_away(w->s)
               ? OK
               : fail_as(ctx, STORAGE, STORAGE_AWAY, "the database is being opened again");
}

/* Bounds the memory of the queue; a waiting writer is bounded by its thread. Room is reserved
 * before the input is copied, so a full queue costs no memory. */
static enum status make_room(struct ctx *ctx, struct writer *w, size_t bytes)
{
    HOLD(&w->lock);
    if (w->n_later == QUEUE_MAX || w->later_bytes + bytes > QUEUE_BYTES_MAX)
        return fail(ctx, TOO_BUSY, "too much waits to be written");
    w->n_later++;
    w->later_bytes += bytes;
    return OK;
}

enum status writer_reserve(struct ctx *ctx, struct writer *w, size_t bytes, struct later **out)
{
    if (bytes > QUEUE_BYTES_MAX)
        return fail(ctx, TOO_LARGE, "a bundle is over %d bytes", QUEUE_BYTES_MAX);
    TRY(check_connection(ctx, w));
    TRY(make_room(ctx, w, bytes));
    struct later *later = heap_alloc(sizeof *later);
    later->task = (struct task){.ctx = &later->ctx, .bytes = bytes, .nobody_waits = true};
    *out = later;
    return OK;
}

/* From here on the task belongs to the writer, which frees it. */
void writer_queue(struct writer *w, struct later *later, write_fn *call, const void *what)
{
    later->task.call = call;
    later->task.what = what;
    assert(call && later->task.nobody_waits && !later->task.is_alone);
    HOLD(&w->lock);
    w->touches += later->task.is_touch;
    queue_task(w, &later->task);
    if (!later->task.is_touch)
        w->last_later = w->queued_no;
    if (later->pool)
        w->last_of_pool[later->pool % POOL_SLOTS] = w->queued_no;
}

/* 0 means no pool, and no hash is 0. Two pools may share a slot: then one waits for the other's
 * writes, which is late and not wrong. */
uint64_t writer_pool(struct pool_ref pool)
{
    return hash64(STR_LIST(pool.user, pool.space));
}

/* Tasks are committed in the order of the queue. ms < 0: however long it takes. The lock is held.
 */
static bool wait_seen(struct writer *w, uint64_t no, int64_t ms)
{
    int rc = 0;
    if (w->seen_no >= no)
        return true;
    struct timespec until = steady_in_ms(ms < 0 ? 0 : ms);
    if (w->wanted_no < no) {
        w->wanted_no = no;
        pthread_cond_signal(&w->some);
    }
    while (w->seen_no < no && rc != ETIMEDOUT && !store_is_away(w->s))
        rc = ms < 0 ? pthread_cond_wait(&w->seen, &w->lock)
                    : pthread_cond_timedwait(&w->seen, &w->lock, &until);
    return w->seen_no >= no;
}

void writer_look_soon(struct writer *w, bool is_silent)
{
    CLEANUP(ctx_free) struct ctx why = {0};
    HOLD(&w->lock);
    w->has_doubt = true;
    if (is_silent && w->is_open) {
        fail_as(&why, STORAGE, STORAGE_AWAY, "the database cannot be reached: it is silent");
        writer_note_result(w, &why, STORAGE);
        writer_open_circuit(w);
    }
    pthread_cond_signal(&w->some);
}

/* Touches are not waited for. */
enum status store_settle(UNUSED struct ctx *ctx, struct store *s)
{
    HOLD(&s->writer->lock);
    wait_seen(s->writer, s->writer->last_later, -1);
    return OK;
}

bool writer_settle_pool(struct writer *w, uint64_t pool, int64_t ms)
{
    assert(ms >= 0);
    HOLD(&w->lock);
    return wait_seen(w, pool ? w->last_of_pool[pool % POOL_SLOTS] : w->last_later, ms);
}

enum status writer_reach_disk(struct ctx *ctx, struct writer *w)
{
    HOLD(&w->lock);
    uint64_t no = w->seen_no;
    while (w->ended_no < no)
        pthread_cond_wait(&w->done, &w->lock);
    return atomic_load(&w->is_unsafe) ? fail(ctx, STORAGE, "the last sync of the database failed")
                                      : OK;
}

void writer_count(struct writer *w, struct store_stats *out)
{
    HOLD(&w->lock);
    out->queued = w->queued;
    out->writes = w->writes;
    out->commits = w->commits;
    out->failures = w->failures;
}

/* --- those who wait for something to be written --- */

/* The clock is monotonic. A caller that passes the number it got last misses no write in
 * between. */
uint64_t store_wait(struct store *s, uint64_t seen, int64_t ms)
{
    struct writer *w = s->writer;
    struct timespec until = steady_in_ms(ms);
    int rc = 0;
    HOLD(&w->lock);
    while (w->groups == seen && !w->is_woken && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&w->written, &w->lock, &until);
    return w->groups;
}

/* For the end of the server: from now on nobody waits. */
void store_wake(struct store *s)
{
    struct writer *w = s->writer;
    HOLD(&w->lock);
    w->is_woken = true;
    pthread_cond_broadcast(&w->written);
}

/* --- who follows --- */

static enum status follow_notes(struct ctx *ctx, struct db *db, const void *what)
{
    struct follower *const *f = what;
    return notes_follow(ctx, db, db->notes, *f);
}

enum status store_follow(struct ctx *ctx, struct store *s, struct follower *f)
{
    enum status status = f ? writer_call(ctx, s->writer, follow_notes, &f) : OK;
    if (!f || status != OK) /* its group may have failed behind it */
        notes_leave(&s->writer->notes);
    return status;
}
