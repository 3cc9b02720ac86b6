/* lifecycle.c - a server from its start to a stop that finishes what runs. */
#include <sys/resource.h>
#include <unistd.h>

#include <sodium.h>

#include "base/clock.h"
#include "base/log.h"
#include "http/curl/libcurl.h"
#include "http/server/attempts.h"
#include "http/server/loop.h"

/*
 * The loops share nothing but this struct. The first one owns the listening socket and hands new
 * clients out in turn, so next_loop needs no lock. Handlers that may block run on the workers.
 *
 * BODIES_AT_ONCE times body_max is the default of bodies_max. OWED_ROOM is room in the workers'
 * queue beyond queue_max, for done calls. FILES_BESIDE is for the database, logs and libraries,
 * besides two descriptors for each connection; of few, three quarters.
 */
enum { BODIES_AT_ONCE = 32, OWED_ROOM = 1024, FILES_BESIDE = 512 };

static size_t or_cores(size_t n)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return n ? n : cores > 0 ? (size_t)cores : 1;
}

/* A relay takes two descriptors, and the usual soft limit of 1024 is far below connections_max.
 * Where no more can be had, there are fewer connections, so that idle ones leave descriptors for
 * the database and the upstreams. */
static void allow_files(size_t *connections)
{
    struct rlimit limit;
    rlim_t wanted = 2 * (rlim_t)*connections + FILES_BESIDE;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    rlim_t most = limit.rlim_cur / 4 * 3;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == wanted)
        return;
    *connections = (limit.rlim_cur - (most < FILES_BESIDE ? most : FILES_BESIDE)) / 2;
    log_event(LOG_WARN, "http.few_files", "limit=%llu connections=%zu",
              (unsigned long long)limit.rlim_cur, *connections);
}

/* On a worker, while the first clients may come: a call to the upstream before this has ended waits
 * for it. Without libcurl each of those calls says what to install; here it is logged once. */
static void load_libcurl(UNUSED void *arg)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    if (libcurl_open(&ctx) != OK)
        log_event(LOG_WARN, "http.no_libcurl", "why=\"%s\"", ctx.why);
}

enum status server_listen(struct ctx *ctx, const struct server_settings *settings,
                          struct server **out)
{
    struct server *s = heap_alloc(sizeof *s);
    s->settings = *settings;
    if (!settings->bodies_max)
        s->settings.bodies_max = settings->body_max * BODIES_AT_ONCE;
    enum status bound = listener_open(ctx, settings->listen, settings->socket_mode, &s->listener);
    if (bound != OK) {
        free(s);
        return bound;
    }
    *out = s;
    return OK;
}

void server_start(struct server *s, const struct surface *const *surfaces, struct app *app)
{
    const struct server_settings *settings = &s->settings;
    assert(!s->loops);
    s->app = app;
    allow_files(&s->settings.connections_max);
    pthread_mutex_init(&s->lock, NULL);
    steady_cond_init(&s->changed);
    s->router = router_new(surfaces);
    s->meters = meters_new();
    s->attempts = attempts_new(settings->limits.wrong_credentials);
    s->workers = pool_new(or_cores(settings->workers), settings->queue_max + OWED_ROOM);
    s->n_loops = or_cores(settings->loops);
    s->loops = heap_alloc(s->n_loops * sizeof *s->loops);
    for (size_t i = 0; i < s->n_loops; i++) {
        s->loops[i].id_base = randombytes_random();
        loop_open(&s->loops[i], s);
    }
    for (size_t i = 0; i < s->n_loops; i++)
        loop_start(&s->loops[i]);
    /* When the queue is full already, requests are there to load it. */
    if (settings->has_upstream)
        (void)!pool_run(s->workers, load_libcurl, NULL);
}

/*
 * --- stopping ---
 *
 * DRAINING: each answer ends its connection. STOPPING: no new connections, idle ones close,
 * requests finish. CUTTING: the rest is closed. ENDING: the loops leave. The workers end between
 * the last two, since their jobs still post to the loops.
 */

/* Waits until every loop has acted on the phase and, with a deadline, until nothing runs. Each loop
 * answers by counting itself in seen. Exchanges without a connection count too: their done calls
 * keep turns. */
static void enter_phase(struct server *s, enum server_phase phase, int64_t deadline_ms)
{
    struct timespec until = steady_in_ms(deadline_ms);
    assert((int)phase > atomic_load(&s->phase));
    atomic_store(&s->seen, 0);
    atomic_store(&s->phase, phase);
    for (size_t i = 0; i < s->n_loops; i++)
        loop_wake(&s->loops[i]);
    pthread_mutex_lock(&s->lock);
    while (atomic_load(&s->seen) < s->n_loops)
        pthread_cond_wait(&s->changed, &s->lock);
    int late = 0;
    while (deadline_ms && !late &&
           (atomic_load(&s->active) || atomic_load(&s->connections) || atomic_load(&s->refused)))
        late = pthread_cond_timedwait(&s->changed, &s->lock, &until);
    pthread_mutex_unlock(&s->lock);
}

void server_drain(struct server *s, int64_t ms)
{
    if (!ms)
        return;
    enter_phase(s, DRAINING, 0);
    uv_sleep((unsigned)ms);
}

/* From one thread that is neither a loop nor a worker: both phases wait for the loops. Calling it
 * again does nothing. */
size_t server_stop(struct server *s, int64_t deadline_ms)
{
    if (atomic_load(&s->phase) >= CUTTING)
        return 0;
    enter_phase(s, STOPPING, deadline_ms);
    enter_phase(s, CUTTING, 0);
    return atomic_load(&s->cut);
}

/* The loops must still run while the workers finish, since a job that ends posts its exchange to
 * its loop; and they must have ended before the router that their handlers read is freed. */
void server_close(struct server *s)
{
    if (!s)
        return;
    if (s->loops) {
        server_stop(s, 0);
        pool_free(s->workers);
        enter_phase(s, ENDING, 0);
        for (size_t i = 0; i < s->n_loops; i++)
            loop_close(&s->loops[i]);
        router_free(&s->router);
        meters_free(s->meters);
        attempts_free(s->attempts);
        pthread_mutex_destroy(&s->lock);
        pthread_cond_destroy(&s->changed);
        free(s->loops);
    } else { /* it has not started */
        listener_close(&s->listener);
    }
    free(s);
}
