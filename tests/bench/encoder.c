/* encoder.c - what the encoder in the binary costs: time for each kernel, and memory. */
#include <stdio.h>

#include "bench.h"
#include "embed/encoder/encoder_int.h"

enum { ROUNDS = 60, TURNS = 40 };

/* Anonymous memory of this process; without the pages of the binary. */
static double memory_mb(void)
{
    char line[200];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %ld", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return (double)kb / 1024;
}

/* The median of ROUNDS runs over so many tokens, [CLS] and [SEP] among them. */
static double states_ms(struct encoder *e, size_t tokens)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    double ms[ROUNDS];
    uint32_t ids[ENCODER_BLOCK];
    float *out = NEW_N(&own.arena, float, tokens *ENCODER_HIDDEN);
    for (size_t i = 0; i < tokens - 2; i++)
        ids[i] = (uint32_t)(2000 + i * 7919 % 20000);
    for (int i = 0; i < ROUNDS; i++) {
        double began = cpu_ms();
        must(&own, encoder_states(&own, e, ids, tokens - 2, out));
        ms[i] = cpu_ms() - began;
    }
    sort_ms(ms, ROUNDS);
    return ms[ROUNDS / 2];
}

/* Turns of 37 tokens, the mean of LoCoMo, in blocks: from text to vectors. */
static void measure_turns(struct encoder *e)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    str turns[TURNS];
    struct encoded out[TURNS];
    for (size_t i = 0; i < TURNS; i++)
        turns[i] =
            str_printf(&own.arena,
                       "Caroline: My mother called me on day %zu, since the garden was under "
                       "water again, and so I drove home in the rain with my old friend to "
                       "help her with the pump and the cellar.",
                       i);
    double began = cpu_ms();
    must(&own, encoder_texts(&own, e, S(""), turns, TURNS, out));
    double took = cpu_ms() - began;
    size_t tokens = 0;
    for (size_t i = 0; i < TURNS; i++)
        tokens += out[i].n;
    printf("  %8.2f (%zu tokens)", took / TURNS, tokens / TURNS);
}

static void must_be_ready(struct ctx *ctx, struct encoder *e)
{
    str text = S("bread");
    struct encoded out;
    must(ctx, encoder_texts(ctx, e, S(""), &text, 1, &out));
}

/* What the first text costs: the weights are expanded. */
static void measure_first(void)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    double empty = memory_mb();
    struct encoder *e = encoder_new();
    double before = memory_mb(), began = cpu_ms();
    must_be_ready(&own, e);
    printf("opened: %.1f MB; first text: %.0f ms, %.1f MB\n", before - empty, cpu_ms() - began,
           memory_mb() - before);
    encoder_free(e);
}

static void measure(const struct encoder_kernels *k)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    static const size_t tokens[] = {14, 38, 100, 160};
    struct encoder *e = encoder_new_by(k);
    must_be_ready(&own, e);
    printf("%-14s", k->name);
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        printf(" %8.2f", states_ms(e, tokens[i]));
    measure_turns(e);
    putchar('\n');
    encoder_free(e);
}

int main(void)
{
    measure_first();
    printf("CPU ms for tokens %8d %8d %8d %8d   a turn in blocks\n", 14, 38, 100, 160);
    for (const struct encoder_kernels *k = encoder_kernels; k->name; k++) {
        if (k->can_run())
            measure(k);
        else
            printf("%-14s not on this processor\n", k->name);
    }
    return 0;
}
