/* quota.c - what a chat pays for the check of its user's quotas; prints figures. */
#include "bench.h"
#include "lib/engine.h"

/* A chat checks once, behind its answer. */
enum { ROUNDS = 2000, MESSAGES = 2000 };

static void make_spaces(struct ctx *ctx, struct engine *e, int from, int to)
{
    for (int i = from; i < to; i++) {
        struct memory m = {.content = str_printf(&ctx->arena, "Locker %d is in the hall.", i)};
        const struct pool_ref pool = {S("bob"), str_printf(&ctx->arena, "space-%04d", i)};
        must(ctx, engine_add(ctx, e, pool, &m));
    }
}

static void measure_check(struct engine *e, int spaces)
{
    static int64_t cpu[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        int64_t start = cpu_us(CLOCK_THREAD_CPUTIME_ID);
        for (int k = 0; k < 10; k++)
            must(&ctx,
                 engine_check_quota(&ctx, e, (struct pool_ref){S("bob"), S("space-0000")},
                                    (struct quota){.memories = 1, .messages = 2, .bytes = 500}));
        cpu[i] = cpu_us(CLOCK_THREAD_CPUTIME_ID) - start;
    }
    sort_us(cpu, ROUNDS);
    printf("%4d spaces: %.1f us CPU a check (p99 %.1f)\n", spaces, (double)cpu[ROUNDS / 2] / 10,
           (double)cpu[ROUNDS * 99 / 100] / 10);
}

/* What counting adds to a write. */
static void measure_writes(struct store *s)
{
    int64_t start = cpu_us(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < MESSAGES; i += 20) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        struct message m[20];
        for (int k = 0; k < 20; k++)
            m[k] = said(str_printf(&ctx.arena, "m%d", i + k).p, "user",
                        str_printf(&ctx.arena, "Parcel %d is for the house with the number %d.",
                                   i + k, i * 7 + k)
                            .p,
                        1 + i + k);
        struct bundle b = {.pool = mine, .session.id = S("s"), .messages = m, .n_messages = 20};
        must(&ctx, store_write(&ctx, s, &b));
    }
    printf("%d messages written: %.1f us CPU each\n", MESSAGES,
           (double)(cpu_us(CLOCK_PROCESS_CPUTIME_ID) - start) / MESSAGES);
}

int main(void)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct ctx *ctx = &own;
    ENGINE(e, s, p);
    static const int spaces[] = {1, 10, 100, 1000};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        make_spaces(ctx, e, i ? spaces[i - 1] : 0, spaces[i]);
        measure_check(e, spaces[i]);
    }
    measure_writes(s);
    return 0;
}
