/* token_match.h - scores for the tokens of texts beside those of a question. */
#pragma once

#include "engine/state/state.h"

/* Means, over the tokens of the question, of the greatest cosine with a token of the text; near:
 * or of the two messages before it and the one after. Of the others each token of the question
 * counts as much as its word weighs in the pool; before and after are own_rare of the message
 * before and of the one after. All 0 for a text without token vectors. */
struct token_match {
    float own, near, own_rare, near_rare, before, after;
};

/* A question: its tokens, and those of its words that say something, with their weights. */
struct token_asked {
    struct pool_ref pool;
    const struct token_vectors *tokens;
    const str *words;
    const double *weights;
    size_t n;
};

/* docs ascending, each once; a match for each of them. */
MUST_USE enum status token_match(struct ctx *ctx, struct engine *e, const struct token_asked *asked,
                                 const doc_id *docs, size_t n, struct token_match *out);
