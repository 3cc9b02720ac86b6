/* row.c - a vector as the bytes of a row: float32, or int8 with what to multiply them with. */
#include "store/vectors/row.h"

#include <math.h>

/*
 * The bytes of a row are those of the table vector. float32: the numbers as they are. int8: a float
 * scale, then one signed byte for each number; number = scale times byte. Scale is the greatest
 * magnitude divided by 127, so each vector uses the whole range of a byte (symmetric scalar
 * quantization). Numbers are in the machine's byte order.
 */

enum { CODE_MAX = 127 };

size_t vector_row_size(size_t dimensions, bool is_int8)
{
    return is_int8 ? sizeof(float) + dimensions : sizeof(float) * dimensions;
}

/* NaN fails this test, too. Every vector has length 1 when it is stored; a row that does not is
 * damaged. The margin covers the rounding of int8. */
static bool is_unit(const float *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)v[i] * (double)v[i];
    return fabs(sqrt(sum) - 1) <= 0.01;
}

float vector_codes(const float *v, size_t n, int8_t *out)
{
    float most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmaxf(most, fabsf(v[i]));
    float scale = most / CODE_MAX, by = most > 0 ? CODE_MAX / most : 0;
    for (size_t i = 0; i < n; i++)
        out[i] = (int8_t)lrintf(v[i] * by);
    return scale;
}

bool vector_row_write(const float *v, size_t dimensions, bool is_int8, void *out)
{
    assert(dimensions && dimensions <= VECTOR_DIMENSIONS_MAX);
    if (!is_unit(v, dimensions))
        return false;
    if (!is_int8) {
        memcpy(out, v, sizeof *v * dimensions);
        return true;
    }
    float scale = vector_codes(v, dimensions, (int8_t *)out + sizeof scale);
    memcpy(out, &scale, sizeof scale);
    return true;
}

bool vector_row_read(str row, size_t dimensions, float *out)
{
    if (row.n != vector_row_size(dimensions, false))
        return false;
    memcpy(out, row.p, row.n);
    return is_unit(out, dimensions);
}

bool vector_row_codes(str row, size_t dimensions, bool is_int8, float *room, int8_t *out,
                      float *scale)
{
    int32_t square = 0;
    if (!is_int8) {
        bool is_sound = vector_row_read(row, dimensions, room);
        if (is_sound)
            *scale = vector_codes(room, dimensions, out);
        return is_sound;
    }
    if (row.n != vector_row_size(dimensions, true))
        return false;
    memcpy(scale, row.p, sizeof *scale);
    memcpy(out, row.p + sizeof *scale, dimensions);
    for (size_t i = 0; i < dimensions; i++)
        square += out[i] * out[i];
    return fabs(sqrt((double)square) * (double)*scale - 1) <= 0.01;
}
