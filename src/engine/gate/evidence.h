/* evidence.h - the probability that the candidates answer the question at all. */
#pragma once

#include "engine/gate/weights.h"
#include "engine/questions/query.h"
#include "store/store.h"

enum gate_signal {
#define GATE_SIGNAL(name, sets, help, ...) GATE_##name,
#include "engine/gate/gate_weights.def"
#undef GATE_SIGNAL
    GATE_SIGNALS
};
extern const char *const gate_signal_names[]; /* ends with NULL */

/* One result, as far as the gate looks at it. */
struct gate_result {
    doc_id doc;
    str text;
    double score;  /* 0 to 1 */
    double cosine; /* of its vector with the question's; 0 without */
    double tokens; /* how much of the question its tokens, and those around it, mean; or 0 */
};

/* A question, and what its words are worth in one pool. */
struct pool_question {
    struct query query;
    float weights[QUERY_WORDS_MAX]; /* of its words */
    struct word_hits words;         /* the texts that hold them */
    double rarest;                  /* weight of a word that one text holds */
    const float *vector;            /* by the encoder, or NULL */
    bool aggregation;               /* whether the answer is spread over many places */
    bool is_of_several;             /* it asks for several things, or in two steps */
    double idle;                    /* of what the user said near it, what tells nothing; a part */
};

/* A question and what a search of one pool found. */
struct gate_in {
    str question;
    const struct pool_question *asked;
    const struct gate_result *v; /* best first */
    size_t n;
};

/* What the question and the pool look like, by enum gate_signal. */
struct gate_evidence {
    double signals[GATE_SIGNALS];
    str unsaid; /* words that the pool lacks: "Zanzibar", 'dive' */
};
struct gate_evidence gate_evidence_of(struct arena *a, const struct gate_in *in);

/* Whether it says I, my or our, in one of five languages. */
bool gate_is_first_person(str question);

/* Whether it reads as a sentence in English, which the weights were fitted to. */
bool gate_is_fitted_for(str question);

/* The probability that a good answer needs something that this person told, 0 to 1, whatever the
 * pool holds. A general task ("How do I boil an egg?") needs nothing. */
double gate_personal(enum weights weights, const struct gate_evidence *e);

/* The probability that something of it answers, 0 to 1. In a large pool it assumes that one message
 * in sixteen can be answered from memory: for 0.05 the evidence must be about 0.8 to 1. */
double gate_probability(enum weights weights, const struct gate_evidence *e);
