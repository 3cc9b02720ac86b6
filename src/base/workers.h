/* workers.h - a bounded pool of worker threads. */
#pragma once

#include <stddef.h>

#include "base/status.h"

struct pool;

/* threads workers and room for queue waiting jobs. Ends the process when threads cannot be made. */
struct pool *pool_new(size_t threads, size_t queue);

/* Runs fn(arg) on a worker; TOO_BUSY at once when the queue is full, and fn is then not called. */
MUST_USE enum status pool_run(struct pool *p, void (*fn)(void *arg), void *arg);

/* Runs what is queued, then ends the threads. NULL is fine. */
void pool_free(struct pool *p);
