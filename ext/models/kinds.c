/* kinds.c - static tables, transformers and cross-encoders as kinds of local models. */
#include "embed/embed.h"
#include "embed/reranker.h"
#include "ext/models/cross_encoder.h"
#include "ext/models/static.h"
#include "ext/models/transformer.h"

static enum status open_table(struct ctx *ctx, str folder, void **out)
{
    struct static_table *t = NULL;
    TRY(static_open(ctx, folder, &t));
    *out = t;
    return OK;
}

static void close_table(void *model)
{
    static_close(model);
}

static size_t table_dimensions(const void *model)
{
    return static_dimensions(model);
}

/* A lookup cannot fail. */
static enum status embed_by_table(struct ctx *ctx, const void *model, const str *texts, size_t n,
                                  float *out)
{
    (void)ctx;
    for (size_t i = 0; i < n; i++)
        static_embed(model, texts[i], out + i * static_dimensions(model));
    return OK;
}

const struct local_kind local_static = {EMBED_STATIC, open_table, close_table, table_dimensions,
                                        embed_by_table};

static enum status open_transformer(struct ctx *ctx, str folder, void **out)
{
    struct transformer *t = NULL;
    TRY(transformer_open(ctx, folder, &t));
    *out = t;
    return OK;
}

static void close_transformer(void *model)
{
    transformer_close(model);
}

static size_t transformer_size(const void *model)
{
    return transformer_dimensions(model);
}

static enum status embed_by_transformer(struct ctx *ctx, const void *model, const str *texts,
                                        size_t n, float *out)
{
    return transformer_embed(ctx, model, texts, n, out);
}

const struct local_kind local_transformer = {EMBED_TRANSFORMERS, open_transformer,
                                             close_transformer, transformer_size,
                                             embed_by_transformer};

static enum status open_reranker(struct ctx *ctx, str folder, void **out)
{
    struct cross_encoder *c = NULL;
    TRY(cross_encoder_open(ctx, folder, &c));
    *out = c;
    return OK;
}

static void close_reranker(void *model)
{
    cross_encoder_close(model);
}

static enum status score_texts(struct ctx *ctx, const void *model, str question, const str *texts,
                               size_t n, double *scores, size_t *done)
{
    return cross_encoder_score(ctx, model, question, texts, n, scores, done);
}

const struct reranking_kind local_cross_encoder = {cross_encoder_is_in, open_reranker,
                                                   close_reranker, score_texts};
