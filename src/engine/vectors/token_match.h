/* token_match.h - how well the tokens of texts fit those of a question. */
#pragma once

#include "embed/encoder.h"
#include "engine/state/state.h"

/*
 * Means, over the tokens of the question, of the greatest cosine with a token of the text; near:
 * or of the two messages before it and the one after. Of the last two each token of the question
 * counts as much as its word weighs in the pool. All 0 for a text without token vectors.
 */
struct token_match {
    float own, near, own_rare, near_rare;
};

struct token_question {
    struct ctx *ctx;
    struct engine *e;
    struct pool_ref pool;
    struct encoder_question asks;
    float *weights; /* of each token; they add up to 1, or all are 0 */
};

/* words are those of the question that say something, with their weights. */
MUST_USE enum status token_question(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                    const struct question_vector *q, const str *words,
                                    const double *weights, size_t n, struct token_question *out);

/* docs ascending, each once. */
MUST_USE enum status token_match(const struct token_question *q, const doc_id *docs, size_t n,
                                 struct token_match *out);
