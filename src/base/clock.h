/* clock.h - the time, and a way for tests to set it. */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* Unix milliseconds. */
int64_t clock_ms(void);
#define DAY_MS ((int64_t)86400000)

/* Microseconds that only ever go forward; for durations and deadlines. */
int64_t clock_mono_us(void);

/* A condition whose timed waits end by this clock: setting the system's time does not move them. */
void steady_cond_init(pthread_cond_t *cond);
/* So long from now, for such a wait. */
struct timespec steady_in_ms(int64_t ms);

/* Microseconds of processor time that this thread has taken. */
int64_t clock_cpu_us(void);

/* From now on clock_ms answers this; 0 goes back to the real clock. For tests and imports. */
void clock_pretend(int64_t ms);
