/* row.h - a vector as the bytes of a row. */
#pragma once

#include <stdint.h>

#include "base/str.h"

/* Both multiples of what rows of codes are padded to. */
enum { VECTOR_DIMENSIONS_MAX = 8192, VECTOR_LANES_MAX = VECTOR_DIMENSIONS_MAX };

/* The length of a row: float32 each, or a float32 to multiply with and int8 each. */
size_t vector_row_size(size_t dimensions, bool is_int8);
/* Writes it to out. False when v is not of length 1 (within 1 %). */
bool vector_row_write(const float *v, size_t dimensions, bool is_int8, void *out);
/* The other way; false when the row is damaged: another length, or not of length 1. */
bool vector_row_read(str row, size_t dimensions, bool is_int8, float *out);

/* What a copy in memory holds of it: codes and their scale. False as above; room is for as many
 * floats. */
bool vector_row_codes(str row, size_t dimensions, bool is_int8, float *room, int8_t *out,
                      float *scale);

/* The numbers from -127 to 127 nearest to v once divided by what is given back. */
float vector_codes(const float *v, size_t n, int8_t *out);
