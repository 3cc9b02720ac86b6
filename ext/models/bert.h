/* bert.h - the layers of a BERT in f32: tokens in, the state of each token out. */
#pragma once

#include "base/json.h"
#include "embed/common/kernels.h"
#include "embed/common/safetensors.h"
#include "embed/common/tokenizer.h"
#include "ext/models/onednn.h"

enum { BERT_KINDS = 2, BERT_TOKENS_MAX = 512 };

struct layer;

/* Read-only after it was opened: any number of threads may run it, each with its own batch. */
struct bert {
    struct safetensors file;
    struct tokenizer *tokenizer;
    const struct kernels *kernels;
    struct onednn onednn;
    const struct tensor *words; /* read row by row, not copied: half of the model */
    const char *prefix;         /* of tensor names in the file */
    struct arena arena;         /* of all weights */
    float *places[BERT_KINDS];  /* positions, plus the vector of that token type; or NULL */
    float *norm, *shift;
    struct layer *layers;
    size_t hidden, wide, heads, n_layers, tokens_max;
    float epsilon;
    uint32_t begin, end; /* [CLS] and [SEP] */
};

/* The folder's config.json, whatever model it is of. */
MUST_USE enum status bert_config(struct ctx *ctx, str folder, struct json **out);

/*
 * Reads config.json, the tokenizer and model.safetensors of the folder, with the first `kinds`
 * token types. The tokenizer is tokenizer.json, or else vocab.txt, which means BERT's uncased one.
 * UNSUPPORTED: oneDNN is not installed, or the model is of another kind. A failure leaves parts
 * open, so bert_close comes after it, too.
 */
MUST_USE enum status bert_open(struct ctx *ctx, str folder, size_t kinds, struct bert *b);
void bert_close(struct bert *b);

/* A copy of the tensor with this name in the file; columns 0: a vector. For what a model has beside
 * the layers. */
MUST_USE enum status bert_floats(struct ctx *ctx, struct bert *b, str name, size_t rows,
                                 size_t columns, float **out);
/* Frees the memory of the file but for the word embeddings; after the last bert_floats. */
void bert_opened(struct bert *b);

/*
 * The tokens of several texts, one after the other, without padding. The caller fills ids, kinds,
 * starts, texts and n.
 */
struct bert_batch {
    const struct onednn *onednn;
    uint32_t *ids;            /* of all tokens, [CLS] and [SEP] among them */
    uint8_t *kinds;           /* token types, 0 at first */
    size_t n, *starts, texts; /* the tokens of text i are starts[i] to starts[i + 1] */
    size_t room;              /* most tokens */
    float *x;                 /* the states: tokens × hidden */
    float *more, *wide, *scores;
    bool failed; /* a matrix product failed */
};
/* Room for so many tokens, at least those of one text. About 6 MB for 512 tokens of 384 floats. */
struct bert_batch bert_batch_for(const struct bert *b, size_t tokens);
void bert_batch_free(struct bert_batch *w);

/* Computes w->x on one core. TIMED_OUT at the deadline of the ctx or when it is cut. */
MUST_USE enum status bert_run(struct ctx *ctx, const struct bert *b, struct bert_batch *w);
