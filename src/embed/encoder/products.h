/* products.h - products of a matrix of 7-bit weights with 8-bit vectors of tokens, exact. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * A block of PRODUCT_ROWS outputs lies together: for each PRODUCT_STEP inputs in turn, the weights
 * of every output. A weight is at most PRODUCT_WEIGHT: two products with bytes then fit into 16
 * bits, which AVX2 adds them in.
 */
enum { PRODUCT_ROWS = 64, PRODUCT_STEP = 4, PRODUCT_WEIGHT = 63 };

/* What is added to a value to make it a byte without a sign. */
enum { PRODUCT_OFFSET = 128 };

struct product {
    const int8_t *weights;
    const int32_t *starts;  /* of each output: minus PRODUCT_OFFSET times the sum of its weights */
    size_t outputs, inputs; /* multiples of PRODUCT_ROWS and PRODUCT_STEP */
};

/* Where the weight of an output and an input lies. */
static inline size_t product_place(size_t inputs, size_t output, size_t input)
{
    return (output / PRODUCT_ROWS * inputs + input / PRODUCT_STEP * PRODUCT_STEP) * PRODUCT_ROWS +
           output % PRODUCT_ROWS * PRODUCT_STEP + input % PRODUCT_STEP;
}

/* x holds n rows of p->inputs values, each with PRODUCT_OFFSET added; out gets n rows of
 * p->outputs. */
typedef void product_run(const struct product *p, const uint8_t *x, size_t n, int32_t *out);

product_run product_plain;
#ifdef __x86_64__
/* The processor must have AVX2, or AVX-512 with VNNI. */
product_run product_avx2, product_vnni;
#endif
