/* tiny_cross.c - small cross-encoders with weights from a fixed sequence. */
#include "lib/tiny_cross.h"

#include <sys/stat.h>

#include "base/buf.h"

static const char *const words[] = {
    "[PAD]", "[UNK]", "[CLS]",   "[SEP]",  "the",   "cat",   "dog",  "sleep", "##s",   "##ing",
    "on",    "mat",   ".",       "?",      "where", "does",  "what", "is",    "my",    "name",
    "i",     "live",  "in",      "lisbon", "and",   "paris", ",",    "a",     "green", "door",
    "near",  "old",   "harbour", "since",  "may",   "we",    "walk", "every", "day",
};
enum { WORDS = sizeof words / sizeof *words };

const struct cross_sizes tiny_cross_sizes = {.words = WORDS,
                                             .hidden = 32,
                                             .wide = 64,
                                             .heads = 4,
                                             .layers = 2,
                                             .positions = TINY_POSITIONS,
                                             .outputs = 1};

/* The tensors so far. A model of six layers has about a hundred. */
enum { TENSORS_MAX = 256 };
struct making {
    struct ctx *ctx;
    struct floats v[TENSORS_MAX];
    size_t n;
    uint32_t state;
};

/* middle + scale * (-0.5 to 0.5), which cross_reference.py draws in the same order. */
static void add_floats(struct making *m, const char *name, size_t rows, size_t columns,
                       float middle, float scale)
{
    size_t n = rows * (columns ? columns : 1);
    float *v = NEW_N(&m->ctx->arena, float, n);
    CHECK(m->n < TENSORS_MAX);
    for (size_t i = 0; i < n; i++) {
        m->state = m->state * 1664525 + 1013904223;
        v[i] = middle + ((float)(m->state >> 8) / (1 << 24) - 0.5f) * scale;
    }
    m->v[m->n++] = (struct floats){name, rows, columns, v};
}

static const char *named(struct making *m, const char *prefix, const char *part, const char *end)
{
    return str_printf(&m->ctx->arena, "bert.%s%s.%s", prefix, part, end).p;
}

static void add_dense(struct making *m, const char *prefix, const char *part, size_t outputs,
                      size_t inputs)
{
    add_floats(m, named(m, prefix, part, "weight"), outputs, inputs, 0, 1);
    add_floats(m, named(m, prefix, part, "bias"), outputs, 0, 0, 1);
}

static void add_norm(struct making *m, const char *prefix, const char *part, size_t n)
{
    add_floats(m, named(m, prefix, part, "weight"), n, 0, 1, 1);
    add_floats(m, named(m, prefix, part, "bias"), n, 0, 0, 1);
}

static void add_layer(struct making *m, size_t i, size_t hidden, size_t wide)
{
    const char *prefix = str_printf(&m->ctx->arena, "encoder.layer.%zu.", i).p;
    add_dense(m, prefix, "attention.self.query", hidden, hidden);
    add_dense(m, prefix, "attention.self.key", hidden, hidden);
    add_dense(m, prefix, "attention.self.value", hidden, hidden);
    add_dense(m, prefix, "attention.output.dense", hidden, hidden);
    add_norm(m, prefix, "attention.output.LayerNorm", hidden);
    add_dense(m, prefix, "intermediate.dense", wide, hidden);
    add_dense(m, prefix, "output.dense", hidden, wide);
    add_norm(m, prefix, "output.LayerNorm", hidden);
}

static void write_words(struct ctx *ctx, str folder, size_t n)
{
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    for (size_t i = 0; i < n; i++) {
        if (i < WORDS)
            buf_printf(&b, "%s\n", words[i]);
        else
            buf_printf(&b, "w%zu\n", i);
    }
    file_write(ctx, folder, "vocab.txt", buf_str(&b));
}

void cross_write(struct ctx *ctx, str folder, const struct cross_sizes *s)
{
    struct making *m = NEW(&ctx->arena, struct making);
    m->ctx = ctx;
    m->state = 20260;
    add_floats(m, "bert.embeddings.word_embeddings.weight", s->words, s->hidden, 0, 1);
    add_floats(m, "bert.embeddings.position_embeddings.weight", s->positions, s->hidden, 0, 1);
    add_floats(m, "bert.embeddings.token_type_embeddings.weight", 2, s->hidden, 0, 1);
    add_norm(m, "", "embeddings.LayerNorm", s->hidden);
    for (size_t i = 0; i < s->layers; i++)
        add_layer(m, i, s->hidden, s->wide);
    add_dense(m, "", "pooler.dense", s->hidden, s->hidden);
    add_floats(m, "classifier.weight", s->outputs, s->hidden, 0, 4);
    add_floats(m, "classifier.bias", s->outputs, 0, 0, 1);
    file_write(ctx, folder, "model.safetensors", safetensors_of(ctx, m->v, m->n));
    write_words(ctx, folder, s->words);
    file_write(
        ctx, folder, "config.json",
        str_printf(&ctx->arena,
                   "{\"architectures\":[\"BertForSequenceClassification\"],\"model_type\":\"bert\","
                   "\"hidden_act\":\"gelu\",\"hidden_size\":%zu,\"num_hidden_layers\":%zu,"
                   "\"num_attention_heads\":%zu,\"intermediate_size\":%zu,"
                   "\"max_position_embeddings\":%zu,\"layer_norm_eps\":1e-12}",
                   s->hidden, s->layers, s->heads, s->wide, s->positions));
}

void cross_write_as(struct ctx *ctx, str folder, const char *name, const struct cross_sizes *s)
{
    str at = str_printf(&ctx->arena, S_FMT "/%s", S_ARG(folder), name);
    CHECK_INT(mkdir(at.p, 0755), 0);
    cross_write(ctx, at, s);
}

void tiny_cross(struct ctx *ctx, str folder, const char *name)
{
    cross_write_as(ctx, folder, name, &tiny_cross_sizes);
}
