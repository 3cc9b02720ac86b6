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
    struct pool_ref pool;
    struct encoder_question asks;
    float *weights; /* of each token; they add up to 1, or all are 0 */
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

/* Documents with the best cosine of each token of the question. */
struct compared {
    doc_id *docs;
    size_t n;
    float *best; /* n rows */
};

/* Each document and its neighbours, once: the list is ascending, so those come in order, too, but
 * for some that were there before. */
static struct compared with_neighbours(struct arena *a, const doc_id *docs, size_t n, size_t tokens)
{
    struct compared c = {.docs = NEW_N(a, doc_id, AROUND * n + 1)};
    for (size_t i = 0; i < n; i++) {
        doc_id from = docs[i], to = docs[i];
        if (!doc_is_memory(from)) {
            int64_t at = doc_position(from);
            from -= at < BEFORE ? at : BEFORE;
            to++;
        }
        doc_id last = c.n ? c.docs[c.n - 1] : from - 1;
        for (doc_id d = from > last ? from : last + 1; d <= to; d++)
            c.docs[c.n++] = d;
    }
    c.best = NEW_N(a, float, c.n *tokens + 1);
    return c;
}

struct comparing {
    const struct token_question *q;
    struct compared *c;
};

/* Documents that have no tokens keep their zeros. */
static void compare_row(void *what, size_t i, str row)
{
    const struct comparing *at = what;
    const struct encoder_question *asks = &at->q->asks;
    encoder_compare(asks, (const int8_t *)row.p, row.n / ENCODER_KEPT);
    for (size_t t = 0; t < asks->n; t++)
        at->c->best[i * asks->n + t] = (float)asks->best[t] / whole;
}

static enum status compare_all(const struct token_question *q, struct compared *c)
{
    struct comparing at = {q, c};
    return store_token_vectors(q->ctx, q->e->store, q->pool, c->docs, c->n, compare_row, &at);
}

/* own_rare of the document at that place, 0 where another one stands there. */
static float rare_at(const struct token_question *q, const struct compared *c, size_t at,
                     doc_id doc)
{
    float sum = 0;
    for (size_t t = 0; at < c->n && c->docs[at] == doc && t < q->asks.n; t++)
        sum += c->best[at * q->asks.n + t] * q->weights[t];
    return sum;
}

/* at is the place of the document among those compared. */
static struct token_match match_of(const struct token_question *q, const struct compared *c,
                                   size_t at)
{
    struct token_match m = {0};
    doc_id doc = c->docs[at];
    size_t from = at;
    while (!doc_is_memory(doc) && from > 0 && c->docs[from - 1] >= doc - BEFORE)
        from--;
    for (size_t t = 0; t < q->asks.n; t++) {
        float own = c->best[at * q->asks.n + t], near = own;
        for (size_t i = from; !doc_is_memory(doc) && i < c->n && c->docs[i] <= doc + 1; i++)
            near = fmaxf(near, c->best[i * q->asks.n + t] * nearness[c->docs[i] - doc + BEFORE]);
        m.own += own / (float)q->asks.n;
        m.near += near / (float)q->asks.n;
        m.own_rare += own * q->weights[t];
        m.near_rare += near * q->weights[t];
    }
    if (!doc_is_memory(doc)) {
        m.before = rare_at(q, c, at > 0 ? at - 1 : c->n, doc - 1);
        m.after = rare_at(q, c, at + 1, doc + 1);
    }
    return m;
}

enum status token_match(struct ctx *ctx, struct engine *e, const struct token_asked *asked,
                        const doc_id *docs, size_t n, struct token_match *out)
{
    struct token_question q = {ctx, e, asked->pool,
                               encoder_question(&ctx->arena, asked->tokens->v, asked->tokens->n),
                               NEW_N(&ctx->arena, float, asked->tokens->n + 1)};
    TRY(weigh_tokens(&q, asked));
    struct compared c = with_neighbours(&ctx->arena, docs, n, q.asks.n);
    TRY(compare_all(&q, &c));
    for (size_t i = 0, at = 0; i < n; i++) {
        while (c.docs[at] != docs[i])
            at++;
        out[i] = match_of(&q, &c, at);
    }
    return OK;
}
