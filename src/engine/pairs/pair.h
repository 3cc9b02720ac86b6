/* pair.h - The judge of a later text beside an earlier one of the same person. */
#pragma once

#include "embed/encoder.h"
#include "engine/text/form.h"
#include "engine/text/term_set.h"

/* Four probabilities that add up to 1, by a small net over what two texts share (how near their
 * tokens are by the encoder, words, names, numbers, lengths) and over the rest of each, which the
 * other lacks: "Thursday" beside "Monday". It has no word of any language. data/lang/pair.def has
 * the weights, what they were fitted to and how well they judge pairs that were kept back. */
enum pair_is {
    PAIR_DIFFERENT, /* both stay true */
    PAIR_REPLACES,  /* the later one makes the earlier one untrue, as a whole or in its point */
    PAIR_FULLER,    /* the later one says the same and more */
    PAIR_SAME,      /* the later one says the same in other words */
    PAIR_LABELS
};

/* A text, read once and compared many times. Its words are read when something is near to it, its
 * wording when it is judged. */
struct pair_text {
    struct arena *a;
    str text;
    struct term_set telling, names, numbers; /* stems */
    uint64_t *order;                         /* the stems of all its words; NULL: not read yet */
    size_t n_order;
    double length;                  /* by the logarithm of its words, 0 to about 1 */
    struct encoder_question tokens; /* by the encoder; n is 0 where it read nothing */
    const int8_t *vectors;
    float sum[ENCODER_KEPT], mean[ENCODER_KEPT]; /* of its tokens; mean: of length 1 */
    int *wording; /* which rows of the table of wordings it has, ascending; NULL: not read yet */
    size_t n_wording;
};

/* tokens: n vectors of ENCODER_KEPT values by the encoder, which must outlive the result, or 0 of
 * them. */
void pair_read(struct arena *a, str text, const int8_t *tokens, size_t n, struct pair_text *out);

/* What the two share and what each says alone, in the order of the weights; what needs vectors is 0
 * where one has none. The first are measured by their mean and spread, and hidden units see them.
 */
enum {
    PAIR_BASE = 29, /* the first is always 1 */
    PAIR_SIGNALS = PAIR_BASE + 5 * ENCODER_KEPT,
    PAIR_HIDDEN = 16
};
struct pair_scale {
    float mean[PAIR_BASE], spread[PAIR_BASE];
};
void pair_signals(struct pair_text *older, struct pair_text *newer, const struct pair_scale *scale,
                  float *out);

struct pair_net {
    float of[PAIR_SIGNALS][PAIR_LABELS];
    float in[PAIR_BASE][PAIR_HIDDEN], out[PAIR_HIDDEN][PAIR_LABELS];
};
/* The sum of each label; hidden: what its units say, at least 0. */
void pair_sums(const struct pair_net *net, const float *signals, float *hidden, float *sums);

struct pair_odds {
    double of[PAIR_LABELS];
    bool may_replace; /* of[PAIR_REPLACES] is high enough to say so (decisions/011) */
};
struct pair_odds pair_judge(struct pair_text *older, struct pair_text *newer);

/* False: they have so little in common that nothing but DIFFERENT is to be expected, which is quick
 * to see. */
bool pair_may_be(struct pair_text *older, struct pair_text *newer);
