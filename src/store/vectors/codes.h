/* codes.h - the vectors of one pool in memory, as int8 codes. */
#pragma once

#include "core/memory.h"

/*
 * A vector is its codes times its scale. The upper four bits of all codes stand apart from the
 * lower four, and scales and documents in arrays of their own, so that a search reads nothing but
 * what it compares: about 280 bytes for 256 dimensions, of which it reads 132.
 */
struct codes {
    size_t dimensions;
    size_t lanes; /* of a row: dimensions, padded; each plane has half as many bytes */
    size_t n, cap;
    doc_id *docs;
    float *scales;
    uint8_t *upper, *lower;
    uint32_t *slots; /* where a document stands: its row and one, by hash; 0 is free */
    size_t n_slots;  /* a power of two */
};

/* All zero, with dimensions set by this, is empty. */
void codes_begin(struct codes *c, size_t dimensions);
/* What was held is overwritten, too. NULL arrays are fine. */
void codes_free(struct codes *c);
size_t codes_bytes(const struct codes *c);

/* Room for so many, when it is known. */
void codes_reserve(struct codes *c, size_t n);
/* The codes of a document, in place of what it had; zeros are behind them. */
void codes_put(struct codes *c, doc_id doc, const int8_t *row, float scale);
void codes_remove(struct codes *c, doc_id doc);

/* Where it stands; SIZE_MAX: nowhere. */
size_t codes_find(const struct codes *c, doc_id doc);

/* The codes of a row. */
void codes_row(const struct codes *c, size_t at, int16_t *out);
