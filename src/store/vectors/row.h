/* row.h - a vector as the bytes of a row. */
#pragma once

#include "base/str.h"

/* Both are multiples of the padding of rows of codes. */
enum { VECTOR_DIMENSIONS_MAX = 8192, VECTOR_LANES_MAX = VECTOR_DIMENSIONS_MAX };

/* Bytes of a row: a float32 each, or one float32 scale and an int8 each. */
size_t vector_row_size(size_t dimensions, bool is_int8);
/* False when v is not of length 1 (within 1 %). */
bool vector_row_write(const float *v, size_t dimensions, bool is_int8, void *out);
/* The reverse, of float32; false when the row is damaged: another length, or not of length 1. */
bool vector_row_read(str row, size_t dimensions, float *out);

/* Codes and scale, as a cache in memory holds them. False as above; room is for as many floats. */
bool vector_row_codes(str row, size_t dimensions, bool is_int8, float *room, int8_t *out,
                      float *scale);

/* The numbers from -127 to 127 nearest to v divided by the returned scale. */
float vector_codes(const float *v, size_t n, int8_t *out);
