/* transformer.c - the vector of a text: the mean of the states of its tokens. */
#include "embed/common/floats.h"
#include "ext/models/bert.h"
#include "ext/models/kinds.h"

/*
 * A BERT with the mean of all token states as the text's vector, as sentence-transformers models
 * are trained. A transformer is read-only after it was opened, so any number of threads may run it.
 */

/* Tokens in one pass; larger batches do not make the products faster. */
enum { BATCH_TOKENS = 512 };

static void close_transformer(void *model)
{
    bert_close(model);
    free(model);
}

/* The statuses are those of open_table. */
static enum status open_transformer(struct ctx *ctx, str folder, void **out)
{
    struct bert *b = heap_alloc(sizeof *b);
    enum status s = bert_open(ctx, folder, 1, b);
    if (s == OK)
        bert_opened(b);
    return model_opened(s, b, close_transformer, out);
}

static size_t transformer_dimensions(const void *model)
{
    return ((const struct bert *)model)->hidden;
}

static enum status run_batch(struct ctx *ctx, const struct bert *b, struct bert_batch *w,
                             float *out)
{
    size_t h = b->hidden;
    TRY(bert_run(ctx, b, w));
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
 * implementation that made the reference vectors (docs/decisions/006). A text that would be cut
 * only because the batch is nearly full begins the next batch. */
static size_t fill_batch(const struct bert *b, struct bert_batch *w, const str *texts, size_t n)
{
    w->n = w->texts = 0;
    while (w->texts < n && w->room - w->n >= 2) {
        size_t left = w->room - w->n, most = left < b->tokens_max ? left : b->tokens_max;
        uint32_t *ids = w->ids + w->n;
        size_t got = tokenizer_ids(b->tokenizer, texts[w->texts], true, ids + 1, most - 1);
        bool is_cut = got == most - 1;
        if (is_cut && most < b->tokens_max)
            break;
        ids[0] = b->begin;
        if (!is_cut)
            ids[got + 1] = b->end;
        w->starts[w->texts++] = w->n;
        w->n += got + (is_cut ? 1 : 2);
    }
    assert(w->texts && w->n <= w->room);
    w->starts[w->texts] = w->n;
    return w->texts;
}

/* Texts follow each other in a batch without padding, so that a batch costs as much as its tokens;
 * only attention looks at each text alone. */
static enum status embed_by_transformer(struct ctx *ctx, const void *model, const str *texts,
                                        size_t n, float *out)
{
    const struct bert *b = model;
    CLEANUP(bert_batch_free) struct bert_batch w = bert_batch_for(b, BATCH_TOKENS);
    for (size_t done = 0; done < n;) {
        size_t taken = fill_batch(b, &w, texts + done, n - done);
        TRY(run_batch(ctx, b, &w, out + done * b->hidden));
        done += taken;
    }
    return OK;
}

const struct local_kind local_transformer = {EMBED_TRANSFORMERS, open_transformer,
                                             close_transformer, transformer_dimensions,
                                             embed_by_transformer};
