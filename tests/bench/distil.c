/* distil.c - sessions that wait to be distilled: fills a store with them, and waits for their end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "bench.h"
#include "store/store.h"

/*
 * distil fill FOLDER N    N sessions of three turns in ten spaces, all due
 * distil wait FOLDER N    until none of them waits; prints their rate from when it was begun
 * distil left FOLDER N    how many of them wait, and the time in ms
 */

enum { SPACES = 10, TURNS = 3, SESSIONS_AT_ONCE = 50 };

static struct pool_ref pool_of(struct ctx *ctx, long i)
{
    return (struct pool_ref){S("sailor"), str_printf(&ctx->arena, "fleet%ld", i % SPACES)};
}

static void fill_one(struct ctx *ctx, struct store *s, long i)
{
    struct message m[2 * TURNS];
    for (int k = 0; k < 2 * TURNS; k++)
        m[k] = (struct message){
            .id = str_printf(&ctx->arena, "m%ld-%d", i, k),
            .role = k % 2 ? S("assistant") : S("user"),
            .text = str_printf(
                &ctx->arena,
                k % 2 ? "Boat number %ld will take about a week of work: the hull, the mast and "
                        "the sails want a look before you go (%d)."
                      : "I bought the boat number %ld in the harbour of Ithaca and want to sail it "
                        "home before the autumn storms; what should I look after first? (%d)",
                i, k),
            .created = 1700000000000 + i * 1000,
        };
    struct bundle b = {.pool = pool_of(ctx, i),
                       .session = {.id = str_printf(&ctx->arena, "s%ld", i)},
                       .messages = m,
                       .n_messages = 2 * TURNS,
                       .distil_at = 1};
    must(ctx, store_write_later(ctx, s, &b));
}

static void fill(struct store *s, long n)
{
    for (long i = 0; i < n; i++) {
        struct ctx ctx = {0};
        fill_one(&ctx, s, i);
        if (i % SESSIONS_AT_ONCE == 0)
            must(&ctx, store_flush(&ctx, s));
        ctx_free(&ctx);
    }
}

static int64_t waiting(struct store *s)
{
    int64_t sum = 0;
    struct ctx ctx = {0};
    for (long i = 0; i < SPACES; i++) {
        struct pool_ref pool = pool_of(&ctx, i);
        struct signal_stats stats;
        must(&ctx, store_signal_stats(&ctx, s, &pool, &stats));
        sum += stats.sessions;
    }
    ctx_free(&ctx);
    return sum;
}

static void wait_for(struct store *s, long n)
{
    int64_t began = clock_mono_us(), left;
    while ((left = waiting(s)) > 0 && clock_mono_us() - began < (int64_t)600 * 1000000)
        nanosleep(&(struct timespec){.tv_nsec = 100 * 1000000}, NULL);
    double seconds = (double)(clock_mono_us() - began) / 1e6;
    printf("sessions=%lld left=%lld seconds=%.1f per_s=%.0f\n", (long long)(n - left),
           (long long)left, seconds, (double)(n - left) / seconds);
}

static void tell(struct store *s)
{
    printf("%lld %lld\n", (long long)waiting(s), (long long)(clock_mono_us() / 1000));
}

int main(int argc, char **argv)
{
    struct ctx ctx = {0};
    struct store *s;
    if (argc != 4) {
        fprintf(stderr, "usage: distil fill|wait|left FOLDER N\n");
        return 2;
    }
    str path = str_printf(&ctx.arena, "%s/rememberd.db", argv[2]);
    must(&ctx, store_open(&ctx, &(struct store_settings){.path = path}, &s));
    long n = strtol(argv[3], NULL, 10);
    if (str_is(str_of(argv[1]), "fill"))
        fill(s, n);
    else if (str_is(str_of(argv[1]), "left"))
        tell(s);
    else
        wait_for(s, n);
    store_close(s);
    ctx_free(&ctx);
    return 0;
}
