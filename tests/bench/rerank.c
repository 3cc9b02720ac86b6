/* rerank.c - what reranking by a cross-encoder costs: a model of the size of MiniLM-L6. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "bench.h"
#include "embed/reranker.h"
#include "lib/tiny_cross.h"

/* The weights are random, as only their number costs time. Each word is a token. */
enum { PASSAGES = 50, PASSAGE_TOKENS = 60, QUESTION_TOKENS = 10, ROUNDS = 5, WORDS = 30522 };
static const struct cross_sizes sizes = {.words = WORDS,
                                         .hidden = 384,
                                         .wide = 1536,
                                         .heads = 12,
                                         .layers = 6,
                                         .positions = 512,
                                         .outputs = 1};

static str text_of(struct ctx *ctx, size_t tokens, size_t seed)
{
    struct buf b = buf_make(&ctx->arena, 1 << 16);
    for (size_t i = 0; i < tokens; i++)
        buf_printf(&b, "w%zu ", 1000 + (seed * 7919 + i * 104729) % (WORDS - 1000));
    return buf_str(&b);
}

struct input {
    struct reranker *r;
    str question, texts[PASSAGES];
    double scores[PASSAGES];
};

static void measure_all(struct ctx *ctx, struct input *in)
{
    double ms[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        double began = cpu_ms();
        must(ctx,
             reranker_score(ctx, in->r, S("mini"), in->question, in->texts, PASSAGES, in->scores));
        ms[i] = cpu_ms() - began;
    }
    sort_ms(ms, ROUNDS);
    printf("%d passages of %d tokens: %.0f ms CPU, %.1f ms a passage (median of %d)\n", PASSAGES,
           PASSAGE_TOKENS, ms[ROUNDS / 2], ms[ROUNDS / 2] / PASSAGES, ROUNDS);
}

/* How many of them a budget reads; 0 also when there was no time for the first. */
static void measure_budget(struct input *in, int64_t budget_ms)
{
    struct ctx own = {.deadline_us = clock_mono_us() + budget_ms * 1000};
    int64_t began = clock_mono_us();
    int scored = 0;
    enum status s =
        reranker_score(&own, in->r, S("mini"), in->question, in->texts, PASSAGES, in->scores);
    if (s != OK && s != TIMED_OUT)
        must(&own, s);
    for (int i = 0; i < PASSAGES && s == OK; i++)
        scored += !isnan(in->scores[i]);
    printf("within %4lld ms: %2d passages, %.0f ms in all\n", (long long)budget_ms, scored,
           (double)(clock_mono_us() - began) / 1000);
    ctx_free(&own);
}

/* The model is written first: its floats must not count as memory of what is loaded. */
static str written_model(void)
{
    struct ctx *ctx = heap_alloc(sizeof *ctx);
    str folder = folder_new(ctx);
    cross_write_as(ctx, folder, "mini", &sizes);
    static char kept[100];
    snprintf(kept, sizeof kept, S_FMT, S_ARG(folder));
    ctx_free(ctx);
    free(ctx);
    return str_of(kept);
}

int main(void)
{
    static const int64_t budgets[] = {35, 75, 150, 500, 1000};
    if (no_onednn()) {
        printf("skipped: %s\n", no_onednn());
        return 0;
    }
    struct input *in = heap_alloc(sizeof *in);
    in->r = reranker_new(written_model());
    CLEANUP(ctx_free) struct ctx ctx = {0};
    int64_t began = clock_mono_us();
    must(&ctx, reranker_load(&ctx, in->r, S("mini")));
    printf("loaded in %lld ms\n", (long long)(clock_mono_us() - began) / 1000);
    in->question = text_of(&ctx, QUESTION_TOKENS, 1);
    for (size_t i = 0; i < PASSAGES; i++)
        in->texts[i] = text_of(&ctx, PASSAGE_TOKENS, 2 + i);
    measure_all(&ctx, in);
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++)
        measure_budget(in, budgets[i]);
    reranker_free(in->r);
    free(in);
    return 0;
}
