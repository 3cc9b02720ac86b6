/* onednn.h - the matrix product of oneDNN, a shared library that the first transformer loads. */
#pragma once

#include "base/ctx.h"

/* What oneDNN 2 and 3 declare alike, so that a build needs no header of either. */
struct onednn {
    /* dnnl_sgemm: c = alpha * a * b + beta * c, by rows that are lda, ldb and ldc floats apart;
     * 'T' turns a matrix. Returns 0 when it succeeded. */
    int (*sgemm)(char turn_a, char turn_b, int64_t rows, int64_t columns, int64_t inner,
                 float alpha, const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                 float *c, int64_t ldc);
    /* omp_set_num_threads: how many threads a product of the calling thread may use. */
    void (*set_threads)(int n);
};

/* The file names of the library on Debian 13 and 12; NULL ends the list. */
extern const char *const onednn_names[];

/* The first library of names that is installed; UNSUPPORTED, with the package to install, when
 * there is none or it lacks a function. The library stays loaded until the process ends. */
MUST_USE enum status onednn_load(struct ctx *ctx, const char *const *names, struct onednn *out);
