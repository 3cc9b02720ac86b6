/* encoder.c - runs the encoder over blocks of texts, and makes the vectors that are kept. */
#include "embed/encoder.h"

#include <math.h>

#include "base/workers.h"
#include "embed/common/floats.h"
#include "embed/common/tokenizer.h"
#include "embed/encoder/encoder_int.h"
#include "embed/encoder/weights.h"

/*
 * The model is BERT's encoder: six layers over all tokens of a block. Products are of
 * integers: weights have a scale for each output, the vectors of tokens one for each token, found
 * anew before each product. The steps between are in f32. Nothing changes after the weights are
 * expanded, so any number of threads may run it; each call has its own struct work.
 */

/* [CLS] and [SEP]; the epsilon of BERT's norms. */
enum { ENDS = 2, TOKENS_MAX = ENCODER_BLOCK + ENDS };
static const float epsilon = 1e-12F;

_Static_assert(TOKENS_MAX <= (int)STEPS_TOKENS_MAX, "attention holds a block");
_Static_assert(TOKENS_MAX <= (int)ENCODER_POSITIONS, "each token of a block has a position");

struct encoder {
    const struct encoder_kernels *kernels;
    pthread_mutex_t lock; /* of the expansion */
    atomic_bool is_ready; /* what follows is complete, and never changes again */
    struct encoder_weights weights;
    struct tokenizer *tokenizer;
    uint32_t begin, end;
};

struct encoder *encoder_new_by(const struct encoder_kernels *kernels)
{
    struct encoder *e = heap_alloc(sizeof *e);
    e->kernels = kernels;
    pthread_mutex_init(&e->lock, NULL);
    return e;
}

struct encoder *encoder_new(void)
{
    return encoder_new_by(encoder_kernels_best());
}

void encoder_free(struct encoder *e)
{
    if (!e)
        return;
    tokenizer_free(e->tokenizer);
    weights_close(&e->weights);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

/* Of several first texts one expands, and the others wait. */
static enum status get_ready(struct ctx *ctx, struct encoder *e)
{
    if (atomic_load_explicit(&e->is_ready, memory_order_acquire))
        return OK;
    HOLD(&e->lock);
    if (e->is_ready)
        return OK;
    TRY(weights_open(ctx, encoder_builtin(), &e->weights));
    TRY(tokenizer_of_lines(ctx, e->weights.file.vocabulary, &e->tokenizer));
    e->begin = tokenizer_id(e->tokenizer, S("[CLS]"));
    e->end = tokenizer_id(e->tokenizer, S("[SEP]"));
    if (e->begin == TOKEN_NONE || e->end == TOKEN_NONE ||
        tokenizer_greatest(e->tokenizer) != ENCODER_VOCABULARY - 1)
        return fail(ctx, BAD_INPUT, "the encoder's file has another vocabulary");
    atomic_store_explicit(&e->is_ready, true, memory_order_release);
    return OK;
}

/* --- the layers --- */

/* Buffers of one block, on the heap: too large for the arena of a call. */
struct work {
    float *x;    /* tokens × hidden: the state between layers */
    float *more; /* tokens × hidden: the output of one part */
    float *wide; /* tokens × wide: query, key and value, or the wide layer; sums of products */
    float *room;
    uint8_t *bytes;
    float rows[TOKENS_MAX]; /* the scale of each token's bytes */
};

static void work_free(struct work *w)
{
    free(w->x);
    free(w->more);
    free(w->wide);
    free(w->room);
    free(w->bytes);
}

/* Not zeroed: every cell is written before it is read. */
static struct work work_for(size_t n)
{
    return (struct work){
        .x = heap_grow(NULL, n * ENCODER_HIDDEN * sizeof(float)),
        .more = heap_grow(NULL, n * ENCODER_HIDDEN * sizeof(float)),
        .wide = heap_grow(NULL, n * ENCODER_WIDE * sizeof(float)),
        .room = heap_grow(NULL, STEPS_ROOM * sizeof(float)),
        .bytes = heap_grow(NULL, n * ENCODER_WIDE),
    };
}

/* out = the linear layer of v, without its bias. */
static void run_linear(const struct encoder_kernels *k, struct work *w, const struct linear *l,
                       size_t n, const float *v, float *out)
{
    k->steps->to_bytes(v, n, l->product.inputs, w->bytes, w->rows);
    k->product(&l->product, w->bytes, n, (int32_t *)out);
    k->steps->to_floats(out, n, l->product.outputs, w->rows, l->columns);
}

/* The order of BERT: attention, add and norm, feed-forward, add and norm. */
static void run_layer(const struct encoder_kernels *k, struct work *w,
                      const struct encoder_layer *l, size_t n)
{
    const struct kernels *between = k->steps->between();
    run_linear(k, w, &l->qkv, n, w->x, w->wide);
    between->add_bias(w->wide, l->qkv.bias, n, l->qkv.product.outputs);
    k->steps->attend(w->wide, n, w->room, w->more);
    run_linear(k, w, &l->out, n, w->more, w->wide);
    between->norm(w->x, w->wide, l->out.bias, l->attended.weight, l->attended.shift, epsilon, n,
                  ENCODER_HIDDEN);
    run_linear(k, w, &l->up, n, w->x, w->wide);
    between->gelu(w->wide, l->up.bias, n, ENCODER_WIDE);
    run_linear(k, w, &l->down, n, w->wide, w->more);
    between->norm(w->x, w->more, l->down.bias, l->done.weight, l->done.shift, epsilon, n,
                  ENCODER_HIDDEN);
}

/* The state of each token in w->x. Between layers, 2 ms at most, the deadline is checked. */
static enum status run_block(struct ctx *ctx, const struct encoder *e, struct work *w,
                             const uint32_t *ids, size_t n)
{
    const struct encoder_weights *all = &e->weights;
    for (size_t i = 0; i < n; i++)
        weights_row(all, ids[i], i, w->x + i * ENCODER_HIDDEN);
    e->kernels->steps->between()->norm(w->x, NULL, NULL, all->begin.weight, all->begin.shift,
                                       epsilon, n, ENCODER_HIDDEN);
    for (size_t i = 0; i < ENCODER_LAYERS; i++) {
        ctx_give_way(ctx);
        if (!ctx_has_time(ctx))
            return fail(ctx, TIMED_OUT,
                        "timeout: the encoder took longer than the deadline of the call");
        run_layer(e->kernels, w, &all->layers[i], n);
    }
    return OK;
}

enum status encoder_states(struct ctx *ctx, struct encoder *e, const uint32_t *ids, size_t n,
                           float *out)
{
    uint32_t all[TOKENS_MAX];
    assert(n <= ENCODER_BLOCK);
    TRY(get_ready(ctx, e));
    CLEANUP(work_free) struct work w = work_for(n + ENDS);
    all[0] = e->begin;
    memcpy(all + 1, ids, n * sizeof *ids);
    all[n + 1] = e->end;
    TRY(run_block(ctx, e, &w, all, n + ENDS));
    memcpy(out, w.x, (n + ENDS) * ENCODER_HIDDEN * sizeof *out);
    return OK;
}

/* --- vectors --- */

/* A state in the space: of length 1 before and after, around the mean. */
static void enter_space(const struct encoder *e, float *state, float *out)
{
    floats_unit(state, ENCODER_HIDDEN);
    for (size_t i = 0; i < ENCODER_HIDDEN; i++)
        state[i] -= e->weights.mean[i];
    e->kernels->steps->project(e->weights.directions, state, out);
    floats_unit(out, ENCODER_SPACE);
}

/* states: of the text's tokens; they are changed. */
static enum status keep_text(struct ctx *ctx, const struct encoder *e, float *states,
                             struct encoded *out)
{
    int8_t *tokens = NEW_N(&ctx->arena, int8_t, out->n * ENCODER_KEPT);
    for (size_t t = 0; t < out->n; t++) {
        float v[ENCODER_SPACE];
        enter_space(e, states + t * ENCODER_HIDDEN, v);
        floats_add(out->pooled, v, ENCODER_SPACE);
        floats_unit(v, ENCODER_KEPT);
        for (size_t i = 0; i < ENCODER_KEPT; i++)
            tokens[t * ENCODER_KEPT + i] = (int8_t)lrintf(v[i] * 127);
    }
    out->tokens = tokens;
    if (!floats_unit(out->pooled, ENCODER_SPACE))
        return fail(ctx, UNSUPPORTED, "the encoder computed values that are not numbers");
    return OK;
}

/* --- blocks --- */

static void cut_text(struct ctx *ctx, const struct encoder *e, str text, struct encoded *out)
{
    uint32_t ids[ENCODER_TEXT];
    *out = (struct encoded){.n = tokenizer_ids(e->tokenizer, text, true, ids, ENCODER_TEXT)};
    out->ids = DUP_N(&ctx->arena, ids, out->n, out->n);
}

/* Texts from the first on that are read together, and what is read before them. */
struct block {
    uint32_t ids[TOKENS_MAX];
    size_t before, n; /* tokens before the first text; all of them, with [CLS] and [SEP] */
    size_t texts;
};

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void add_tokens(struct block *b, const uint32_t *ids, size_t n)
{
    assert(b->n + n < TOKENS_MAX);
    memcpy(b->ids + b->n, ids, n * sizeof *ids);
    b->n += n;
}

/* As many texts as fit. A long first text leaves less room for what is before it. */
static struct block fill_block(const struct encoder *e, const struct encoded *before,
                               const struct encoded *texts, size_t n)
{
    struct block b = {.ids = {e->begin}, .n = 1};
    b.before = least_of(least_of(before->n, ENCODER_BEFORE), ENCODER_BLOCK - texts->n);
    if (b.before)
        add_tokens(&b, before->ids + before->n - b.before, b.before);
    for (; b.texts < n && b.n - 1 + texts[b.texts].n <= ENCODER_BLOCK; b.texts++)
        add_tokens(&b, texts[b.texts].ids, texts[b.texts].n);
    b.ids[b.n++] = e->end;
    assert(b.texts);
    return b;
}

enum status encoder_texts(struct ctx *ctx, struct encoder *e, str before, const str *texts,
                          size_t n, struct encoded *out)
{
    struct encoded first;
    TRY(get_ready(ctx, e));
    cut_text(ctx, e, before, &first);
    for (size_t i = 0; i < n; i++)
        cut_text(ctx, e, texts[i], &out[i]);
    CLEANUP(work_free) struct work w = work_for(TOKENS_MAX);
    for (size_t i = 0; i < n;) {
        struct block b = fill_block(e, i ? &out[i - 1] : &first, out + i, n - i);
        float *state = w.x + (1 + b.before) * ENCODER_HIDDEN;
        TRY(run_block(ctx, e, &w, b.ids, b.n));
        for (size_t last = i + b.texts; i < last; state += out[i++].n * ENCODER_HIDDEN)
            TRY(keep_text(ctx, e, state, &out[i]));
    }
    return OK;
}

/* --- comparing --- */

enum status encoder_pieces(struct ctx *ctx, struct encoder *e, str word, uint32_t *out, size_t max,
                           size_t *n)
{
    TRY(get_ready(ctx, e));
    *n = tokenizer_ids(e->tokenizer, word, true, out, max);
    return OK;
}

struct encoder_question encoder_question(struct arena *a, const int8_t *tokens, size_t n)
{
    struct encoder_question q = {.n = n, .blocks = (n + LIKENESS_TOKENS - 1) / LIKENESS_TOKENS};
    size_t bytes = q.blocks * LIKENESS_TOKENS * ENCODER_KEPT;
    int8_t *packed = NEW_N(a, int8_t, bytes + 1);
    q.best = NEW_N(a, int32_t, q.blocks * LIKENESS_TOKENS + 1);
    for (size_t t = 0; t < n; t++)
        for (size_t i = 0; i < ENCODER_KEPT; i++) {
            size_t block = t / LIKENESS_TOKENS, place = t % LIKENESS_TOKENS;
            size_t step = i / LIKENESS_STEP;
            packed[((block * ENCODER_KEPT / LIKENESS_STEP + step) * LIKENESS_TOKENS + place) *
                       LIKENESS_STEP +
                   i % LIKENESS_STEP] = tokens[t * ENCODER_KEPT + i];
        }
    q.packed = packed;
    return q;
}

void encoder_compare(const struct encoder_question *q, const int8_t *text, size_t n)
{
    memset(q->best, 0, q->blocks * LIKENESS_TOKENS * sizeof *q->best);
    encoder_kernels_best()->likeness(q->packed, q->blocks, text, n, q->best);
}
