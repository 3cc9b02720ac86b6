/* kernels.h - the arithmetic of an encoder between matrix products, per processor. */
#pragma once

#include <stddef.h>

/* Arrays are rows of n floats, one after the other; n is a multiple of KERNEL_LANES. */
enum { KERNEL_LANES = 8 };

struct kernels {
    /* v += bias in every row. */
    void (*add_bias)(float *v, const float *bias, size_t rows, size_t n);
    /* v = gelu(v + bias), by the error function to 2e-7. */
    void (*gelu)(float *v, const float *bias, size_t rows, size_t n);
    /* v = softmax(v * scale) of one row. */
    void (*softmax)(float *v, float scale, size_t n);
    /* v = the normalised v + more + bias, times weight, plus shift; more and bias may be NULL. */
    void (*norm)(float *v, const float *more, const float *bias, const float *weight,
                 const float *shift, float epsilon, size_t rows, size_t n);
};

const struct kernels *kernels_best(void);
/* The set that runs on every processor; tests compare the others with it. */
const struct kernels *kernels_plain(void);
/* The fastest set whose results are those of the plain one, bit by bit. */
const struct kernels *kernels_exact(void);
