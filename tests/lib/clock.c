/* clock.c - the fake clock of a test, and waits for other threads on the real one. */
#include "lib/clock.h"

#include <time.h>

void fake_clock_set(int64_t ms)
{
    clock_pretend(ms);
}

void fake_clock_advance(int64_t ms)
{
    clock_pretend(clock_ms() + ms);
}

void fake_clock_stop(void)
{
    clock_pretend(0);
}

int64_t fake_clock_begin(int64_t ms)
{
    fake_clock_set(ms);
    return ms;
}

void fake_clock_end(__attribute__((unused)) int64_t *ms)
{
    fake_clock_stop();
}

void pause_ms(int ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}
