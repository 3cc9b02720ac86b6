/* background.h - threads for what nobody waits for: vectors, the mirror, consolidation, pruning. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "app/home.h"

enum { WORKERS_MAX = 24 };

struct background {
    struct home *home;
    atomic_bool is_ending;
    struct worker {
        struct background *all;
        const struct job *job;
        pthread_t thread;
    } workers[WORKERS_MAX];
    size_t n;
};

/* A thread for each job, or several. The background stays where it is until its end. */
void background_begin(struct background *b, struct home *home);
/* What is under way is cut short. Harmless on one that never began. */
void background_end(struct background *b);
