/* clock.c - wall time, monotonic time. */
#include "base/clock.h"

#include <stdatomic.h>

/* Wall time dates what is stored and may jump; it may not be compared with monotonic time. */

/* 0 is the real clock. Relaxed loads are enough, as no other data depends on it. */
static _Atomic int64_t pretended;

static int64_t read_us(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t clock_ms(void)
{
    int64_t p = atomic_load_explicit(&pretended, memory_order_relaxed);
    return p ? p : read_us(CLOCK_REALTIME) / 1000;
}

int64_t clock_mono_us(void)
{
    return read_us(CLOCK_MONOTONIC);
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
    return read_us(CLOCK_THREAD_CPUTIME_ID);
}

void clock_pretend(int64_t ms)
{
    atomic_store(&pretended, ms);
}
