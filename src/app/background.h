/* background.h - threads for what nobody waits for: vectors, the mirror, consolidation, pruning. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "app/home.h"

enum { JOBS_MAX = 8 };

struct background {
    struct home *home;
    atomic_bool is_ending;
    struct worker {
        struct background *all;
        const struct job *job;
        pthread_t thread;
    } workers[JOBS_MAX];
    size_t n;
};

/* One thread for each job. The background stays where it is until its end. */
void background_begin(struct background *b, struct home *home);
/* What is under way is cut short. Harmless on one that never began. */
void background_end(struct background *b);
