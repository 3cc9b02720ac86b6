/* meter.c - limits by address and by token: requests per second, and at one time. */
#include "http/wire/meter.h"

#include <sodium.h>

#include "base/clock.h"
#include "base/workers.h"

/*
 * A table of fixed size. A name has its place in one set of WAYS meters, by a hash that nobody
 * outside can compute. A new name takes the meter of the set that has rested longest; one that is
 * in use stays. Where all of a set are in use, the name is not counted: connections_max bounds how
 * many that can be.
 */
enum { SETS = 512, WAYS = 8, BURST_S = 5 };
/* Of an allowance: a microsecond is made up for in that many; how far ahead it may be. */
enum { CORE_PART = 2, AHEAD_US = 500000 };

struct meters {
    pthread_mutex_t lock;
    uint8_t secret[crypto_shorthash_KEYBYTES];
    struct meter v[SETS][WAYS];
};

struct meters *meters_new(void)
{
    struct meters *m = heap_alloc(sizeof *m);
    pthread_mutex_init(&m->lock, NULL);
    crypto_shorthash_keygen(m->secret);
    return m;
}

void meters_free(struct meters *m)
{
    pthread_mutex_destroy(&m->lock);
    free(m);
}

/* --- the rate --- */

/* What was taken is made up for with time; false when a burst is used up. */
static bool take_some(struct bucket *b, double per_second, double burst_s, int n, int64_t now)
{
    double made_up = (double)(now - b->at_us) / 1e6 * per_second;
    b->taken = b->taken > made_up ? b->taken - made_up : 0;
    b->at_us = now;
    if (b->taken + 1 > per_second * burst_s)
        return false;
    b->taken += n;
    return true;
}

static bool take_one(struct bucket *b, int64_t per_second, int64_t now)
{
    return take_some(b, (double)per_second, BURST_S, 1, now);
}

static enum status fail_rate(struct ctx *ctx, const struct limit *limit)
{
    return fail(ctx, TOO_BUSY, "more than %lld requests per second %s; try again in a moment",
                (long long)limit->per_second, limit->what);
}

enum status bucket_take(struct ctx *ctx, struct bucket *b, const struct limit *limit)
{
    bool is_free = !limit->per_second || take_one(b, limit->per_second, clock_mono_us());
    return is_free ? OK : fail_rate(ctx, limit);
}

/* --- the table --- */

static uint64_t hash_name(const struct meters *m, enum meter_kind kind, str name)
{
    uint8_t text[256] = {(uint8_t)kind};
    uint64_t key;
    size_t n = name.n < sizeof text - 1 ? name.n : sizeof text - 1;
    memcpy(text + 1, name.p, n);
    crypto_shorthash((uint8_t *)&key, text, n + 1, m->secret);
    return key ? key : 1;
}

/* NULL: all of the set are in use by others. */
static struct meter *find_meter(struct meters *m, uint64_t key)
{
    struct meter *set = m->v[key % SETS], *rested = NULL;
    for (struct meter *one = set; one < set + WAYS; one++) {
        if (one->key == key)
            return one;
        if (!one->active && (!rested || one->bucket.at_us < rested->bucket.at_us))
            rested = one;
    }
    if (rested)
        *rested = (struct meter){.key = key};
    return rested;
}

enum status meters_enter(struct ctx *ctx, struct meters *m, enum meter_kind kind, str name,
                         const struct limit *limit, struct meter **out)
{
    *out = NULL;
    if (!limit->per_second && !limit->at_once)
        return OK;
    int64_t now = clock_mono_us();
    uint64_t key = hash_name(m, kind, name);
    pthread_mutex_lock(&m->lock);
    struct meter *one = find_meter(m, key);
    bool is_full = one && limit->at_once && one->active >= (size_t)limit->at_once;
    bool is_fast =
        one && !is_full && limit->per_second && !take_one(&one->bucket, limit->per_second, now);
    if (one && !is_full && !is_fast) {
        one->active++;
        one->bucket.at_us = now;
        *out = one;
    }
    pthread_mutex_unlock(&m->lock);
    if (is_full)
        return fail(ctx, TOO_BUSY, "more than %lld %s at one time %s; try again in a moment",
                    (long long)limit->at_once,
                    kind == METER_CONNECTIONS ? "connections" : "requests", limit->what);
    return is_fast ? fail_rate(ctx, limit) : OK;
}

void meters_leave(struct meters *m, struct meter *one)
{
    if (!one)
        return;
    HOLD(&m->lock);
    one->active--;
}

bool meters_take(struct meters *m, enum meter_kind kind, str name, double per_minute, bool takes)
{
    uint64_t key = hash_name(m, kind, name);
    HOLD(&m->lock);
    struct meter *one = find_meter(m, key); /* never NULL where no meter is in use */
    return take_some(&one->bucket, per_minute / 60, 60, takes, clock_mono_us());
}

/* --- processor time --- */

enum status allowance_check(struct ctx *ctx, const struct allowance *a)
{
    if (atomic_load(&a->until_us) - clock_mono_us() < AHEAD_US)
        return OK;
    return fail(ctx, TOO_BUSY,
                "requests without a token take too much of the processor; try again in a moment");
}

void allowance_take(struct allowance *a, int64_t cpu_us)
{
    int64_t now = clock_mono_us(), was = atomic_load(&a->until_us), until;
    do
        until = (was > now ? was : now) + cpu_us * CORE_PART;
    while (!atomic_compare_exchange_weak(&a->until_us, &was, until));
}
