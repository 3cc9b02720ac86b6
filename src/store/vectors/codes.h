/* codes.h - the vectors of one pool in memory, as int8 codes. */
#pragma once

#include "core/memory.h"

/* A vector is its codes times its scale. The signs, the upper and the lower four bits of all codes,
 * scales and documents are arrays of their own, so that a search reads only what it compares: 132
 * of about 310 bytes at 256 dimensions, and 32 in a large pool. */
struct codes {
    size_t dimensions;
    size_t lanes; /* of a row: dimensions, padded; each plane has half as many bytes */
    size_t n, cap;
    doc_id *docs;
    float *scales;
    uint8_t *upper, *lower;
    uint8_t *signs;  /* in blocks of rows, see kernels.h */
    uint32_t *slots; /* hash table: the row of a document plus one; 0 is free */
    size_t n_slots;  /* a power of two; at most half are taken */
};

/* Zeroed, with dimensions set by this, it is empty. */
void codes_begin(struct codes *c, size_t dimensions);
/* The content is overwritten before it is freed. NULL arrays are fine. */
void codes_free(struct codes *c);
size_t codes_bytes(const struct codes *c);

/* Room for n documents, when the number is known. */
void codes_reserve(struct codes *c, size_t n);
/* Sets the codes of a document; the padding behind them is zero. */
void codes_put(struct codes *c, doc_id doc, const int8_t *row, float scale);
void codes_remove(struct codes *c, doc_id doc);

/* Its row; SIZE_MAX: none. */
size_t codes_find(const struct codes *c, doc_id doc);

/* The codes of a row. */
void codes_row(const struct codes *c, size_t at, int16_t *out);
