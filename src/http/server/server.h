/* server.h - the server as its loops see it: settings, routes, workers, and the phase of a stop. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/workers.h"
#include "http/server/listener.h"
#include "http/wire/meter.h"
#include "http/wire/route.h"

enum server_phase { SERVING, DRAINING, STOPPING, CUTTING, ENDING };

struct server {
    struct server_settings settings;
    struct router router;
    struct app *app;
    struct pool *workers;
    struct meters *meters;
    struct attempts *attempts;
    struct allowance of_nobody[2]; /* without a credential: of other machines, and of this one */
    struct listener listener;
    struct loop *loops;
    size_t n_loops, next_loop;
    _Atomic size_t connections, refused, active, queued, cut, bodies;
    atomic_bool is_turning; /* a loop takes requests sent ahead */
    _Atomic int phase;
    _Atomic size_t seen; /* loops that acted on the phase */
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

/* Something server_stop may wait for has happened. */
void server_changed(struct server *s);
/* Whether all places are taken. */
bool server_is_full(const struct server *s);
