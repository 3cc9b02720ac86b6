/* workers.h - a bounded pool of worker threads, and locks that are held to the end of a scope. */
#pragma once

#include <pthread.h>
#include <stddef.h>

#include "base/status.h"

/* Takes a lock and gives it back where the scope ends, whatever way leads out of it. */
#define HOLD(LOCK)                                                                                 \
    CLEANUP(lock_leave) UNUSED pthread_mutex_t *held_ = (pthread_mutex_lock(LOCK), (LOCK))
static inline void lock_leave(pthread_mutex_t **lock)
{
    pthread_mutex_unlock(*lock);
}

struct pool;

/* threads workers and room for queue waiting jobs. Ends the process when threads cannot be made. */
struct pool *pool_new(size_t threads, size_t queue);

/* Runs fn(arg) on a worker; TOO_BUSY at once when the queue is full, and fn is then not called. */
MUST_USE enum status pool_run(struct pool *p, void (*fn)(void *arg), void *arg);

/* Runs what is queued, then ends the threads. NULL is fine. */
void pool_free(struct pool *p);
