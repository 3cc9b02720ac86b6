/* core.c - the choice of the core model, and the hourly token budget of background work. */
#include "base/clock.h"

#include "llm/llm.h"

/*
 * The budget is a sliding window: tokens are added to the slot of the current five minutes, and the
 * sum of the last twelve slots is what an hour has cost (55 to 60 minutes, as the newest slot is
 * not over). A slot whose period has passed is reused when its turn comes again, so nothing needs a
 * timer. Any thread may call; there is no lock.
 */

/* The bare word core_model_unset is a code that status fields pass on. */
enum status llm_core(struct ctx *ctx, const struct settings *settings, const struct upstream **up,
                     str *model)
{
    str name = settings->core_model;
    if (!name.n)
        return fail(ctx, UNSUPPORTED, "core_model_unset");
    const struct upstream *found = settings_upstream(settings, &name);
    if (!found)
        return fail(ctx, UNSUPPORTED, "no upstream serves the core model '" S_FMT "'", S_ARG(name));
    *up = found;
    *model = name;
    return OK;
}

/* A slot holds the number of its five-minute period in the upper bits and the tokens of the period
 * in the lower bits, so that one atomic exchange both resets and adds. 40 bits hold a trillion
 * tokens for each period; the other 24 count periods since 1970, enough until 2129. */
enum { PERIOD_MS = 300000, TOKEN_BITS = 40 };
#define TOKENS_MAX (((uint64_t)1 << TOKEN_BITS) - 1)

static uint64_t period_now(void)
{
    int64_t now = clock_ms();
    return now > 0 ? (uint64_t)now / PERIOD_MS : 0;
}

/* Relaxed order is enough: a budget may be a request off, and no other data hangs on it. */
int64_t llm_meter_spent(const struct llm_meter *meter)
{
    uint64_t now = period_now(), sum = 0;
    for (size_t i = 0; i < METER_SLOTS; i++) {
        uint64_t slot = atomic_load_explicit(&meter->slots[i], memory_order_relaxed);
        uint64_t period = slot >> TOKEN_BITS;
        if (period <= now && now - period < METER_SLOTS)
            sum += slot & TOKENS_MAX;
    }
    return (int64_t)sum;
}

void llm_meter_add(struct llm_meter *meter, int64_t tokens)
{
    uint64_t now = period_now(), more = tokens > 0 ? (uint64_t)tokens : 0;
    atomic_uint_least64_t *slot = &meter->slots[now % METER_SLOTS];
    uint64_t old = atomic_load_explicit(slot, memory_order_relaxed), sum;
    do {
        sum = (old >> TOKEN_BITS == now ? old & TOKENS_MAX : 0) + more;
        sum = sum < TOKENS_MAX && more < TOKENS_MAX ? sum : TOKENS_MAX;
        assert(sum <= TOKENS_MAX);
    } while (!atomic_compare_exchange_weak_explicit(slot, &old, now << TOKEN_BITS | sum,
                                                    memory_order_relaxed, memory_order_relaxed));
}

/* A check, not a reservation: calls that run at the same time may together exceed the budget by
 * what each of them spends. */
bool llm_meter_may(const struct llm_meter *meter, int64_t per_hour, int64_t about)
{
    int64_t spent = llm_meter_spent(meter);
    return per_hour <= 0 || spent == 0 || about <= per_hour - spent;
}
