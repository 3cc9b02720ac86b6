/* breaker.c - two atomic numbers: until when to wait, and how long the last wait was. */
#include "engine/breaker.h"

#include "base/clock.h"

bool breaker_begin(struct breaker *b, int64_t *ticket)
{
    int64_t now = clock_mono_us(), until = b->until_us;
    *ticket = b->wait_ms;
    return !until || (now >= until &&
                      atomic_compare_exchange_strong(&b->until_us, &until, now + *ticket * 1000));
}

void breaker_end(struct breaker *b, int64_t ticket, bool is_well)
{
    int64_t wait = ticket ? 2 * ticket : BREAKER_FIRST_MS;
    if (wait > BREAKER_MOST_MS)
        wait = BREAKER_MOST_MS;
    if (is_well)
        breaker_reset(b);
    else if (atomic_compare_exchange_strong(&b->wait_ms, &ticket, wait))
        b->until_us = clock_mono_us() + wait * 1000;
}

void breaker_reset(struct breaker *b)
{
    b->until_us = 0;
    b->wait_ms = 0;
}

int64_t breaker_seconds(struct breaker *b)
{
    int64_t until = b->until_us, now = clock_mono_us();
    return !until ? 0 : until <= now ? 1 : (until - now + 999999) / 1000000;
}
