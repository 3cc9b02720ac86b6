/* registry.c - jobs in a list and in threads: begun, watched, cancelled, remembered. */
#include "engine/jobs/registry.h"

#include <sys/resource.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/workers.h"
#include "engine/events/feed.h"

/*
 * A job belongs to its process: what it did is in the store, and asking for it again goes on where
 * the last one stopped. So a restart forgets the list, and loses no work.
 *
 * The lock is of the list and of every entry's job; a job's own thread takes it to report, so
 * nothing is called with it.
 */

enum {
    NICE = 10,
    TELL_MS = 250, /* between two events about the progress of one job */
    RESULT_MAX = 256 << 10
};

const char *const job_kinds[] = {"reindex", "consolidate", "compact",       "distil",
                                 "prune",   "backup",      "verify_backup", NULL};
const char *const job_states[] = {"queued", "running", "done", "failed", "cancelled", NULL};

bool job_is_servers(enum job_kind kind)
{
    return kind == JOB_REINDEX || kind >= JOB_PRUNE;
}

struct entry {
    struct registry *registry;
    struct job_info job;
    struct ctx own; /* the texts of job */
    job_work *work;
    atomic_bool is_cut;
    int64_t told_us;
    struct entry *older;
};

struct registry {
    struct engine *engine;
    pthread_mutex_t lock;
    struct pool *threads; /* from the first job on */
    struct entry *newest;
    bool is_ending;
};

static bool has_ended(const struct job_info *j)
{
    return j->state >= JOB_DONE;
}

static struct job_info copy_job(struct arena *a, const struct job_info *j)
{
    struct job_info out = *j;
    STRS_DUP(a, &out.id, &out.ask.pool.user, &out.ask.pool.space, &out.ask.name, &out.result,
             &out.error);
    return out;
}

static void tell_change(struct registry *r, const struct job_info *j)
{
    const struct event v = {.kind = EVENT_JOB_CHANGED, .pool = j->ask.pool, .id = j->id};
    feed_tell(r->engine->feed, &v);
}

static void entry_free(struct entry *x)
{
    ctx_free(&x->own);
    free(x);
}

/* --- running --- */

void job_progress(struct job_run *run, int64_t done, int64_t total)
{
    struct entry *x = run->entry;
    int64_t now = clock_mono_us();
    pthread_mutex_lock(&x->registry->lock);
    bool is_news = x->job.done != done || x->job.total != total;
    x->job.done = done;
    x->job.total = total;
    pthread_mutex_unlock(&x->registry->lock);
    if (!is_news || now - x->told_us < TELL_MS * 1000)
        return;
    x->told_us = now;
    tell_change(x->registry, &x->job);
}

/* How it ended. What was cancelled may have done a part of its work, which its result tells. */
static struct job_info end_of(struct entry *x, struct job_run *run, enum status s)
{
    struct arena *a = &x->own.arena;
    struct job_info j = x->job;
    j.ended = clock_ms();
    j.state = atomic_load(&x->is_cut) ? JOB_CANCELLED : s == OK ? JOB_DONE : JOB_FAILED;
    if (run->result.n && !run->result.full)
        j.result = str_dup(a, buf_str(&run->result));
    if (j.state == JOB_FAILED)
        j.error = str_dup(a, str_of(run->ctx->why[0] ? run->ctx->why : status_name(s)));
    if (j.state == JOB_DONE && j.total)
        j.done = j.total;
    return j;
}

/* In the log of background work, where people look afterwards. Consolidation and distillation log
 * themselves; a dry run did nothing. */
static void log_end(const struct entry *x, const struct job_info *j)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    bool logs_itself = j->ask.kind == JOB_CONSOLIDATE || j->ask.kind == JOB_DISTIL;
    struct work work = {.pool = j->ask.pool,
                        .kind = str_of(job_kinds[j->ask.kind]),
                        .status = j->state == JOB_DONE        ? S("success")
                                  : j->state == JOB_CANCELLED ? S("skipped")
                                                              : S("error"),
                        .details = j->error.n ? j->error : j->result,
                        .took_ms = j->ended - j->started,
                        .created = j->started};
    log_event(LOG_INFO, "job.ended", "kind=%s state=%s ms=%lld", job_kinds[j->ask.kind],
              job_states[j->state], (long long)work.took_ms);
    if (logs_itself || j->ask.dry_run)
        return;
    if (job_is_servers(j->ask.kind))
        work.pool = (struct pool_ref){S(LOCAL_USER), S(DEFAULT_SPACE)};
    soft(&ctx, store_log_work(&ctx, x->registry->engine->store, &work));
}

/* On a thread of the pool. One that was cancelled while it was queued ends at once. */
static void run_entry(void *arg)
{
    struct entry *x = arg;
    struct registry *r = x->registry;
    CLEANUP(ctx_free) struct ctx ctx = {.is_cut = &x->is_cut};
    struct job_run run = {.ctx = &ctx, .e = r->engine, .ask = x->job.ask, .entry = x};
    run.result = buf_make(&ctx.arena, RESULT_MAX);
    snprintf(ctx.id, sizeof ctx.id, "%s", job_kinds[x->job.ask.kind]);
    setpriority(PRIO_PROCESS, 0, NICE); /* of this thread: requests go first */
    pthread_mutex_lock(&r->lock);
    x->job.state = JOB_RUNNING;
    x->job.started = clock_ms();
    pthread_mutex_unlock(&r->lock);
    tell_change(r, &x->job);
    enum status s = atomic_load(&x->is_cut) ? TIMED_OUT : x->work(&run);
    const struct job_info end = end_of(x, &run, s);
    log_end(x, &end); /* first: who sees that it has ended finds it in the log */
    const struct job_info own = copy_job(&ctx.arena, &end);
    pthread_mutex_lock(&r->lock);
    x->job = end;
    pthread_mutex_unlock(&r->lock); /* from here on the list may drop the entry */
    tell_change(r, &own);
}

/* --- the list; the lock is held --- */

static const struct entry *running_like(const struct registry *r, const struct job_ask *ask)
{
    const struct pool_ref *a = &ask->pool;
    for (const struct entry *x = r->newest; x; x = x->older) {
        const struct pool_ref *b = &x->job.ask.pool;
        if (!has_ended(&x->job) && x->job.ask.kind == ask->kind &&
            (job_is_servers(ask->kind) ||
             (str_eq(a->user, b->user) &&
              (!a->space.n || !b->space.n || str_eq(a->space, b->space)))))
            return x;
    }
    return NULL;
}

/* The oldest of those that have ended go first. */
static void drop_old(struct registry *r)
{
    size_t ended = 0;
    for (struct entry **at = &r->newest; *at;) {
        struct entry *x = *at;
        ended += has_ended(&x->job);
        if (has_ended(&x->job) && ended > JOBS_KEPT) {
            *at = x->older;
            entry_free(x);
        } else {
            at = &x->older;
        }
    }
}

static struct entry *entry_new(struct registry *r, const struct job_ask *ask, job_work *work)
{
    struct entry *x = heap_alloc(sizeof *x);
    struct arena *a = &x->own.arena;
    struct job_info job = {.id = id_random(a), .ask = *ask, .created = clock_ms()};
    if (job_is_servers(ask->kind))
        job.ask.pool = (struct pool_ref){S(""), S("")};
    x->registry = r;
    x->work = work;
    x->job = copy_job(a, &job);
    return x;
}

/* The copy is made with the lock held: the job may run already. */
enum status registry_begin(struct ctx *ctx, struct registry *r, const struct job_ask *ask,
                           job_work *work, struct job_info *out)
{
    HOLD(&r->lock);
    const struct entry *other = running_like(r, ask);
    if (other)
        return fail(ctx, CONFLICT, "a job of the kind %s is %s already: " S_FMT,
                    job_kinds[ask->kind], job_states[other->job.state], S_ARG(other->job.id));
    if (r->is_ending)
        return fail(ctx, TOO_BUSY, "the server is stopping");
    if (!r->threads)
        r->threads = pool_new(JOB_THREADS, JOBS_QUEUED_MAX);
    struct entry *x = entry_new(r, ask, work);
    if (pool_run(r->threads, run_entry, x) != OK) {
        entry_free(x);
        return fail(ctx, TOO_BUSY, "%d jobs are queued already", JOBS_QUEUED_MAX);
    }
    x->older = r->newest;
    r->newest = x;
    drop_old(r);
    *out = copy_job(&ctx->arena, &x->job);
    return OK;
}

/* --- the face --- */

void engine_jobs(struct ctx *ctx, struct engine *e, str user, bool with_servers,
                 struct job_info **out, size_t *n)
{
    size_t cap = 0;
    *out = NULL;
    *n = 0;
    HOLD(&e->jobs->lock);
    for (const struct entry *x = e->jobs->newest; x; x = x->older)
        if (job_is_servers(x->job.ask.kind) ? with_servers : str_eq(x->job.ask.pool.user, user))
            ARENA_ADD(&ctx->arena, *out, *n, cap) = copy_job(&ctx->arena, &x->job);
}

enum status engine_cancel_job(struct ctx *ctx, struct engine *e, str id, struct job_info *out)
{
    HOLD(&e->jobs->lock);
    struct entry *x = e->jobs->newest;
    while (x && !str_eq(x->job.id, id))
        x = x->older;
    if (!x)
        return NOT_FOUND;
    if (has_ended(&x->job))
        return fail(ctx, CONFLICT, "the job has ended already: it is %s", job_states[x->job.state]);
    atomic_store(&x->is_cut, true);
    *out = copy_job(&ctx->arena, &x->job);
    return OK;
}

/* --- life --- */

struct registry *registry_new(struct engine *e)
{
    struct registry *r = heap_alloc(sizeof *r);
    r->engine = e;
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

void registry_free(struct registry *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->is_ending = true;
    for (struct entry *x = r->newest; x; x = x->older)
        atomic_store(&x->is_cut, true);
    pthread_mutex_unlock(&r->lock);
    pool_free(r->threads);
    for (struct entry *x = r->newest, *older; x; x = older) {
        older = x->older;
        entry_free(x);
    }
    pthread_mutex_destroy(&r->lock);
    free(r);
}
