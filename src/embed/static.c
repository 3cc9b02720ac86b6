/* static.c - model2vec: the rows of the first known tokens, added up and made of length 1. */
#include "embed/static.h"

#include "embed/floats.h"
#include "embed/safetensors.h"
#include "embed/tokenizer.h"

/* The model's makers cut there. */
enum { TOKENS_MAX = 512, DIMENSIONS_MAX = 1 << 14 };

struct static_table {
    struct safetensors file;
    struct tokenizer *tokenizer;
    const float *rows;
    float *own; /* the rows, when the file has them in another form */
    size_t dimensions;
};

static bool is_aligned(const void *p)
{
    return (uintptr_t)p % sizeof(float) == 0;
}

static enum status read_rows(struct ctx *ctx, struct static_table *t)
{
    const struct tensor *rows = safetensors_find(&t->file, S("embeddings"));
    if (!rows || rows->n_dims != 2 || rows->type == TENSOR_OTHER || !rows->dims[1] ||
        rows->dims[1] > DIMENSIONS_MAX)
        return fail(ctx, UNSUPPORTED, "the model has no table 'embeddings' of floats");
    if (safetensors_find(&t->file, S("weights")) || safetensors_find(&t->file, S("mapping")))
        return fail(ctx, UNSUPPORTED, "the table has weights beside it, which are not known here");
    if (tokenizer_greatest(t->tokenizer) >= rows->dims[0])
        return fail(ctx, BAD_INPUT, "the tokenizer knows tokens that the table has no row for");
    t->dimensions = rows->dims[1];
    if (rows->type == TENSOR_F32 && is_aligned(rows->bytes)) {
        t->rows = (const float *)(const void *)rows->bytes;
        return OK;
    }
    t->rows = t->own = heap_alloc(rows->count * sizeof *t->own);
    tensor_floats(rows, 0, rows->count, t->own);
    return OK;
}

static enum status read_all(struct ctx *ctx, str folder, struct static_table *t)
{
    struct arena *a = &ctx->arena;
    TRY(tokenizer_open(ctx, str_printf(a, S_FMT "/tokenizer.json", S_ARG(folder)).p,
                       &t->tokenizer));
    TRY(safetensors_open(ctx, str_printf(a, S_FMT "/model.safetensors", S_ARG(folder)).p,
                         &t->file));
    return read_rows(ctx, t);
}

enum status static_open(struct ctx *ctx, str folder, struct static_table **out)
{
    struct static_table *t = heap_alloc(sizeof *t);
    enum status s = read_all(ctx, folder, t);
    if (s != OK) {
        static_close(t);
        return s;
    }
    *out = t;
    return OK;
}

void static_close(struct static_table *t)
{
    if (!t)
        return;
    tokenizer_free(t->tokenizer);
    safetensors_close(&t->file);
    free(t->own);
    free(t);
}

size_t static_dimensions(const struct static_table *t)
{
    return t->dimensions;
}

void static_embed(const struct static_table *t, str text, float *out)
{
    uint32_t ids[TOKENS_MAX];
    size_t n = tokenizer_ids(t->tokenizer, text, false, ids, TOKENS_MAX);
    memset(out, 0, t->dimensions * sizeof *out);
    for (size_t i = 0; i < n; i++)
        floats_add(out, t->rows + ids[i] * t->dimensions, t->dimensions);
    if (!floats_unit(out, t->dimensions))
        memset(out, 0, t->dimensions * sizeof *out);
}
