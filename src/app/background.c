/* background.c - one loop for every job: work until there is no more, then wait for a write. */
#include "app/background.h"

#include <assert.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/log.h"

/* What another process writes is not told, so everything is looked at now and then. */
enum { LOOK_MS = 2000, NICE = 10 };

struct job {
    const char *name;
    enum status (*run)(struct ctx *ctx, struct home *home, bool *more);
    int64_t first_s, every_s; /* by the clock; both 0: whenever something was written */
    bool is_heavy;            /* gives way to those that someone waits for */
    bool is_parallel;         /* by as many threads as core_parallel says */
};

static enum status embed(struct ctx *ctx, struct home *home, bool *more)
{
    return engine_embed_some(ctx, home->engine, more);
}

static enum status mirror(struct ctx *ctx, struct home *home, bool *more)
{
    return engine_mirror_some(ctx, home->engine, more);
}

static enum status distil(struct ctx *ctx, struct home *home, bool *more)
{
    return engine_distil_some(ctx, home->engine, more);
}

static enum status prune(struct ctx *ctx, struct home *home, bool *more)
{
    int64_t now = clock_ms(), removed = 0;
    *more = false;
    TRY(store_prune(ctx, home->store, now - home->settings.receipt_days * 86400000, now, &removed));
    if (removed)
        log_event(LOG_INFO, "prune.done", "removed=%lld", (long long)removed);
    return OK;
}

static enum status consolidate(struct ctx *ctx, struct home *home, bool *more)
{
    return engine_consolidate_some(ctx, home->engine, more);
}

static const struct job jobs[] = {
    {"embed", embed, .is_heavy = true},
    {"mirror", mirror},
    {"distil", distil, .is_heavy = true, .is_parallel = true},
    {"prune", prune, .first_s = 60, .every_s = 3600},
    /* The store remembers when it was done last; this only asks. */
    {"consolidate", consolidate, .first_s = 30, .every_s = 60, .is_heavy = true},
};
#define JOBS (sizeof jobs / sizeof *jobs)

static bool run(struct worker *w)
{
    CLEANUP(ctx_free) struct ctx ctx = {.is_cut = &w->all->is_ending};
    bool more = false;
    if (w->job->run(&ctx, w->all->home, &more) == OK)
        return more;
    if (!w->all->is_ending)
        log_event(LOG_WARN, "background.failed", "job=%s why=\"%s\"", w->job->name, ctx.why);
    return false;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    int64_t due = clock_mono_us() + w->job->first_s * 1000000;
    uint64_t seen = 0;
    /* On Linux of this thread alone, and of those that a model starts in it. */
    if (w->job->is_heavy)
        setpriority(PRIO_PROCESS, 0, NICE);
    while (!w->all->is_ending) {
        bool is_due = clock_mono_us() >= due;
        if (is_due)
            due = clock_mono_us() + w->job->every_s * 1000000;
        if (!is_due || !run(w))
            seen = store_wait(w->all->home->store, seen, LOOK_MS);
    }
    return NULL;
}

static void begin(struct background *b, const struct job *job)
{
    assert(b->n < WORKERS_MAX);
    struct worker *w = &b->workers[b->n];
    *w = (struct worker){.all = b, .job = job};
    if (pthread_create(&w->thread, NULL, work, w) == 0)
        b->n++;
    else
        log_event(LOG_ERROR, "background.missing", "job=%s", job->name);
}

void background_begin(struct background *b, struct home *home)
{
    b->home = home;
    for (size_t i = 0; i < JOBS; i++) {
        int64_t threads = jobs[i].is_parallel ? home->settings.core_parallel : 1;
        while (threads-- > 0)
            begin(b, &jobs[i]);
    }
}

void background_end(struct background *b)
{
    if (!b->n)
        return;
    b->is_ending = true;
    store_wake(b->home->store);
    while (b->n)
        pthread_join(b->workers[--b->n].thread, NULL);
}
