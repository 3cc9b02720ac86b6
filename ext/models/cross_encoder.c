/* cross_encoder.c - a BERT that reads a question and a passage: how well one answers it. */
#include "embed/common/floats.h"
#include "ext/models/bert.h"
#include "ext/models/kinds.h"

/*
 * The input is [CLS] question [SEP] passage [SEP], with token type 0 up to the first [SEP] and 1
 * after it. The state of [CLS] goes through the pooler, a dense layer with tanh, and through a
 * classifier with one output (BertForSequenceClassification with one label). That number is the
 * score; a sigmoid over it would not change an order.
 *
 * A passage that is too long is cut, as its beginning often tells what it is about, and a question
 * without its end may ask something else. Only a question that would leave less than half of the
 * room to the passage is cut, too.
 */

/* A batch ends with the text that reaches BATCH_TOKENS. More tokens are hardly faster, and what is
 * unfinished at the deadline is lost. */
enum { BATCH_TOKENS = 64, MARKS = 3, LEAST_TOKENS = 8 };

struct cross_encoder {
    struct bert bert;
    float *pooler, *pooler_bias; /* a row for each output, as in the file */
    float *classifier, *classifier_bias;
};

/* --- reading a model --- */

static enum status check_kind(struct ctx *ctx, str folder)
{
    struct json *root;
    TRY(bert_config(ctx, folder, &root));
    const struct json *kinds = json_get(root, "architectures");
    bool is_list = kinds && kinds->type == JSON_ARRAY;
    for (const struct json *kind = is_list ? kinds->first : NULL; kind; kind = kind->next)
        if (str_is(json_string(kind), "BertForSequenceClassification"))
            return OK;
    return fail(ctx, UNSUPPORTED,
                "the member architectures of config.json must name BertForSequenceClassification");
}

static bool is_cross_encoder(struct ctx *ctx, str folder)
{
    CLEANUP(ctx_free) struct ctx own = ctx_detached(ctx);
    return check_kind(&own, folder) == OK;
}

static enum status read_all(struct ctx *ctx, str folder, struct cross_encoder *c)
{
    struct bert *b = &c->bert;
    TRY(check_kind(ctx, folder));
    TRY(bert_open(ctx, folder, BERT_KINDS, b));
    str pooler = str_printf(&ctx->arena, "%spooler.dense.weight", b->prefix);
    str bias = str_printf(&ctx->arena, "%spooler.dense.bias", b->prefix);
    if (b->tokens_max < LEAST_TOKENS)
        return fail(ctx, UNSUPPORTED, "max_position_embeddings must be at least %d", LEAST_TOKENS);
    /* A classifier with more outputs sorts texts into classes, and none of them is a rank. */
    const struct tensor *v = safetensors_find(&b->file, S("classifier.weight"));
    if (v && v->n_dims == 2 && v->dims[0] != 1)
        return fail(ctx, UNSUPPORTED,
                    "the model has %zu outputs ('classifier.weight'); a reranker has 1",
                    v->dims[0]);
    TRY(bert_floats(ctx, b, pooler, b->hidden, b->hidden, &c->pooler));
    TRY(bert_floats(ctx, b, bias, b->hidden, 0, &c->pooler_bias));
    TRY(bert_floats(ctx, b, S("classifier.weight"), 1, b->hidden, &c->classifier));
    TRY(bert_floats(ctx, b, S("classifier.bias"), 1, 0, &c->classifier_bias));
    bert_opened(b);
    return OK;
}

static void close_encoder(void *model)
{
    struct cross_encoder *c = model;
    bert_close(&c->bert);
    free(c);
}

static enum status open_encoder(struct ctx *ctx, str folder, void **out)
{
    struct cross_encoder *c = heap_alloc(sizeof *c);
    return model_opened(read_all(ctx, folder, c), c, close_encoder, out);
}

/* --- running it --- */

struct question {
    uint32_t *ids;
    size_t n;
};

static struct question question_of(struct ctx *ctx, const struct bert *b, str text)
{
    size_t most = (b->tokens_max - MARKS) / 2;
    struct question q = {.ids = NEW_N(&ctx->arena, uint32_t, most + 1)};
    q.n = tokenizer_ids(b->tokenizer, text, true, q.ids, most);
    return q;
}

/* Appends one pair. False: it would be cut only because the batch is nearly full. */
static bool add_pair(const struct bert *b, struct bert_batch *w, const struct question *q, str text)
{
    size_t whole = b->tokens_max - MARKS - q->n, before = q->n + 2;
    size_t left = w->room - w->n;
    if (left < before + 2)
        return false;
    size_t most = left - before - 1 < whole ? left - before - 1 : whole;
    uint32_t *ids = w->ids + w->n;
    size_t got = tokenizer_ids(b->tokenizer, text, true, ids + before, most);
    if (got == most && most < whole)
        return false;
    ids[0] = b->begin;
    memcpy(ids + 1, q->ids, q->n * sizeof *ids);
    ids[q->n + 1] = ids[before + got] = b->end;
    memset(w->kinds + w->n, 0, before);
    memset(w->kinds + w->n + before, 1, got + 1);
    w->starts[w->texts++] = w->n;
    w->n += before + got + 1;
    w->starts[w->texts] = w->n;
    return true;
}

/* From the state of [CLS]. */
static double score_of(const struct cross_encoder *c, const float *state)
{
    size_t h = c->bert.hidden;
    double score = (double)c->classifier_bias[0];
    for (size_t i = 0; i < h; i++) {
        float pooled = tanhf(floats_dot(c->pooler + i * h, state, h) + c->pooler_bias[i]);
        score += (double)(c->classifier[i] * pooled);
    }
    return score;
}

static enum status score_texts(struct ctx *ctx, const void *model, str question, const str *texts,
                               size_t n, double *scores, size_t *done)
{
    const struct cross_encoder *c = model;
    const struct bert *b = &c->bert;
    const struct question q = question_of(ctx, b, question);
    CLEANUP(bert_batch_free) struct bert_batch w = bert_batch_for(b, BATCH_TOKENS);
    *done = 0;
    while (*done < n) {
        w.n = w.texts = 0;
        while (*done + w.texts < n && w.n < BATCH_TOKENS &&
               add_pair(b, &w, &q, texts[*done + w.texts])) {
        }
        assert(w.texts); /* one pair fits always */
        TRY(bert_run(ctx, b, &w));
        for (size_t i = 0; i < w.texts; i++) {
            scores[*done + i] = score_of(c, w.x + w.starts[i] * b->hidden);
            if (!isfinite(scores[*done + i]))
                return fail(ctx, UNSUPPORTED, "the model computed values that are not numbers");
        }
        *done += w.texts;
    }
    return OK;
}

const struct reranking_kind local_cross_encoder = {is_cross_encoder, open_encoder, close_encoder,
                                                   score_texts};
