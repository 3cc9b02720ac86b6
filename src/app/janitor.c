/* janitor.c - waits, prunes, waits. */
#include "app/janitor.h"

#include <time.h>

#include "base/clock.h"
#include "base/log.h"

enum { FIRST_S = 60, AGAIN_S = 3600 };

static void prune(struct janitor *j)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    int64_t now = clock_ms(), removed = 0;
    int64_t receipts_before = now - j->settings->receipt_days * 86400000;
    if (store_prune(&ctx, j->store, receipts_before, now, &removed) != OK)
        log_event(LOG_WARN, "prune.failed", "why=\"%s\"", ctx.why);
    else if (removed)
        log_event(LOG_INFO, "prune.done", "removed=%lld", (long long)removed);
}

static void *work(void *arg)
{
    struct janitor *j = arg;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += FIRST_S;
    pthread_mutex_lock(&j->lock);
    while (!j->ending) {
        if (pthread_cond_timedwait(&j->wake, &j->lock, &until) == 0)
            continue;
        pthread_mutex_unlock(&j->lock);
        prune(j);
        pthread_mutex_lock(&j->lock);
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += AGAIN_S;
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

void janitor_begin(struct janitor *j, struct store *store, const struct settings *settings)
{
    pthread_condattr_t attributes;
    *j = (struct janitor){.store = store, .settings = settings};
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    j->is_running = pthread_create(&j->thread, NULL, work, j) == 0;
}

void janitor_end(struct janitor *j)
{
    if (!j->is_running)
        return;
    pthread_mutex_lock(&j->lock);
    j->ending = true;
    pthread_cond_signal(&j->wake);
    pthread_mutex_unlock(&j->lock);
    pthread_join(j->thread, NULL);
    pthread_mutex_destroy(&j->lock);
    pthread_cond_destroy(&j->wake);
    j->is_running = false;
}
