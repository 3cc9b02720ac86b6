/* form.h - the odds, by a question's wording alone, that it needs what its person told. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/*
 * A logistic over a question's words, pairs of neighbours, first two words, length and marks, and
 * over its vector by the encoder. It sees no memory: "Which knee was it again?" needs something
 * that was told, "How does a knee work?" does not, whoever asks. data/lang/form.def has the weights
 * and what they were fitted to.
 */

/* Features of one question: each once, sorted. */
enum { FORM_WORDS = 60, FORM_FEATURES = 2 * FORM_WORDS + 16 };
struct form_features {
    str v[FORM_FEATURES];
    size_t n;
};
void form_features_of(struct arena *a, str question, struct form_features *out);

/* The logarithm of the odds, 0 where nothing of it is known. vector: the ENCODER_SPACE values of
 * the question by the encoder, or NULL. */
double form_of(struct arena *a, str question, const float *vector);
