/* numbers.c - counts of pools: what they hold now, and what they did by day and by month. */
#include <time.h>

#include "base/clock.h"
#include "engine/inspect.h"
#include "engine/state/state.h"

/*
 * Counts are kept by day and pool in the store, and are added up here. A day is one of UTC, so that
 * all clients of a server see the same ones.
 */

static void add_counts(struct day_sums *to, const struct day_count *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (v[i].stat >= 0 && v[i].stat < DAY_STAT_COUNT)
            to->n[v[i].stat] += v[i].n;
}

static enum status add_groups(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                              struct numbers *out)
{
    struct memory_page page;
    struct memory_page_in in = {.select = SELECT_ALL, .counts = true};
    in.select.pools = &pool;
    in.select.n_pools = 1;
    in.select.closed = EXPIRED_TOO;
    TRY(store_memory_page(ctx, e->store, &in, &page));
    for (const struct memory_tally *t = page.tallies; t < page.tallies + page.n_tallies; t++) {
        out->by_layer[(unsigned)t->layer < LAYER_COUNT ? t->layer : LAYER_FACT] += t->n;
        out->by_type[(unsigned)t->type < TYPE_COUNT ? t->type : TYPE_FACTUAL] += t->n;
        out->by_origin[(unsigned)t->origin < ORIGIN_COUNT ? t->origin : ORIGIN_API] += t->n;
    }
    return OK;
}

static enum status add_numbers(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                               struct numbers *out)
{
    struct pool_totals t;
    struct day_count *v;
    size_t n;
    int64_t today = day_number(clock_ms());
    engine_catch_up(ctx, e, pool);
    soft(ctx, store_settle(ctx, e->store)); /* what a chat has queued counts */
    TRY(store_pool_totals(ctx, e->store, pool, &t));
    out->sessions += t.sessions;
    out->messages += t.messages;
    out->memories += t.memories;
    out->closed += t.closed;
    out->receipts += t.receipts;
    TRY(add_groups(ctx, e, pool, out));
    TRY(store_days(ctx, e->store, pool, INT64_MIN, INT64_MAX, true, &v, &n));
    add_counts(&out->all, v, n);
    TRY(store_days(ctx, e->store, pool, today, today, true, &v, &n));
    add_counts(&out->today, v, n);
    return OK;
}

enum status engine_numbers(struct ctx *ctx, struct engine *e, struct pools pools,
                           struct numbers *out)
{
    *out = (struct numbers){0};
    for (size_t i = 0; i < pools.n; i++)
        TRY(add_numbers(ctx, e, pools.v[i], out));
    return OK;
}

/* --- series --- */

/* The first moment of the day or month so many after that of a time. */
static int64_t period_begin(int64_t ms, bool by_month, int after)
{
    time_t s = (time_t)(day_number(ms) * (DAY_MS / 1000));
    struct tm at;
    gmtime_r(&s, &at);
    at.tm_mday = by_month ? 1 : at.tm_mday + after;
    at.tm_mon += by_month ? after : 0;
    return (int64_t)timegm(&at) * 1000;
}

/* Both are in order. */
static enum status fill_periods(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                struct period *v, size_t n, int64_t end)
{
    struct day_count *counts;
    size_t n_counts, at = 0;
    TRY(store_days(ctx, e->store, pool, day_number(v->begin), day_number(end - 1), false, &counts,
                   &n_counts));
    for (size_t i = 0; i < n_counts; i++) {
        while (at + 1 < n && v[at + 1].begin <= counts[i].day * DAY_MS)
            at++;
        add_counts(&v[at].sums, &counts[i], 1);
    }
    return OK;
}

enum status engine_series(struct ctx *ctx, struct engine *e, const struct series_in *in,
                          struct period **out, size_t *n)
{
    int64_t last = period_begin(in->to, in->by_month, 0);
    int64_t at = in->from ? period_begin(in->from, in->by_month, 0)
                          : period_begin(in->to, in->by_month, 1 - in->n);
    struct period *v = NULL;
    size_t have = 0, cap = 0;
    if (in->from && in->from > in->to)
        return fail_field(ctx, "from", "must not be later than to");
    for (; at <= last; at = period_begin(at, in->by_month, 1)) {
        if (have == PERIODS_MAX)
            return fail_field(ctx, "from", "must be at most %d %s before to", PERIODS_MAX,
                              in->by_month ? "months" : "days");
        ARENA_ADD(&ctx->arena, v, have, cap) = (struct period){.begin = at};
    }
    for (size_t i = 0; i < in->pools.n; i++)
        engine_catch_up(ctx, e, in->pools.v[i]);
    soft(ctx, store_settle(ctx, e->store));
    for (size_t i = 0; i < in->pools.n; i++)
        TRY(fill_periods(ctx, e, in->pools.v[i], v, have, at));
    *out = v;
    *n = have;
    return OK;
}
