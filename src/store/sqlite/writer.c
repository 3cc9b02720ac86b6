/* writer.c - the one thread that writes: everything that waits is committed together. */
#include <errno.h>
#include <time.h>

#include "base/log.h"
#include "store/sqlite/sqlite_store.h"

/* How long what was shown waits for others to be written with; what may wait for the disk when
 * nobody waits for it; how long readers of the log are waited for
 * before it is left to a later checkpoint. */
enum {
    TOUCH_MS = 200,
    QUEUE_MAX = 4096,
    QUEUE_BYTES_MAX = 64 << 20,
    GROUP_BYTES_MAX = 4 << 20,
    EMPTY_LOG_MS = 100
};

struct writer {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t some, done, written;
    struct task *first, **last;
    size_t n_later, later_bytes;
    int64_t queued, touches;
    bool is_ending, is_woken;
    uint64_t groups; /* that wrote something, from 1 on */
    uint64_t writes, commits, failures;
    enum status result;
    struct ctx lost; /* why what nobody waited for was not written, until a flush says so */
    struct db db;
};

/* What nobody waits for, with the memory it lives in. */
struct later {
    struct task task;
    struct ctx ctx;
};

/* The others want to see the index as it is. */
static bool only_notes(const struct task *t)
{
    return (t->kind == TASK_BUNDLE && !t->bundle->n_erase) || t->kind == TASK_CHANGE ||
           t->kind == TASK_TOUCH;
}

static enum status run_kind(struct writer *w, struct task *t, struct index_changes *changes)
{
    int64_t count = 0;
    if (t->kind == TASK_BUNDLE)
        return bundle_put(t->ctx, &w->db, t->bundle, &t->words, changes);
    if (t->kind == TASK_CHANGE)
        return memory_change(t->ctx, &w->db, t->change, changes, t->changed);
    switch (t->kind) {
    case TASK_FORGET:
        TRY(erase(t->ctx, &w->db, t->forget, &count));
        break;
    case TASK_PRUNE:
        TRY(prune(t->ctx, &w->db, t->receipts_before, t->expired_before, &count));
        break;
    case TASK_TOKEN:
        return token_add(t->ctx, &w->db, t->token);
    case TASK_REVOKE:
        return token_revoke(t->ctx, &w->db, t->user, t->id);
    case TASK_CALL:
    case TASK_TOUCH:
        return t->call(t->ctx, &w->db, t->what);
    default:
        return OK;
    }
    t->count = count;
    return OK;
}

/*
 * What may erase very much has a transaction of its own and no part inside it: a part keeps what
 * each page was, and SQLite walks through all of that at the end of every statement, so that the
 * time would grow with the square of what is erased.
 */
static bool is_alone(const struct task *t)
{
    return t->kind == TASK_FORGET ? !t->forget->id.n : t->bundle && t->bundle->replaces;
}

/* One task's failure undoes only what it did itself. */
static enum status run_task(struct writer *w, struct task *t, struct index_changes *changes)
{
    size_t noted = changes->n;
    if (t->kind == TASK_FLUSH)
        return OK;
    if (is_alone(t))
        return run_kind(w, t, changes);
    if (t->nobody_waits && t->bundle)
        t->words = bundle_words_of(&t->ctx->arena, t->bundle);
    TXN(part);
    TRY(txn_savepoint(t->ctx, &w->db, &part));
    enum status status = run_kind(w, t, changes);
    if (status == OK)
        status = txn_commit(&part);
    if (status != OK && changes->n > noted)
        changes->n = noted;
    return status;
}

static enum status run_group(struct writer *w, struct ctx *ctx, struct task *first)
{
    struct index_changes changes = {0};
    TXN(all);
    TRY(txn_begin(ctx, &w->db, &all));
    for (struct task *t = first; t; t = t->next) {
        /* Outside of the task's own part, or its failure would undo what others have noted. */
        if (!only_notes(t))
            TRY(index_apply(ctx, &w->db, &changes));
        t->result = run_task(w, t, &changes);
        if (sqlite3_get_autocommit(w->db.handle))
            return fail(ctx, t->result, "%s", t->ctx->why);
        if (is_alone(t) && t->result != OK)
            return OK; /* undone as a whole */
    }
    TRY(index_apply(ctx, &w->db, &changes));
    return txn_commit(&all);
}

static bool erases(const struct task *t)
{
    return t->kind == TASK_FORGET || (t->bundle && (t->bundle->replaces || t->bundle->n_erase));
}

/* What was erased must not stay readable in the log file either. */
static void empty_log(struct writer *w, const struct task *first)
{
    bool erased = false;
    for (const struct task *t = first; t; t = t->next)
        erased |= erases(t) && t->result == OK;
    if (!erased)
        return;
    sqlite3_busy_timeout(w->db.handle, EMPTY_LOG_MS);
    sqlite3_exec(w->db.handle, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
    sqlite3_busy_timeout(w->db.handle, BUSY_MS);
}

static void fail_all(struct task *first, const struct ctx *why)
{
    for (struct task *t = first; t; t = t->next) {
        if (t->result != OK)
            continue;
        ctx_clear_failure(t->ctx);
        t->result = fail(t->ctx, why->failed, "%s", why->why);
    }
}

static void end_later(struct task *t)
{
    struct later *later = (struct later *)t;
    if (t->result != OK)
        log_event(LOG_ERROR, "store.write_lost", "status=%s why=\"%s\"", status_name(t->result),
                  t->ctx->why);
    ctx_free(&later->ctx);
    free(later);
}

/* A flush answers for what nobody waited for. The lock is held. */
static void answer_for_lost(struct writer *w, struct task *t)
{
    if (t->nobody_waits && t->result != OK)
        (void)!fail(&w->lost, t->result, "%s", t->ctx->why);
    if (t->kind != TASK_FLUSH || t->result != OK || w->lost.failed == OK)
        return;
    t->result = fail(t->ctx, w->lost.failed, "%s", w->lost.why);
    ctx_clear_failure(&w->lost);
}

/* Counts the group and wakes who waits. A task that is waited for is gone once it is done. */
static void finish(struct writer *w, struct task *first, enum status result)
{
    struct task *laters = NULL, *next;
    bool wrote = false;
    pthread_mutex_lock(&w->lock);
    w->result = result;
    w->commits += result == OK;
    for (struct task *t = first; t; t = next) {
        next = t->next;
        answer_for_lost(w, t);
        w->queued--;
        w->writes += t->result == OK;
        wrote |= t->result == OK && t->kind != TASK_FLUSH && t->kind != TASK_TOUCH;
        w->touches -= t->kind == TASK_TOUCH;
        w->failures += t->result == STORAGE;
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

/* What is written together; its words take many times the room of its text, so it is bounded. The
 * lock is held. */
static struct task *take_group(struct writer *w)
{
    struct task *first = w->first, *last = first;
    size_t bytes = first->bytes;
    while (last->next && !is_alone(last) && !is_alone(last->next) &&
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

static struct timespec in_ms(int64_t ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += ms % 1000 * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

/* Touches alone wait for others, so that a write seldom finds the disk busy with them. The lock is
 * held. */
static void wait_for_some(struct writer *w)
{
    while (!w->first && !w->is_ending)
        pthread_cond_wait(&w->some, &w->lock);
    struct timespec until = in_ms(TOUCH_MS);
    int rc = 0;
    while (rc != ETIMEDOUT && w->queued == w->touches && w->touches < QUEUE_MAX / 2 &&
           !w->is_ending)
        rc = pthread_cond_timedwait(&w->some, &w->lock, &until);
}

static void *write_groups(void *arg)
{
    struct writer *w = arg;
    struct ctx ctx = {0};
    pthread_mutex_lock(&w->lock);
    for (;;) {
        wait_for_some(w);
        if (!w->first)
            break;
        struct task *group = take_group(w);
        pthread_mutex_unlock(&w->lock);
        enum status result = run_group(w, &ctx, group);
        if (result == OK)
            empty_log(w, group);
        else
            fail_all(group, &ctx);
        finish(w, group, result);
        ctx_clear_failure(&ctx);
        arena_reset(&ctx.arena);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    ctx_free(&ctx);
    return NULL;
}

/* --- the queue --- */

/* The lock is held. */
static void enqueue(struct writer *w, struct task *t)
{
    t->next = NULL;
    *w->last = t;
    w->last = &t->next;
    w->queued++;
    pthread_cond_signal(&w->some);
}

enum status writer_run(struct writer *w, struct task *t)
{
    pthread_mutex_lock(&w->lock);
    enqueue(w, t);
    while (!t->is_done)
        pthread_cond_wait(&w->done, &w->lock);
    pthread_mutex_unlock(&w->lock);
    return t->result;
}

enum status writer_call(struct ctx *ctx, struct writer *w,
                        enum status (*call)(struct ctx *ctx, struct db *db, const void *what),
                        const void *what)
{
    struct task t = {.kind = TASK_CALL, .ctx = ctx, .call = call, .what = what};
    return writer_run(w, &t);
}

static enum status make_room(struct ctx *ctx, struct writer *w, size_t bytes)
{
    pthread_mutex_lock(&w->lock);
    bool is_full = w->n_later == QUEUE_MAX || w->later_bytes + bytes > QUEUE_BYTES_MAX;
    if (!is_full) {
        w->n_later++;
        w->later_bytes += bytes;
    }
    pthread_mutex_unlock(&w->lock);
    return is_full ? fail(ctx, TOO_BUSY, "too much waits to be written") : OK;
}

enum status writer_later(struct ctx *ctx, struct writer *w, const struct bundle *b)
{
    size_t bytes = bundle_bytes(b);
    if (bytes > QUEUE_BYTES_MAX)
        return fail(ctx, TOO_LARGE, "a bundle is over %d bytes", QUEUE_BYTES_MAX);
    TRY(make_room(ctx, w, bytes));
    struct later *later = heap_alloc(sizeof *later);
    later->task = (struct task){.kind = TASK_BUNDLE,
                                .ctx = &later->ctx,
                                .bundle = bundle_copy(&later->ctx.arena, b),
                                .bytes = bytes,
                                .nobody_waits = true};
    pthread_mutex_lock(&w->lock);
    enqueue(w, &later->task);
    pthread_mutex_unlock(&w->lock);
    return OK;
}

/* A call that may wait a little; what it works on lives in the task's own memory. */
static void touch_later(struct writer *w, struct later *later, size_t bytes,
                        enum status (*call)(struct ctx *ctx, struct db *db, const void *what),
                        const void *own)
{
    later->task = (struct task){.kind = TASK_TOUCH,
                                .ctx = &later->ctx,
                                .call = call,
                                .what = own,
                                .bytes = bytes,
                                .nobody_waits = true};
    pthread_mutex_lock(&w->lock);
    w->touches++;
    enqueue(w, &later->task);
    pthread_mutex_unlock(&w->lock);
}

enum status writer_touch(struct ctx *ctx, struct writer *w, const struct touch *touch)
{
    size_t bytes = sizeof *touch + touch->n * sizeof *touch->docs;
    TRY(make_room(ctx, w, bytes));
    struct later *later = heap_alloc(sizeof *later);
    struct arena *a = &later->ctx.arena;
    struct touch *own = NEW(a, struct touch);
    doc_id *docs = NEW_N(a, doc_id, touch->n);
    memcpy(docs, touch->docs, touch->n * sizeof *docs);
    *own = (struct touch){.docs = docs, .n = touch->n, .now = touch->now};
    own->pool = (struct pool_ref){str_dup(a, touch->pool.user), str_dup(a, touch->pool.space)};
    touch_later(w, later, bytes, memories_touch, own);
    return OK;
}

enum status writer_token_use(struct ctx *ctx, struct writer *w, const struct token_use *use)
{
    size_t bytes = sizeof *use + use->id.n;
    TRY(make_room(ctx, w, bytes));
    struct later *later = heap_alloc(sizeof *later);
    struct token_use *own = NEW(&later->ctx.arena, struct token_use);
    *own = (struct token_use){str_dup(&later->ctx.arena, use->id), use->at};
    touch_later(w, later, bytes, token_use, own);
    return OK;
}

static enum status nothing(struct ctx *ctx, struct db *db, const void *what)
{
    (void)ctx, (void)db, (void)what;
    return OK;
}

/* What comes last is written last. */
enum status writer_settle(struct ctx *ctx, struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    bool some_wait = (int64_t)w->n_later > w->touches;
    pthread_mutex_unlock(&w->lock);
    return some_wait ? writer_call(ctx, w, nothing, NULL) : OK;
}

struct writer_state writer_state(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    struct writer_state out = {w->queued, w->writes, w->commits, w->failures, w->result};
    pthread_mutex_unlock(&w->lock);
    return out;
}

/* --- those who wait for something to be written --- */

uint64_t writer_wait(struct writer *w, uint64_t seen, int64_t ms)
{
    struct timespec until = in_ms(ms);
    int rc = 0;
    pthread_mutex_lock(&w->lock);
    while (w->groups == seen && !w->is_woken && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&w->written, &w->lock, &until);
    uint64_t now = w->groups;
    pthread_mutex_unlock(&w->lock);
    return now;
}

void writer_wake(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    w->is_woken = true;
    pthread_cond_broadcast(&w->written);
    pthread_mutex_unlock(&w->lock);
}

/* --- opening and closing --- */

static void make_locks(struct writer *w)
{
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->some, &steady);
    pthread_cond_init(&w->done, NULL);
    pthread_cond_init(&w->written, &steady);
    pthread_condattr_destroy(&steady);
}

static void end_locks(struct writer *w)
{
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->some);
    pthread_cond_destroy(&w->done);
    pthread_cond_destroy(&w->written);
}

static enum status prepare(struct ctx *ctx, struct db *db)
{
    TRY(words_setup(ctx, db));
    TRY(db_exec(ctx, db, erased_table));
    TRY(db_prepare(ctx, db, WRITES));
    TRY(claims_free(ctx, db));
    return words_renew(ctx, db);
}

enum status writer_open(struct ctx *ctx, const char *path, const uint8_t *key,
                        const struct hold *hold, struct writer **out)
{
    struct writer *w = heap_alloc(sizeof *w);
    enum status status = db_open(ctx, path, key, &w->db);
    w->db.hold = hold;
    if (status == OK)
        status = prepare(ctx, &w->db);
    make_locks(w);
    w->last = &w->first;
    w->groups = 1;
    if (status == OK && pthread_create(&w->thread, NULL, write_groups, w) != 0)
        status = fail(ctx, STORAGE, "cannot start a thread");
    if (status != OK) {
        words_end(&w->db);
        db_close(&w->db);
        end_locks(w);
        free(w);
        return status;
    }
    *out = w;
    return OK;
}

void writer_close(struct writer *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->is_ending = true;
    pthread_cond_signal(&w->some);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    words_end(&w->db);
    db_close(&w->db);
    end_locks(w);
    free(w);
}
