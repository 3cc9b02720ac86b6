/* background.h - threads for background work: vectors, Qdrant, distilling, pruning. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "app/instance.h"

enum { WORKERS_MAX = 24 };

struct background {
    struct instance *instance;
    atomic_bool is_ending;
    pthread_mutex_t lock;
    pthread_cond_t ending;
    struct worker {
        struct background *all;
        const struct job *job;
        int64_t complained_us; /* when its last failure was logged */
        pthread_t thread;
    } workers[WORKERS_MAX];
    size_t n;
};

/* Starts one or more threads for each job. The struct must not move until background_end. */
void background_begin(struct background *b, struct instance *instance);
/* Cuts running jobs short and joins the threads. Harmless when nothing was started. */
void background_end(struct background *b);
