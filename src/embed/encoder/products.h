/* products.h - products of a matrix of 4-bit weights with vectors of bytes, exact. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * A weight is a number from -8 to 7, times an integer that its output has for PRODUCT_GROUP inputs.
 * A block of PRODUCT_ROWS outputs lies together: for each PRODUCT_STEP inputs in turn a row of
 * bytes. Their lower halves are weights of the first half of the outputs, the upper ones of the
 * rest, each with PRODUCT_OFFSET added.
 */
enum { PRODUCT_ROWS = 32, PRODUCT_STEP = 4, PRODUCT_GROUP = 32, PRODUCT_OFFSET = 8 };
/* Bytes of a row; the greatest scale, so that no sum over 1,536 inputs leaves 32 bits. */
enum { PRODUCT_ROW = PRODUCT_ROWS / 2 * PRODUCT_STEP, PRODUCT_SCALE = 1023 };

struct product {
    const uint8_t *weights;
    const int16_t *scales;  /* for each block and group those of all its outputs, each twice */
    size_t outputs, inputs; /* multiples of PRODUCT_ROWS and PRODUCT_GROUP */
};

/* Rows of values from -127 to 127, one for each token. */
struct product_values {
    int8_t *bytes;
    /* For each row and group two numbers: minus PRODUCT_OFFSET times the sum of the first two
     * values of every step, and of its last two. */
    int16_t *offsets;
};

/* The byte of a weight; it is the upper half of it where product_is_upper. */
static inline size_t product_place(size_t inputs, size_t output, size_t input)
{
    return (output / PRODUCT_ROWS * inputs + input) / PRODUCT_STEP * PRODUCT_ROW +
           output % (PRODUCT_ROWS / 2) * PRODUCT_STEP + input % PRODUCT_STEP;
}

static inline int product_is_upper(size_t output)
{
    return output % PRODUCT_ROWS >= PRODUCT_ROWS / 2;
}

/* Where the two scales of an output and a group begin. */
static inline size_t product_scale_place(size_t inputs, size_t output, size_t group)
{
    size_t groups = inputs / PRODUCT_GROUP;
    return 2 * ((output / PRODUCT_ROWS * groups + group) * PRODUCT_ROWS + output % PRODUCT_ROWS);
}

/* For n rows of x; out gets n rows of p->outputs. */
typedef void product_run(const struct product *p, struct product_values x, size_t n, int32_t *out);

product_run product_plain;
#ifdef __x86_64__
/* The processor must have AVX2, or AVX-512 with VNNI. */
product_run product_avx2, product_vnni;
#endif
