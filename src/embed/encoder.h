/* encoder.h - the encoder in the binary: vectors of a text and of each of its tokens. */
#pragma once

#include "base/ctx.h"

/*
 * all-MiniLM-L6-v2, quantised and fitted further (docs/decisions/006). It reads English, and eight
 * other languages less well. The vectors of tokens depend on the whole text around them.
 */
enum {
    ENCODER_SPACE = 128, /* dimensions of the pooled vector */
    ENCODER_KEPT = 64,   /* of a token's vector: the first of the space */
    ENCODER_TEXT = 120,  /* tokens of a text that count */
    ENCODER_BEFORE = 60, /* tokens of the text before that are read along with a block */
    ENCODER_BLOCK = 160, /* tokens that are read together, those included */
};

/* Names the vectors: another name means that they cannot be compared. */
#define ENCODER_NAME "minilm-3"

/* Whether most of a text is in Latin letters (to U+027F), with accents or not, and punctuation. */
static inline bool encoder_reads(str text)
{
    size_t foreign = 0;
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        foreign += c <= 0xC9 || c == 0xE2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    }
    return 4 * foreign <= text.n;
}

struct encoder;

/* The first text expands the weights, into 12 MB. Thread-safe; each call uses one core. */
struct encoder *encoder_new(void);
void encoder_free(struct encoder *e);

/*
 * Arrays are in the ctx's arena. A token's vector is ENCODER_KEPT values of length 127, but for
 * rounding: the product of two of them is 127 * 127 times their cosine. The pooled vector is the
 * mean of the tokens' vectors in the whole space; it has length 1, or is all 0 without tokens.
 */
struct encoded {
    size_t n;             /* tokens */
    const uint32_t *ids;  /* their numbers in the vocabulary */
    const int8_t *tokens; /* n vectors, one after the other */
    float pooled[ENCODER_SPACE];
};

/*
 * Texts that follow each other, as "Speaker: text". They are read in blocks: as many texts as fit,
 * after the end of the text before them. before is the text before the first, or empty. A question
 * is a text alone. TIMED_OUT at the deadline of the ctx.
 */
MUST_USE enum status encoder_texts(struct ctx *ctx, struct encoder *e, str before, const str *texts,
                                   size_t n, struct encoded *out);

/* The numbers of a word's pieces in the vocabulary, the first max; returns how many. */
MUST_USE enum status encoder_pieces(struct ctx *ctx, struct encoder *e, str word, uint32_t *out,
                                    size_t max, size_t *n);

/* Vectors of a question's tokens, to compare texts with. */
struct encoder_question {
    const int8_t *packed;
    size_t n, blocks;
    int32_t *best; /* room for the outcome of a comparison: n of them count */
};
struct encoder_question encoder_question(struct arena *a, const int8_t *tokens, size_t n);

/* q->best gets for each of the question's tokens the greatest product with one of the text's n
 * tokens, at least 0. One thread at a time may use a question. */
void encoder_compare(const struct encoder_question *q, const int8_t *text, size_t n);
