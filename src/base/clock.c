/* clock.c - wall time, monotonic time. */
#include "base/clock.h"

#include <stdatomic.h>
#include <time.h>

/*
 * Wall time (ms since 1970, UTC) dates what is stored and may jump. Monotonic time (us since boot)
 * is for deadlines and durations. Neither may be compared with the other.
 */

/* A fixed wall time for tests; 0 is the real clock. Relaxed loads are enough, as no other data
 * depends on it. */
static _Atomic int64_t pretended;

int64_t clock_ms(void)
{
    int64_t p = atomic_load_explicit(&pretended, memory_order_relaxed);
    if (p)
        return p;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t clock_mono_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void steady_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &steady);
    pthread_condattr_destroy(&steady);
}

struct timespec steady_in_ms(int64_t ms)
{
    int64_t us = clock_mono_us() + ms * 1000;
    return (struct timespec){us / 1000000, us % 1000000 * 1000};
}

int64_t clock_cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void clock_pretend(int64_t ms)
{
    atomic_store(&pretended, ms);
}
