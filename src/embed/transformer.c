/* transformer.c - a BERT encoder in f32; the texts of a batch are concatenated without padding. */
#include "embed/transformer.h"

#include <assert.h>

#include "base/fields.h"
#include "embed/common/files.h"
#include "embed/common/floats.h"
#include "embed/common/kernels.h"
#include "embed/common/safetensors.h"
#include "embed/common/tokenizer.h"
#include "embed/onednn.h"

/*
 * The architecture is BERT's (Devlin et al., 2018) with the mean of all token states as the text's
 * vector, as sentence-transformers models are trained. Weights are f32 in memory whatever the file
 * holds. A transformer is read-only after it was opened, so any number of threads may run it; each
 * call has its own struct work. A vector does not depend on the other texts of its batch, except
 * for rounding.
 */

/* BATCH_TOKENS: tokens in one pass; larger batches do not make the products faster. */
enum { BATCH_TOKENS = 512, CONFIG_MAX = 1 << 20, SIZE_MAX_OF_LAYER = 1 << 14, LAYERS_MAX = 128 };

struct config {
    int64_t hidden_size, num_hidden_layers, num_attention_heads, intermediate_size,
        max_position_embeddings;
    double layer_norm_eps;
    str model_type, hidden_act, position_embedding_type;
};

static const struct field config_fields[] = {
    {STR(struct config, model_type), .required = true},
    {STR(struct config, hidden_act), .otherwise_str = "gelu"},
    {STR(struct config, position_embedding_type), .otherwise_str = "absolute"},
    {INT(struct config, hidden_size), .required = true, .min = 1, .max = SIZE_MAX_OF_LAYER},
    {INT(struct config, num_hidden_layers), .required = true, .min = 1, .max = LAYERS_MAX},
    {INT(struct config, num_attention_heads), .required = true, .min = 1, .max = 1024},
    {INT(struct config, intermediate_size), .required = true, .min = 1, .max = SIZE_MAX_OF_LAYER},
    {INT(struct config, max_position_embeddings), .required = true, .min = 3, .max = 1 << 20},
    {NUM(struct config, layer_norm_eps), .otherwise = 1e-12, .min = 0, .max = 1},
    {0},
};

/* Matrices are transposed relative to the file: a row for each input, a column for each output.
 * That makes small batches three times as fast. */
struct layer {
    float *qkv, *qkv_bias; /* query, key and value side by side */
    float *out, *out_bias; /* after attention */
    float *norm1, *shift1; /* its norm */
    float *up, *up_bias, *down, *down_bias;
    float *norm2, *shift2;
};

struct transformer {
    struct safetensors file;
    struct tokenizer *tokenizer;
    const struct kernels *kernels;
    struct onednn onednn;
    const struct tensor *words; /* read row by row, not copied: half of the model */
    const char *prefix;         /* of tensor names in the file */
    struct arena arena;         /* of all weights */
    float *positions;           /* plus the vector of token type 0 */
    float *norm, *shift;
    struct layer *layers;
    size_t hidden, wide, heads, n_layers, tokens_max;
    float epsilon;
    uint32_t begin, end;
};

/* --- reading a model --- */

/* The tensor with this name and shape; columns 0: a vector. The check comes before memory is
 * allocated, since the sizes in config.json are untrusted. */
static enum status find_tensor(struct ctx *ctx, const struct transformer *t, str name, size_t rows,
                               size_t columns, const struct tensor **out)
{
    str full = str_printf(&ctx->arena, "%s" S_FMT, t->prefix, S_ARG(name));
    const struct tensor *v = safetensors_find(&t->file, full);
    if (!v || v->type == TENSOR_OTHER)
        return fail(ctx, UNSUPPORTED, "the model has no floats '" S_FMT "'", S_ARG(full));
    if (v->dims[0] != rows || v->n_dims != (columns ? 2 : 1) || (columns && v->dims[1] != columns))
        return fail(ctx, BAD_INPUT, "'" S_FMT "' is not %zu × %zu", S_ARG(full), rows,
                    columns ? columns : 1);
    *out = v;
    return OK;
}

static enum status take_tensor(struct ctx *ctx, struct transformer *t, str name, size_t rows,
                               size_t columns, float **out)
{
    const struct tensor *v = NULL;
    TRY(find_tensor(ctx, t, name, rows, columns, &v));
    *out = NEW_N(&t->arena, float, v->count);
    tensor_floats(v, 0, v->count, *out);
    return OK;
}

/* Transposes outputs × inputs into inputs × outputs, whose rows are step floats apart. One row of
 * the file at a time, so that weights in half precision need no second matrix in f32. */
static void transpose_into(struct ctx *ctx, const struct tensor *v, float *out, size_t step)
{
    size_t outputs = v->dims[0], inputs = v->dims[1];
    assert(v->n_dims == 2 && outputs <= step);
    float *row = NEW_N(&ctx->arena, float, inputs);
    for (size_t o = 0; o < outputs; o++) {
        tensor_floats(v, o * inputs, inputs, row);
        for (size_t i = 0; i < inputs; i++)
            out[i * step + o] = row[i];
    }
}

static enum status take_transposed(struct ctx *ctx, struct transformer *t, str name, size_t outputs,
                                   size_t inputs, float **out)
{
    const struct tensor *v = NULL;
    TRY(find_tensor(ctx, t, name, outputs, inputs, &v));
    *out = NEW_N(&t->arena, float, v->count);
    transpose_into(ctx, v, *out, outputs);
    return OK;
}

/* Query, key and value become one matrix, so that one product gives all three. */
static enum status read_qkv(struct ctx *ctx, struct transformer *t, size_t i, struct layer *l)
{
    enum { PARTS = 3 };
    static const char *const parts[PARTS] = {"query", "key", "value"};
    const struct tensor *weights[PARTS] = {0}, *biases[PARTS] = {0};
    size_t h = t->hidden;
    for (size_t p = 0; p < PARTS; p++) {
        str name = str_printf(&ctx->arena, "encoder.layer.%zu.attention.self.%s.", i, parts[p]);
        str weight = str_printf(&ctx->arena, S_FMT "weight", S_ARG(name));
        str bias = str_printf(&ctx->arena, S_FMT "bias", S_ARG(name));
        TRY(find_tensor(ctx, t, weight, h, h, &weights[p]));
        TRY(find_tensor(ctx, t, bias, h, 0, &biases[p]));
    }
    l->qkv = NEW_N(&t->arena, float, PARTS *h *h);
    l->qkv_bias = NEW_N(&t->arena, float, PARTS *h);
    for (size_t p = 0; p < PARTS; p++) {
        transpose_into(ctx, weights[p], l->qkv + p * h, PARTS * h);
        tensor_floats(biases[p], 0, h, l->qkv_bias + p * h);
    }
    return OK;
}

/* The names are those of BERT checkpoints as Hugging Face's library writes them. */
static enum status read_layer(struct ctx *ctx, struct transformer *t, size_t i, struct layer *l)
{
    size_t h = t->hidden, w = t->wide;
    const struct {
        const char *name;
        size_t rows, columns;
        float **at;
    } parts[] = {
        {"attention.output.dense.weight", h, h, &l->out},
        {"attention.output.dense.bias", h, 0, &l->out_bias},
        {"attention.output.LayerNorm.weight", h, 0, &l->norm1},
        {"attention.output.LayerNorm.bias", h, 0, &l->shift1},
        {"intermediate.dense.weight", w, h, &l->up},
        {"intermediate.dense.bias", w, 0, &l->up_bias},
        {"output.dense.weight", h, w, &l->down},
        {"output.dense.bias", h, 0, &l->down_bias},
        {"output.LayerNorm.weight", h, 0, &l->norm2},
        {"output.LayerNorm.bias", h, 0, &l->shift2},
    };
    TRY(read_qkv(ctx, t, i, l));
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        str name = str_printf(&ctx->arena, "encoder.layer.%zu.%s", i, parts[p].name);
        size_t rows = parts[p].rows, columns = parts[p].columns;
        TRY(columns ? take_transposed(ctx, t, name, rows, columns, parts[p].at)
                    : take_tensor(ctx, t, name, rows, 0, parts[p].at));
    }
    return OK;
}

/* The prefix "bert." depends on how the model was exported. */
static enum status read_words(struct ctx *ctx, struct transformer *t)
{
    str name = S("embeddings.word_embeddings.weight");
    t->prefix = safetensors_find(&t->file, name) ? "" : "bert.";
    t->words =
        safetensors_find(&t->file, str_printf(&ctx->arena, "%s" S_FMT, t->prefix, S_ARG(name)));
    if (!t->words || t->words->type == TENSOR_OTHER || t->words->n_dims != 2 ||
        t->words->dims[1] != t->hidden)
        return fail(ctx, UNSUPPORTED, "the model has no word embeddings of %zu floats", t->hidden);
    t->begin = tokenizer_id(t->tokenizer, S("[CLS]"));
    t->end = tokenizer_id(t->tokenizer, S("[SEP]"));
    if (t->begin == TOKEN_NONE || t->end == TOKEN_NONE)
        return fail(ctx, UNSUPPORTED, "the tokenizer has no [CLS] and [SEP]");
    if (tokenizer_greatest(t->tokenizer) >= t->words->dims[0])
        return fail(ctx, BAD_INPUT, "the tokenizer has tokens without a row in the model");
    return OK;
}

/* Every token has type 0, so the vector of type 0 is added to every position once, here. */
static enum status read_places(struct ctx *ctx, struct transformer *t, size_t positions)
{
    const struct tensor *kinds = safetensors_find(
        &t->file, str_printf(&ctx->arena, "%sembeddings.token_type_embeddings.weight", t->prefix));
    TRY(take_tensor(ctx, t, S("embeddings.position_embeddings.weight"), positions, t->hidden,
                    &t->positions));
    TRY(take_tensor(ctx, t, S("embeddings.LayerNorm.weight"), t->hidden, 0, &t->norm));
    TRY(take_tensor(ctx, t, S("embeddings.LayerNorm.bias"), t->hidden, 0, &t->shift));
    if (!kinds || kinds->type == TENSOR_OTHER || kinds->n_dims != 2 || !kinds->dims[0] ||
        kinds->dims[1] != t->hidden)
        return fail(ctx, UNSUPPORTED, "the model has no token type embeddings");
    float *kind = NEW_N(&ctx->arena, float, t->hidden);
    tensor_floats(kinds, 0, t->hidden, kind);
    for (size_t i = 0; i < positions; i++)
        floats_add(t->positions + i * t->hidden, kind, t->hidden);
    return OK;
}

/* The sizes bound all allocations below, so they are checked first. */
static enum status read_config(struct ctx *ctx, str folder, struct config *out)
{
    str text;
    struct json *root;
    const char *path = str_printf(&ctx->arena, S_FMT "/config.json", S_ARG(folder)).p;
    TRY(file_read(ctx, path, CONFIG_MAX, &text));
    TRY(json_parse(ctx, text, &root));
    TRY(fields_read(ctx, config_fields, root, false, out));
    if (!str_is(out->model_type, "bert") || !str_is(out->hidden_act, "gelu") ||
        !str_is(out->position_embedding_type, "absolute"))
        return fail(ctx, UNSUPPORTED,
                    "only BERT models with gelu and absolute positions are supported");
    if (out->hidden_size % (out->num_attention_heads * KERNEL_LANES / 2) ||
        out->hidden_size % KERNEL_LANES || out->intermediate_size % KERNEL_LANES)
        return fail(ctx, UNSUPPORTED, "the sizes of the model must be multiples of %d",
                    KERNEL_LANES);
    return OK;
}

/* oneDNN first: without it nothing else is worth reading, and its failure names the package. */
static enum status read_all(struct ctx *ctx, str folder, struct transformer *t)
{
    enum { TOKENS_MAX = 512 };
    struct arena *a = &ctx->arena;
    struct config c;
    TRY(onednn_load(ctx, onednn_names, &t->onednn));
    TRY(read_config(ctx, folder, &c));
    t->hidden = (size_t)c.hidden_size;
    t->wide = (size_t)c.intermediate_size;
    t->heads = (size_t)c.num_attention_heads;
    t->n_layers = (size_t)c.num_hidden_layers;
    t->epsilon = (float)c.layer_norm_eps;
    t->tokens_max =
        c.max_position_embeddings < TOKENS_MAX ? (size_t)c.max_position_embeddings : TOKENS_MAX;
    t->kernels = kernels_best();
    TRY(tokenizer_open(ctx, str_printf(a, S_FMT "/tokenizer.json", S_ARG(folder)).p,
                       &t->tokenizer));
    TRY(safetensors_open(ctx, str_printf(a, S_FMT "/model.safetensors", S_ARG(folder)).p,
                         &t->file));
    TRY(read_words(ctx, t));
    TRY(read_places(ctx, t, (size_t)c.max_position_embeddings));
    t->layers = NEW_N(&t->arena, struct layer, t->n_layers);
    for (size_t i = 0; i < t->n_layers; i++)
        TRY(read_layer(ctx, t, i, &t->layers[i]));
    safetensors_keep(&t->file, t->words);
    return OK;
}

/* Nothing stays open on failure; the statuses are those of static_open. */
enum status transformer_open(struct ctx *ctx, str folder, struct transformer **out)
{
    struct transformer *t = heap_alloc(sizeof *t);
    enum status s = read_all(ctx, folder, t);
    if (s != OK) {
        transformer_close(t);
        return s;
    }
    *out = t;
    return OK;
}

void transformer_close(struct transformer *t)
{
    if (!t)
        return;
    tokenizer_free(t->tokenizer);
    safetensors_close(&t->file);
    arena_free(&t->arena);
    free(t);
}

size_t transformer_dimensions(const struct transformer *t)
{
    return t->hidden;
}

/* --- running it --- */

/* Buffers of one batch, on the heap: too large for the arena of a call. */
struct work {
    const struct onednn *onednn;
    float *x;      /* tokens × hidden: state between layers */
    float *more;   /* tokens × hidden: output of one part */
    float *wide;   /* tokens × the greater of 3 hidden and wide */
    float *scores; /* of one text and head: tokens × tokens */
    uint32_t *ids;
    size_t n, *starts, texts; /* the tokens of text i are starts[i] to starts[i + 1] */
    bool failed;              /* a matrix product failed */
};

/* A part of an array, with rows that are step floats apart. */
struct matrix {
    float *v;
    size_t step;
};

/* out (rows × columns) = a (rows × inner) times b, which is columns × inner when turned. */
static void matrix_product(struct work *w, struct matrix a, struct matrix b, bool turned,
                           size_t rows, size_t columns, size_t inner, struct matrix out)
{
    w->failed |= w->onednn->sgemm('N', turned ? 'T' : 'N', (int64_t)rows, (int64_t)columns,
                                  (int64_t)inner, 1, a.v, (int64_t)a.step, b.v, (int64_t)b.step, 0,
                                  out.v, (int64_t)out.step) != 0;
}

/* Attention within one text. w->wide holds query, key and value of each token. Rows of scores are
 * padded to whole lanes with -INFINITY, which softmax turns into e^-87, practically 0; the product
 * with the values does not read them. scale is the 1/sqrt(size of a head) of scaled dot-product
 * attention. */
static void attend_text(const struct transformer *t, struct work *w, size_t from, size_t n)
{
    size_t size = t->hidden / t->heads, step = 3 * t->hidden;
    size_t row = (n + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    assert(n <= t->tokens_max);
    float scale = 1 / sqrtf((float)size);
    for (size_t h = 0; h < t->heads; h++) {
        struct matrix scores = {w->scores, row}, q = {w->wide + from * step + h * size, step};
        struct matrix k = {q.v + t->hidden, step}, v = {k.v + t->hidden, step};
        struct matrix out = {w->more + from * t->hidden + h * size, t->hidden};
        matrix_product(w, q, k, true, n, n, size, scores);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = n; j < row; j++)
                scores.v[i * row + j] = -INFINITY;
            t->kernels->softmax(scores.v + i * row, scale, row);
        }
        matrix_product(w, scores, v, false, n, size, n, out);
    }
}

/* The order of BERT: attention, add and norm, feed-forward, add and norm. Buffers are reused. x
 * keeps the state; wide holds query, key and value, then the output of attention, then the inner
 * layer; more holds the heads' results, then the output of the layer. */
static void run_layer(const struct transformer *t, struct work *w, const struct layer *l)
{
    const struct kernels *k = t->kernels;
    size_t n = w->n, h = t->hidden, wide = t->wide;
    struct matrix x = {w->x, h}, more = {w->more, h};
    matrix_product(w, x, (struct matrix){l->qkv, 3 * h}, false, n, 3 * h, h,
                   (struct matrix){w->wide, 3 * h});
    k->add_bias(w->wide, l->qkv_bias, n, 3 * h);
    for (size_t i = 0; i < w->texts; i++)
        attend_text(t, w, w->starts[i], w->starts[i + 1] - w->starts[i]);
    matrix_product(w, more, (struct matrix){l->out, h}, false, n, h, h,
                   (struct matrix){w->wide, h});
    k->norm(w->x, w->wide, l->out_bias, l->norm1, l->shift1, t->epsilon, n, h);
    matrix_product(w, x, (struct matrix){l->up, wide}, false, n, wide, h,
                   (struct matrix){w->wide, wide});
    k->gelu(w->wide, l->up_bias, n, wide);
    matrix_product(w, (struct matrix){w->wide, wide}, (struct matrix){l->down, h}, false, n, h,
                   wide, more);
    k->norm(w->x, w->more, l->down_bias, l->norm2, l->shift2, t->epsilon, n, h);
}

/* The deadline is checked between layers, the largest piece of work without one. A failed product
 * is only noted and reported at the end: later products then compute garbage but read no memory
 * that they should not. */
static enum status run_batch(struct ctx *ctx, const struct transformer *t, struct work *w,
                             float *out)
{
    size_t h = t->hidden;
    for (size_t i = 0; i < w->texts; i++) {
        for (size_t at = w->starts[i]; at < w->starts[i + 1]; at++) {
            tensor_floats(t->words, w->ids[at] * h, h, w->x + at * h);
            floats_add(w->x + at * h, t->positions + (at - w->starts[i]) * h, h);
        }
    }
    t->kernels->norm(w->x, NULL, NULL, t->norm, t->shift, t->epsilon, w->n, h);
    for (size_t i = 0; i < t->n_layers; i++) {
        if (!ctx_has_time(ctx))
            return fail(ctx, TIMED_OUT,
                        "timeout: the model took longer than the deadline of the call");
        run_layer(t, w, &t->layers[i]);
    }
    if (w->failed)
        return fail(ctx, UNSUPPORTED, "oneDNN refused a matrix product");
    memset(out, 0, w->texts * h * sizeof *out);
    for (size_t i = 0; i < w->texts; i++, out += h) {
        for (size_t at = w->starts[i]; at < w->starts[i + 1]; at++)
            floats_add(out, w->x + at * h, h);
        if (!floats_unit(out, h))
            return fail(ctx, UNSUPPORTED, "the model computed values that are not numbers");
    }
    return OK;
}

/* Fills the batch with texts and returns how many. A text that is cut ends without [SEP], as in the
 * implementation that made the reference vectors (docs/decisions/009). A text that would be cut
 * only because the batch is nearly full begins the next batch. */
static size_t fill_batch(const struct transformer *t, struct work *w, const str *texts, size_t n)
{
    size_t room = BATCH_TOKENS > t->tokens_max ? BATCH_TOKENS : t->tokens_max;
    w->n = w->texts = 0;
    while (w->texts < n && room - w->n >= 2) {
        size_t left = room - w->n, most = left < t->tokens_max ? left : t->tokens_max;
        uint32_t *ids = w->ids + w->n;
        size_t got = tokenizer_ids(t->tokenizer, texts[w->texts], true, ids + 1, most - 1);
        bool is_cut = got == most - 1;
        if (is_cut && most < t->tokens_max)
            break;
        ids[0] = t->begin;
        if (!is_cut)
            ids[got + 1] = t->end;
        w->starts[w->texts++] = w->n;
        w->n += got + (is_cut ? 1 : 2);
    }
    assert(w->texts && w->n <= room);
    w->starts[w->texts] = w->n;
    return w->texts;
}

static void work_free(struct work *w)
{
    free(w->x);
    free(w->more);
    free(w->wide);
    free(w->scores);
    free(w->ids);
    free(w->starts);
}

/* Not zeroed: every cell is written before it is read. About 6 MB for a model of 384 dimensions;
 * freed when the call ends. starts has room for texts of two tokens each, the shortest there
 * are. */
static struct work work_for(const struct transformer *t)
{
    size_t n = BATCH_TOKENS > t->tokens_max ? BATCH_TOKENS : t->tokens_max;
    size_t most = 3 * t->hidden > t->wide ? 3 * t->hidden : t->wide;
    size_t row = (t->tokens_max + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    return (struct work){
        .onednn = &t->onednn,
        .x = heap_grow(NULL, n * t->hidden * sizeof(float)),
        .more = heap_grow(NULL, n * t->hidden * sizeof(float)),
        .wide = heap_grow(NULL, n * most * sizeof(float)),
        .scores = heap_grow(NULL, t->tokens_max * row * sizeof(float)),
        .ids = heap_grow(NULL, n * sizeof(uint32_t)),
        .starts = heap_grow(NULL, (n / 2 + 2) * sizeof(size_t)),
    };
}

/* Texts follow each other in a batch without padding, so that a batch costs as much as its tokens;
 * only attention looks at each text alone. One thread per call: requests are the parallelism here,
 * and more threads would only compete. */
enum status transformer_embed(struct ctx *ctx, const struct transformer *t, const str *texts,
                              size_t n, float *out)
{
    CLEANUP(work_free) struct work w = work_for(t);
    t->onednn.set_threads(1);
    for (size_t done = 0; done < n;) {
        size_t taken = fill_batch(t, &w, texts + done, n - done);
        TRY(run_batch(ctx, t, &w, out + done * t->hidden));
        done += taken;
    }
    return OK;
}
