/* bert.c - the layers of a BERT in f32; the texts of a batch are concatenated without padding. */
#include "ext/models/bert.h"

#include <unistd.h>

#include "base/fields.h"
#include "base/files.h"
#include "embed/common/floats.h"

/*
 * The architecture is BERT's (Devlin et al., 2018). Weights are f32 in memory whatever the file
 * holds. What comes of a text does not depend on the other texts of its batch, except for rounding.
 */

enum { CONFIG_MAX = 1 << 20, SIZE_MAX_OF_LAYER = 1 << 14, LAYERS_MAX = 128 };

SHAPE(config, (STR, model_type, .required = true), (STR, hidden_act, .otherwise_str = "gelu"),
      (STR, position_embedding_type, .otherwise_str = "absolute"),
      (INT, hidden_size, .required = true, .min = 1, .max = SIZE_MAX_OF_LAYER),
      (INT, num_hidden_layers, .required = true, .min = 1, .max = LAYERS_MAX),
      (INT, num_attention_heads, .required = true, .min = 1, .max = 1024),
      (INT, intermediate_size, .required = true, .min = 1, .max = SIZE_MAX_OF_LAYER),
      (INT, max_position_embeddings, .required = true, .min = 3, .max = 1 << 20),
      (NUM, layer_norm_eps, .otherwise = 1e-12, .min = 0, .max = 1));

/* Matrices are transposed relative to the file: a row for each input, a column for each output.
 * That makes small batches three times as fast. */
struct layer {
    float *qkv, *qkv_bias; /* query, key and value side by side */
    float *out, *out_bias; /* after attention */
    float *norm1, *shift1; /* its norm */
    float *up, *up_bias, *down, *down_bias;
    float *norm2, *shift2;
};

/* --- reading a model --- */

/* The tensor with this name in the file and this shape; columns 0: a vector. The check comes before
 * memory is allocated, since the sizes in config.json are untrusted. */
static enum status find_tensor(struct ctx *ctx, const struct bert *b, str name, size_t rows,
                               size_t columns, const struct tensor **out)
{
    const struct tensor *v = safetensors_find(&b->file, name);
    if (!v || v->type == TENSOR_OTHER)
        return fail(ctx, UNSUPPORTED, "the model has no floats '" S_FMT "'", S_ARG(name));
    if (v->dims[0] != rows || v->n_dims != (columns ? 2 : 1) || (columns && v->dims[1] != columns))
        return fail(ctx, BAD_INPUT, "'" S_FMT "' is not %zu × %zu", S_ARG(name), rows,
                    columns ? columns : 1);
    *out = v;
    return OK;
}

enum status bert_floats(struct ctx *ctx, struct bert *b, str name, size_t rows, size_t columns,
                        float **out)
{
    const struct tensor *v = NULL;
    TRY(find_tensor(ctx, b, name, rows, columns, &v));
    *out = NEW_N(&b->arena, float, v->count);
    tensor_floats(v, 0, v->count, *out);
    return OK;
}

/* The name as it is in the file. */
static str full_of(struct ctx *ctx, const struct bert *b, str name)
{
    return str_printf(&ctx->arena, "%s" S_FMT, b->prefix, S_ARG(name));
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

/* The names are those of BERT checkpoints as Hugging Face's library writes them. Query, key and
 * value become one matrix, so that one product gives all three. */
static enum status read_layer(struct ctx *ctx, struct bert *b, size_t i, struct layer *l)
{
    size_t h = b->hidden, w = b->wide;
    const struct {
        const char *name;
        size_t rows, columns;
        float **at;
        size_t place, others; /* where among those side by side, and how many others */
    } parts[] = {
        {"attention.self.query.weight", h, h, &l->qkv, 0, 2},
        {"attention.self.query.bias", h, 0, &l->qkv_bias, 0, 2},
        {"attention.self.key.weight", h, h, &l->qkv, 1, 2},
        {"attention.self.key.bias", h, 0, &l->qkv_bias, 1, 2},
        {"attention.self.value.weight", h, h, &l->qkv, 2, 2},
        {"attention.self.value.bias", h, 0, &l->qkv_bias, 2, 2},
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
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        str name = str_printf(&ctx->arena, "%sencoder.layer.%zu.%s", b->prefix, i, parts[p].name);
        const struct tensor *v = NULL;
        TRY(find_tensor(ctx, b, name, parts[p].rows, parts[p].columns, &v));
        if (!parts[p].place)
            *parts[p].at = NEW_N(&b->arena, float, (1 + parts[p].others) * v->count);
        float *to = *parts[p].at + parts[p].place * parts[p].rows;
        if (parts[p].columns)
            transpose_into(ctx, v, to, (1 + parts[p].others) * parts[p].rows);
        else
            tensor_floats(v, 0, v->count, to);
    }
    return OK;
}

/* The prefix "bert." depends on how the model was exported. */
static enum status read_words(struct ctx *ctx, struct bert *b)
{
    str name = S("embeddings.word_embeddings.weight");
    b->prefix = safetensors_find(&b->file, name) ? "" : "bert.";
    b->words = safetensors_find(&b->file, full_of(ctx, b, name));
    if (!b->words || b->words->type == TENSOR_OTHER || b->words->n_dims != 2 ||
        b->words->dims[1] != b->hidden)
        return fail(ctx, UNSUPPORTED, "the model has no word embeddings of %zu floats", b->hidden);
    b->begin = tokenizer_id(b->tokenizer, S("[CLS]"));
    b->end = tokenizer_id(b->tokenizer, S("[SEP]"));
    if (b->begin == TOKEN_NONE || b->end == TOKEN_NONE)
        return fail(ctx, UNSUPPORTED, "the tokenizer has no [CLS] and [SEP]");
    if (tokenizer_greatest(b->tokenizer) >= b->words->dims[0])
        return fail(ctx, BAD_INPUT, "the tokenizer has tokens without a row in the model");
    return OK;
}

/* A token's type never changes, so its vector is added to every position once, here: one table of
 * positions for each type. */
static enum status read_places(struct ctx *ctx, struct bert *b, size_t positions, size_t n_kinds)
{
    size_t h = b->hidden;
    str places = full_of(ctx, b, S("embeddings.position_embeddings.weight"));
    str norm = full_of(ctx, b, S("embeddings.LayerNorm.weight"));
    str shift = full_of(ctx, b, S("embeddings.LayerNorm.bias"));
    const struct tensor *kinds =
        safetensors_find(&b->file, full_of(ctx, b, S("embeddings.token_type_embeddings.weight")));
    for (size_t k = 0; k < n_kinds; k++)
        TRY(bert_floats(ctx, b, places, positions, h, &b->places[k]));
    TRY(bert_floats(ctx, b, norm, h, 0, &b->norm));
    TRY(bert_floats(ctx, b, shift, h, 0, &b->shift));
    if (!kinds || kinds->type == TENSOR_OTHER || kinds->n_dims != 2 || kinds->dims[0] < n_kinds ||
        kinds->dims[1] != h)
        return fail(ctx, UNSUPPORTED, "the model has no token type embeddings for %zu %s", n_kinds,
                    n_kinds == 1 ? "type" : "types");
    float *kind = NEW_N(&ctx->arena, float, h);
    for (size_t k = 0; k < n_kinds; k++) {
        tensor_floats(kinds, k * h, h, kind);
        for (size_t i = 0; i < positions; i++)
            floats_add(b->places[k] + i * h, kind, h);
    }
    return OK;
}

enum status bert_config(struct ctx *ctx, str folder, struct json **out)
{
    str text;
    const char *path = str_printf(&ctx->arena, S_FMT "/config.json", S_ARG(folder)).p;
    TRY(file_read(ctx, path, CONFIG_MAX, &text));
    return json_parse(ctx, text, out);
}

/* The sizes bound all allocations below, so they are checked first. */
static enum status read_config(struct ctx *ctx, str folder, struct config *out)
{
    struct json *root;
    TRY(bert_config(ctx, folder, &root));
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

/* Without tokenizer.json the vocabulary alone: then by the rules of BERT's uncased models. */
static enum status open_tokenizer(struct ctx *ctx, str folder, struct tokenizer **out)
{
    enum { LINES_MAX = 8 << 20 };
    const char *path = str_printf(&ctx->arena, S_FMT "/tokenizer.json", S_ARG(folder)).p;
    const char *lines = str_printf(&ctx->arena, S_FMT "/vocab.txt", S_ARG(folder)).p;
    str text;
    if (access(path, F_OK) == 0)
        return tokenizer_open(ctx, path, out);
    if (access(lines, F_OK) != 0)
        return fail(ctx, NOT_FOUND, S_FMT " has neither tokenizer.json nor vocab.txt",
                    S_ARG(folder));
    TRY(file_read(ctx, lines, LINES_MAX, &text));
    return tokenizer_of_lines(ctx, text, out);
}

/* oneDNN first: without it nothing else is worth reading, and its failure names the package. */
enum status bert_open(struct ctx *ctx, str folder, size_t kinds, struct bert *b)
{
    struct config c;
    assert(kinds && kinds <= BERT_KINDS);
    *b = (struct bert){0};
    TRY(onednn_load(ctx, onednn_names, &b->onednn));
    TRY(read_config(ctx, folder, &c));
    b->hidden = (size_t)c.hidden_size;
    b->wide = (size_t)c.intermediate_size;
    b->heads = (size_t)c.num_attention_heads;
    b->n_layers = (size_t)c.num_hidden_layers;
    b->epsilon = (float)c.layer_norm_eps;
    b->tokens_max = c.max_position_embeddings < BERT_TOKENS_MAX ? (size_t)c.max_position_embeddings
                                                                : BERT_TOKENS_MAX;
    b->kernels = kernels_best();
    TRY(open_tokenizer(ctx, folder, &b->tokenizer));
    TRY(safetensors_open(ctx, str_printf(&ctx->arena, S_FMT "/model.safetensors", S_ARG(folder)).p,
                         &b->file));
    TRY(read_words(ctx, b));
    TRY(read_places(ctx, b, (size_t)c.max_position_embeddings, kinds));
    b->layers = NEW_N(&b->arena, struct layer, b->n_layers);
    for (size_t i = 0; i < b->n_layers; i++)
        TRY(read_layer(ctx, b, i, &b->layers[i]));
    return OK;
}

void bert_opened(struct bert *b)
{
    safetensors_keep(&b->file, b->words);
}

void bert_close(struct bert *b)
{
    tokenizer_free(b->tokenizer);
    safetensors_close(&b->file);
    arena_free(&b->arena);
}

/* --- running it --- */

/* Not zeroed but for the kinds: every other cell is written before it is read. starts has room for
 * texts of two tokens each, the shortest there are. */
struct bert_batch bert_batch_for(const struct bert *b, size_t tokens)
{
    size_t n = tokens > b->tokens_max ? tokens : b->tokens_max;
    size_t most = 3 * b->hidden > b->wide ? 3 * b->hidden : b->wide;
    size_t row = (b->tokens_max + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    return (struct bert_batch){
        .onednn = &b->onednn,
        .x = heap_grow(NULL, n * b->hidden * sizeof(float)),
        .more = heap_grow(NULL, n * b->hidden * sizeof(float)),
        .wide = heap_grow(NULL, n * most * sizeof(float)),
        .scores = heap_grow(NULL, b->tokens_max * row * sizeof(float)),
        .ids = heap_grow(NULL, n * sizeof(uint32_t)),
        .kinds = heap_alloc(n),
        .starts = heap_grow(NULL, (n / 2 + 2) * sizeof(size_t)),
        .room = n,
    };
}

void bert_batch_free(struct bert_batch *w)
{
    free(w->x);
    free(w->more);
    free(w->wide);
    free(w->scores);
    free(w->ids);
    free(w->kinds);
    free(w->starts);
}

/* A part of an array, with rows that are step floats apart. */
struct matrix {
    float *v;
    size_t step;
};

/* out (rows × columns) = a (rows × inner) times b, which is columns × inner when turned. */
static void matrix_product(struct bert_batch *w, struct matrix a, struct matrix b, bool turned,
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
static void attend_text(const struct bert *b, struct bert_batch *w, size_t from, size_t n)
{
    size_t size = b->hidden / b->heads, step = 3 * b->hidden;
    size_t row = (n + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    assert(n <= b->tokens_max);
    float scale = 1 / sqrtf((float)size);
    for (size_t h = 0; h < b->heads; h++) {
        struct matrix scores = {w->scores, row}, q = {w->wide + from * step + h * size, step};
        struct matrix k = {q.v + b->hidden, step}, v = {k.v + b->hidden, step};
        struct matrix out = {w->more + from * b->hidden + h * size, b->hidden};
        matrix_product(w, q, k, true, n, n, size, scores);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = n; j < row; j++)
                scores.v[i * row + j] = -INFINITY;
            b->kernels->softmax(scores.v + i * row, scale, row);
        }
        matrix_product(w, scores, v, false, n, size, n, out);
    }
}

/* The order of BERT: attention, add and norm, feed-forward, add and norm. Buffers are reused. x
 * keeps the state; wide holds query, key and value, then the output of attention, then the inner
 * layer; more holds the heads' results, then the output of the layer. */
static void run_layer(const struct bert *b, struct bert_batch *w, const struct layer *l)
{
    const struct kernels *k = b->kernels;
    size_t n = w->n, h = b->hidden, wide = b->wide;
    struct matrix x = {w->x, h}, more = {w->more, h};
    matrix_product(w, x, (struct matrix){l->qkv, 3 * h}, false, n, 3 * h, h,
                   (struct matrix){w->wide, 3 * h});
    k->add_bias(w->wide, l->qkv_bias, n, 3 * h);
    for (size_t i = 0; i < w->texts; i++)
        attend_text(b, w, w->starts[i], w->starts[i + 1] - w->starts[i]);
    matrix_product(w, more, (struct matrix){l->out, h}, false, n, h, h,
                   (struct matrix){w->wide, h});
    k->norm(w->x, w->wide, l->out_bias, l->norm1, l->shift1, b->epsilon, n, h);
    matrix_product(w, x, (struct matrix){l->up, wide}, false, n, wide, h,
                   (struct matrix){w->wide, wide});
    k->gelu(w->wide, l->up_bias, n, wide);
    matrix_product(w, (struct matrix){w->wide, wide}, (struct matrix){l->down, h}, false, n, h,
                   wide, more);
    k->norm(w->x, w->more, l->down_bias, l->norm2, l->shift2, b->epsilon, n, h);
}

/* The deadline is checked between layers, the largest piece of work without one. A failed product
 * is only noted and reported at the end: later products then compute garbage but read no memory
 * that they should not. One thread per call: requests are the parallelism here, and more threads
 * would only compete. */
enum status bert_run(struct ctx *ctx, const struct bert *b, struct bert_batch *w)
{
    size_t h = b->hidden;
    assert(w->texts && w->n <= w->room && w->starts[w->texts] == w->n);
    b->onednn.set_threads(1);
    for (size_t i = 0; i < w->texts; i++) {
        for (size_t at = w->starts[i]; at < w->starts[i + 1]; at++) {
            const float *place = b->places[w->kinds[at]] + (at - w->starts[i]) * h;
            tensor_floats(b->words, w->ids[at] * h, h, w->x + at * h);
            floats_add(w->x + at * h, place, h);
        }
    }
    b->kernels->norm(w->x, NULL, NULL, b->norm, b->shift, b->epsilon, w->n, h);
    for (size_t i = 0; i < b->n_layers; i++) {
        if (!ctx_has_time(ctx))
            return fail(ctx, TIMED_OUT,
                        "timeout: the model took longer than the deadline of the call");
        run_layer(b, w, &b->layers[i]);
    }
    return w->failed ? fail(ctx, UNSUPPORTED, "oneDNN refused a matrix product") : OK;
}
