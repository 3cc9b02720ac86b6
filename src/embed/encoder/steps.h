/* steps.h - the steps of a layer between its integer products, and the sets of both. */
#pragma once

#include "embed/common/kernels.h"
#include "embed/encoder/format.h"
#include "embed/encoder/likeness.h"
#include "embed/encoder/products.h"

/* Tokens that attention can hold, and the floats that it needs beside its input and output. */
enum { STEPS_TOKENS_MAX = 192, STEPS_ROOM = (2 * ENCODER_HEAD + 4) * STEPS_TOKENS_MAX };

/* Every set gives the same floats, bit by bit, on processors of one architecture. */
struct steps {
    /* v, n rows of wide floats, as bytes for a product: each row times 127 over its greatest
     * magnitude, plus PRODUCT_OFFSET. scales gets what undoes the first. */
    void (*to_bytes)(const float *v, size_t n, size_t wide, uint8_t *out, float *scales);
    /* Sums of products to floats, in place: each times the scale of its row and its column. */
    void (*to_floats)(void *v, size_t n, size_t wide, const float *rows, const float *columns);
    /* Attention of n tokens with query, key and value each; room has STEPS_ROOM floats. */
    void (*attend)(const float *qkv, size_t n, float *room, float *out);
    /* out = the directions, side by side for each input, times v. */
    void (*project)(const float *directions, const float *v, float *out);
    const struct kernels *(*between)(void);
};

struct encoder_kernels {
    const char *name;
    bool (*can_run)(void);
    product_run *product;
    const struct steps *steps;
    likeness_run *likeness;
};

/* The fastest first; the last one runs everywhere, and a row without a name follows it. */
extern const struct encoder_kernels encoder_kernels[];
/* The first that runs here. */
const struct encoder_kernels *encoder_kernels_best(void);
