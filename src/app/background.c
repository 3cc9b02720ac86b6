/* background.c - one loop for every job: work until nothing is left, then wait for a write. */
#include "app/background.h"

#include <errno.h>
#include <malloc.h>
#include <sys/resource.h>

#include "app/backup/auto_backup.h"
#include "base/clock.h"
#include "base/workers.h"
#include "store/store.h"

/* Writes of other processes give no signal, so each job also looks every LOOK_MS. What is written
 * within GATHER_MS is one look: a server that stores a thousand turns a second would otherwise
 * spend a part of its time on waking threads. */
enum { LOOK_MS = 2000, GATHER_MS = 20, NICE = 10, COMPLAIN_MS = 60000 };

struct job {
    const char *name;
    /* One of the two: all that is due, or a part of the work; *more: call again at once. */
    enum status (*run)(struct ctx *ctx, struct instance *instance);
    enum status (*some)(struct ctx *ctx, struct engine *e, bool *more);
    int64_t first_s, every_s;  /* first run and interval; both 0: after each write */
    const struct field *needs; /* a text of the settings, without which it is not used; or NULL */
    bool (*is_used)(struct engine *e); /* the same, by settings that may change; or NULL */
    bool is_heavy;                     /* runs at a lower priority than requests */
    bool is_parallel;                  /* in core_parallel threads */
    bool is_late;                      /* only after a start without the disk */
};

/* A reranking model that cannot be loaded is no reason to make no vectors. Its failure is logged
 * where it is kept. */
static enum status embed_some(struct ctx *ctx, struct engine *e, bool *more)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    if (engine_load_reranker(&own, e) != OK)
        log_event(LOG_DEBUG, "reranker.missing", "why=\"%s\"", own.why);
    return engine_embed_some(ctx, e, more);
}

/* Receipts and expired memories pile up slowly: this runs by the clock, not after each write. */
static enum status prune_old(struct ctx *ctx, struct instance *instance)
{
    int64_t now = clock_ms(), removed = 0;
    TRY(engine_prune(ctx, instance->engine, now - instance->settings.receipt_days * DAY_MS, now,
                     &removed));
    if (removed)
        log_event(LOG_INFO, "prune.done", "removed=%lld", (long long)removed);
    return OK;
}

/* What can be undone no more must not stay on the disk. */
static enum status end_undo(struct ctx *ctx, struct instance *instance)
{
    return engine_undo_prune(ctx, instance->engine);
}

/* After chats of 30 MB malloc keeps some hundred MB of freed pages. What usual chats free stays, as
 * new pages cost a chat a sixth of its time. */
static enum status trim_memory(UNUSED struct ctx *ctx, UNUSED struct instance *instance)
{
    enum { USUAL = 64 << 20 };
    if (mallinfo2().fordblks > USUAL)
        malloc_trim(USUAL / 4);
    return OK;
}

#define NEEDS(NAME) .needs = &settings_table[SETTING_##NAME]

/* settle reads what could not be read at start, spool keeps what was said while PostgreSQL was
 * away. embed loads local models and makes vectors, mirror copies them to Qdrant, distil turns
 * finished conversations into facts and episodes, prune deletes receipts and expired memories, both
 * kinds of backup copy the database, trim gives freed memory back, consolidate tidies. */
static const struct job jobs[] = {
    {"settle", instance_settle, .first_s = 1, .every_s = 2, .is_late = true},
    {"spool", .some = engine_keep_late, .every_s = 1, NEEDS(store)},
    {"embed", .some = embed_some, .is_heavy = true},
    {"mirror", .some = engine_mirror_some, .is_used = engine_mirrors},
    {"distil", .some = engine_distil_some, NEEDS(core_model), .is_heavy = true,
     .is_parallel = true},
    {"prune", prune_old, .first_s = 60, .every_s = 3600},
    {"undo", end_undo, .first_s = 1, .every_s = 10},
    {"backup", backup_when_due, .first_s = 5, .every_s = 60, NEEDS(backup_dir), .is_heavy = true},
    {"backup_s3", backup_remote_when_due, .first_s = 5, .every_s = 5, NEEDS(backup_s3),
     .is_heavy = true},
    {"trim", trim_memory, .first_s = 10, .every_s = 10},
    /* The store keeps the time of the last consolidation; this only checks whether one is due. */
    {"consolidate", .some = engine_consolidate_some, .first_s = 30, .every_s = 60,
     .is_heavy = true},
};

/* A disk that fails for hours must not fill the log. */
static bool may_complain(struct worker *w)
{
    int64_t now = clock_mono_us();
    if (w->complained_us && now - w->complained_us < (int64_t)COMPLAIN_MS * 1000)
        return false;
    w->complained_us = now;
    return true;
}

/* One step with a fresh ctx, whose memory is freed: jobs run for months. A failure is logged and
 * waits for the next write or tick, so that a broken source does not spin. */
static bool run_job(struct worker *w)
{
    CLEANUP(ctx_free) struct ctx ctx = {.is_cut = &w->all->is_ending};
    const struct job *job = w->job;
    struct instance *instance = w->all->instance;
    bool more = false;
    snprintf(ctx.id, sizeof ctx.id, "%s", job->name);
    enum status s = job->some ? job->some(&ctx, instance->engine, &more) : job->run(&ctx, instance);
    if (s == OK)
        return more;
    if (!w->all->is_ending && may_complain(w))
        log_event(LOG_WARN, "background.failed", "job=%s why=\"%s\"", job->name, ctx.why);
    return false;
}

/* Waits so long, or until the end. */
static void rest_for(struct background *b, int64_t ms)
{
    struct timespec until = steady_in_ms(ms);
    int rc = 0;
    HOLD(&b->lock);
    while (!b->is_ending && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&b->ending, &b->lock, &until);
}

static bool is_used(const struct worker *w)
{
    const struct job *job = w->job;
    const struct instance *instance = w->all->instance;
    if (job->needs)
        return ((const str *)((const char *)&instance->settings + job->needs->at))->n > 0;
    return !job->is_used || job->is_used(instance->engine);
}

/* A job by the clock is not woken by writes. One that the settings do not use only looks whether
 * they have changed: most servers have neither a core model nor a Qdrant, and five threads that
 * wake twice for each chat take as long as its recall. */
static uint64_t wait_for_work(struct worker *w, uint64_t seen, int64_t due)
{
    if (!is_used(w)) {
        rest_for(w->all, LOOK_MS);
        return seen;
    }
    if (w->job->every_s) {
        int64_t left = (due - clock_mono_us()) / 1000 + 1;
        rest_for(w->all, left < 1 ? 1 : left < LOOK_MS ? left : LOOK_MS);
        return seen;
    }
    uint64_t now = store_wait(w->all->instance->store, seen, LOOK_MS);
    if (now != seen)
        rest_for(w->all, GATHER_MS);
    return now;
}

/* Each job has threads of its own, so that a slow one (a model that distils) does not hold up
 * another (vectors). */
static void *work_loop(void *arg)
{
    struct worker *w = arg;
    int64_t due = clock_mono_us() + w->job->first_s * 1000000;
    uint64_t seen = 0;
    /* On Linux the priority is that of this thread and of threads that it starts. */
    if (w->job->is_heavy)
        setpriority(PRIO_PROCESS, 0, NICE);
    while (!w->all->is_ending) {
        bool is_due = is_used(w) && clock_mono_us() >= due;
        if (is_due)
            due = clock_mono_us() + w->job->every_s * 1000000;
        if (!is_due || !is_used(w) || !run_job(w))
            seen = wait_for_work(w, seen, due);
    }
    return NULL;
}

/* A missing thread costs one kind of background work, not the server: requests go on. */
static void begin_worker(struct background *b, const struct job *job)
{
    assert(b->n < WORKERS_MAX);
    struct worker *w = &b->workers[b->n];
    *w = (struct worker){.all = b, .job = job};
    if (pthread_create(&w->thread, NULL, work_loop, w) == 0)
        b->n++;
    else
        log_event(LOG_ERROR, "background.missing", "job=%s", job->name);
}

void background_begin(struct background *b, struct instance *instance)
{
    assert(!b->n);
    steady_cond_init(&b->ending);
    pthread_mutex_init(&b->lock, NULL);
    b->instance = instance;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        int64_t threads = jobs[i].is_parallel ? instance->settings.core_parallel : 1;
        if (jobs[i].is_late && (instance->is_settled || !instance->may_wait))
            continue;
        while (threads-- > 0)
            begin_worker(b, &jobs[i]);
    }
}

/* Sets the flag first, then wakes: store_wake holds for later waits, so no worker misses it. */
void background_end(struct background *b)
{
    if (!b->n)
        return;
    pthread_mutex_lock(&b->lock);
    b->is_ending = true;
    pthread_cond_broadcast(&b->ending);
    pthread_mutex_unlock(&b->lock);
    store_wake(b->instance->store);
    while (b->n)
        pthread_join(b->workers[--b->n].thread, NULL);
    pthread_cond_destroy(&b->ending);
    pthread_mutex_destroy(&b->lock);
}
