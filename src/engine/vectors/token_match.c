/* token_match.c - compares a question with texts token by token. */
#include "engine/vectors/token_match.h"

#include <math.h>

#include "embed/encoder.h"

/*
 * A text may answer in one of its many sentences, which a vector of the whole text hides. So each
 * token of the question looks for the token that is nearest to it in meaning, and the mean of these
 * cosines says how much of the question is in the text (late interaction). What the messages around
 * it say counts a little less, by distance.
 */

/* Two before, one before, itself, one after. */
enum { BEFORE = 2, AROUND = 4 };
static const float nearness[AROUND] = {0.9F, 0.95F, 1, 0.9F};

/* The product of two vectors that are equal. */
static const float whole = 127.0F * 127.0F;

/* Pieces of a word that count. */
enum { PIECES = 16 };

struct token_question {
    struct ctx *ctx;
    struct engine *e;
    struct encoder_question asks;
    float *weights; /* of each token; they add up to 1, or all are 0 */
    doc_id *docs;   /* that are compared, */
    size_t n;
    float *best; /* each with the best cosine of each token: n rows */
};

static void weigh_word(struct token_question *q, const struct token_vectors *t, const uint32_t *ids,
                       size_t n, float weight)
{
    for (size_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < n; k++)
            if (t->ids[i] == ids[k] && weight > q->weights[i])
                q->weights[i] = weight;
}

/* A word may be several tokens, each of which has the weight of the word. */
static enum status weigh_tokens(struct token_question *q, const struct token_asked *asked)
{
    float sum = 0;
    for (size_t w = 0; w < asked->n; w++) {
        uint32_t ids[PIECES];
        size_t pieces;
        TRY(embed_pieces(q->ctx, q->e->embed, asked->words[w], ids, PIECES, &pieces));
        weigh_word(q, asked->tokens, ids, pieces, (float)asked->weights[w]);
    }
    for (size_t i = 0; i < asked->tokens->n; i++)
        sum += q->weights[i];
    for (size_t i = 0; i < asked->tokens->n && sum > 0; i++)
        q->weights[i] /= sum;
    return OK;
}

/* --- documents, and those around them --- */

/* Each document and its neighbours, once: the list is ascending, so those come in order, too, but
 * for some that were there before. */
static void take_neighbours(struct token_question *q, const doc_id *docs, size_t n)
{
    struct arena *a = &q->ctx->arena;
    q->docs = NEW_N(a, doc_id, AROUND * n + 1);
    for (size_t i = 0; i < n; i++) {
        doc_id from = docs[i], to = docs[i];
        if (!doc_is_memory(from)) {
            int64_t at = doc_position(from);
            from -= at < BEFORE ? at : BEFORE;
            to++;
        }
        doc_id last = q->n ? q->docs[q->n - 1] : from - 1;
        for (doc_id d = from > last ? from : last + 1; d <= to; d++)
            q->docs[q->n++] = d;
    }
    q->best = NEW_N(a, float, q->n * q->asks.n + 1);
}

/* Documents that have no tokens keep their zeros. */
static void compare_row(void *what, size_t i, str row)
{
    const struct token_question *q = what;
    encoder_compare(&q->asks, (const int8_t *)row.p, row.n / ENCODER_KEPT);
    for (size_t t = 0; t < q->asks.n; t++)
        q->best[i * q->asks.n + t] = (float)q->asks.best[t] / whole;
}

/* own_rare of the document at that place, 0 where another one stands there. */
static float rare_at(const struct token_question *q, size_t at, doc_id doc)
{
    float sum = 0;
    for (size_t t = 0; at < q->n && q->docs[at] == doc && t < q->asks.n; t++)
        sum += q->best[at * q->asks.n + t] * q->weights[t];
    return sum;
}

/* at is the place of the document among those compared. */
static struct token_match match_of(const struct token_question *q, size_t at)
{
    struct token_match m = {0};
    doc_id doc = q->docs[at];
    size_t from = at;
    while (!doc_is_memory(doc) && from > 0 && q->docs[from - 1] >= doc - BEFORE)
        from--;
    for (size_t t = 0; t < q->asks.n; t++) {
        float own = q->best[at * q->asks.n + t], near = own;
        for (size_t i = from; !doc_is_memory(doc) && i < q->n && q->docs[i] <= doc + 1; i++)
            near = fmaxf(near, q->best[i * q->asks.n + t] * nearness[q->docs[i] - doc + BEFORE]);
        m.own += own / (float)q->asks.n;
        m.near += near / (float)q->asks.n;
        m.own_rare += own * q->weights[t];
        m.near_rare += near * q->weights[t];
    }
    if (!doc_is_memory(doc)) {
        m.before = rare_at(q, at > 0 ? at - 1 : q->n, doc - 1);
        m.after = rare_at(q, at + 1, doc + 1);
    }
    return m;
}

enum status token_match(struct ctx *ctx, struct engine *e, const struct token_asked *asked,
                        const doc_id *docs, size_t n, struct token_match *out)
{
    struct token_question q = {.ctx = ctx,
                               .e = e,
                               .asks = encoder_question(&ctx->arena, asked->tokens->v,
                                                        asked->tokens->n),
                               .weights = NEW_N(&ctx->arena, float, asked->tokens->n + 1)};
    TRY(weigh_tokens(&q, asked));
    take_neighbours(&q, docs, n);
    TRY(store_token_vectors(ctx, e->store, asked->pool, q.docs, q.n, compare_row, &q));
    for (size_t i = 0, at = 0; i < n; i++) {
        while (q.docs[at] != docs[i])
            at++;
        out[i] = match_of(&q, at);
    }
    return OK;
}
