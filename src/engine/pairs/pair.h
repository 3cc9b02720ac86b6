/* pair.h - The judge of a later text beside an earlier one of the same person. */
#pragma once

#include "embed/encoder.h"
#include "engine/text/form.h"
#include "engine/text/term_set.h"

/*
 * Four probabilities that add up to 1, by a logistic over what two texts share: how near their
 * tokens are by the encoder, words, names, numbers and lengths, and products of these. It has no
 * word of any language. data/lang/pair.def has the weights, what they were fitted to and how
 * well they judge pairs that were kept back.
 */
enum pair_is {
    PAIR_DIFFERENT, /* both stay true */
    PAIR_REPLACES,  /* the later one makes the earlier one untrue, as a whole or in its point */
    PAIR_FULLER,    /* the later one says the same and more */
    PAIR_SAME,      /* the later one says the same in other words */
    PAIR_LABELS
};

/* A text, read once and compared many times. Its words are read when something is near to it. */
struct pair_text {
    struct arena *a;
    str text;
    bool is_read;
    struct term_set telling, names, numbers; /* stems */
    double length;                           /* by the logarithm of its words, 0 to about 1 */
    bool asks;                               /* ends with a question */
    struct encoder_question tokens;          /* by the encoder; n is 0 where it read nothing */
    const int8_t *vectors;
    float mean[ENCODER_KEPT];   /* of its tokens, of length 1 */
    int wording[FORM_FEATURES]; /* which rows of the table of wordings it has, ascending */
    size_t n_wording;
};

/* tokens: n vectors of ENCODER_KEPT values by the encoder, which must outlive the result, or 0 of
 * them. */
void pair_read(struct arena *a, str text, const int8_t *tokens, size_t n, struct pair_text *out);

/* What the two share, in the order of the weights; the rest of a pair that lacks vectors is 0. */
enum {
    PAIR_BASE = 24, /* the first is always 1 */
    PAIR_PRODUCTS = PAIR_BASE * (PAIR_BASE - 1) / 2,
    PAIR_SIGNALS = PAIR_BASE + PAIR_PRODUCTS + 4 * ENCODER_KEPT
};

/* Of each of the first PAIR_BASE signals the mean and the spread: products are of distances. */
struct pair_scale {
    float mean[PAIR_BASE], spread[PAIR_BASE];
};
void pair_signals(struct pair_text *older, struct pair_text *newer, const struct pair_scale *scale,
                  float *out);

/* The rows of newer's wording that older lacks; out has room for FORM_FEATURES. How many. */
size_t pair_wording(struct pair_text *older, struct pair_text *newer, int *out);

struct pair_odds {
    double of[PAIR_LABELS];
};
/* From which probability of PAIR_REPLACES on the later line may replace the earlier one. Of each
 * two lines of the people that were kept back half do from 0.48 on (decisions/011). */
#define PAIR_PERHAPS 0.41

struct pair_odds pair_judge(struct pair_text *older, struct pair_text *newer);

/* False: they have so little in common that nothing but DIFFERENT is to be expected, which is quick
 * to see. */
bool pair_may_be(struct pair_text *older, struct pair_text *newer);
