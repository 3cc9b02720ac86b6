/* static.c - model2vec: sums the rows of the first known tokens and normalises the sum. */
#include "embed/common/floats.h"
#include "embed/common/safetensors.h"
#include "embed/common/tokenizer.h"
#include "ext/models/kinds.h"

/*
 * A static model is a table with one vector for each token, distilled from a transformer
 * (github.com/MinishLab/model2vec). A text's vector is the normalised sum of its tokens' rows: no
 * order, no context, but microseconds instead of milliseconds. Unknown tokens are left out. The
 * table is read-only, so any thread may embed without a lock.
 */

/* TOKENS_MAX: model2vec's own limit, so that vectors agree with its. */
enum { TOKENS_MAX = 512, DIMENSIONS_MAX = 1 << 14 };

struct static_table {
    struct safetensors file;
    struct tokenizer *tokenizer;
    const float *rows;
    float *own; /* a copy of the rows, when the file does not hold aligned F32 */
    size_t dimensions;
};

/* The rows are used in place when the file holds aligned F32, which saves 30 MB; otherwise
 * converted. */
static enum status read_rows(struct ctx *ctx, struct static_table *t)
{
    const struct tensor *rows = safetensors_find(&t->file, S("embeddings"));
    if (!rows || rows->n_dims != 2 || rows->type == TENSOR_OTHER || !rows->dims[1] ||
        rows->dims[1] > DIMENSIONS_MAX)
        return fail(ctx, UNSUPPORTED, "the model has no table 'embeddings' of floats");
    if (safetensors_find(&t->file, S("weights")) || safetensors_find(&t->file, S("mapping")))
        return fail(ctx, UNSUPPORTED,
                    "the model has token weights or a mapping, which are not supported");
    if (tokenizer_greatest(t->tokenizer) >= rows->dims[0])
        return fail(ctx, BAD_INPUT, "the tokenizer has tokens without a row in the table");
    t->dimensions = rows->dims[1];
    if (rows->type == TENSOR_F32 && (uintptr_t)rows->bytes % sizeof *t->rows == 0) {
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

static void close_table(void *model)
{
    struct static_table *t = model;
    tokenizer_free(t->tokenizer);
    safetensors_close(&t->file);
    free(t->own);
    free(t);
}

/* NOT_FOUND: a file is missing; UNSUPPORTED and BAD_INPUT: the files
 * are of another kind, or do not fit together; STORAGE and TOO_LARGE: a file cannot be read. */
static enum status open_table(struct ctx *ctx, str folder, void **out)
{
    struct static_table *t = heap_alloc(sizeof *t);
    return model_opened(read_all(ctx, folder, t), t, close_table, out);
}

static size_t table_dimensions(const void *model)
{
    return ((const struct static_table *)model)->dimensions;
}

/* The sum, not the mean: both have the same direction, and the length becomes 1 anyway. out is all
 * zeros when no token is known; callers treat that as "no vector". */
static void embed_text(const struct static_table *t, str text, float *out)
{
    uint32_t ids[TOKENS_MAX];
    size_t n = tokenizer_ids(t->tokenizer, text, false, ids, TOKENS_MAX);
    assert(n <= TOKENS_MAX);
    memset(out, 0, t->dimensions * sizeof *out);
    for (size_t i = 0; i < n; i++)
        floats_add(out, t->rows + ids[i] * t->dimensions, t->dimensions);
    if (!floats_unit(out, t->dimensions))
        memset(out, 0, t->dimensions * sizeof *out);
}

static enum status embed_by_table(UNUSED struct ctx *ctx, const void *model, const str *texts,
                                  size_t n, float *out)
{
    for (size_t i = 0; i < n; i++)
        embed_text(model, texts[i], out + i * table_dimensions(model));
    return OK;
}

const struct local_kind local_static = {EMBED_STATIC, open_table, close_table, table_dimensions,
                                        embed_by_table};
