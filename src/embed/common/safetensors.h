/* safetensors.h - a file of named tensors, read into memory and checked before it is used. */
#pragma once

#include "base/ctx.h"

enum tensor_type { TENSOR_F32, TENSOR_F16, TENSOR_BF16, TENSOR_OTHER };
enum { TENSOR_DIMS_MAX = 8 };

struct tensor {
    str name;
    enum tensor_type type;
    size_t dims[TENSOR_DIMS_MAX], n_dims;
    size_t count; /* elements */
    const unsigned char *bytes;
    size_t at; /* offset among the data */
    size_t size;
};

struct safetensors {
    struct arena arena;
    struct tensor *v; /* in the order of their names */
    size_t n;
    void *memory; /* NULL: the caller owns the bytes */
    size_t memory_size;
};

/* BAD_INPUT: the file is malformed. Later changes of the file have no effect. */
MUST_USE enum status safetensors_open(struct ctx *ctx, const char *path, struct safetensors *out);
/* The same for bytes in memory, which must outlive the result. */
MUST_USE enum status safetensors_read(struct ctx *ctx, str bytes, struct safetensors *out);
/* Frees the memory of all tensors but one; the others must not be read again. */
void safetensors_keep(struct safetensors *s, const struct tensor *kept);
void safetensors_close(struct safetensors *s);

/* NULL: not found. */
const struct tensor *safetensors_find(const struct safetensors *s, str name);

/* n elements from one on, as floats; the type must not be TENSOR_OTHER. */
void tensor_floats(const struct tensor *t, size_t from, size_t n, float *out);
