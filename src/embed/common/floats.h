/* floats.h - sums over arrays of floats, four at a time. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

typedef float four __attribute__((vector_size(16), aligned(4), may_alias));

static inline void floats_add(float *sum, const float *v, size_t n)
{
    size_t i = 0, fours = n / 4 * 4;
    for (; i < fours; i += 4)
        *(four *)(sum + i) += *(const four *)(v + i);
    for (; i < n; i++)
        sum[i] += v[i];
}

static inline void floats_scale(float *v, float by, size_t n)
{
    size_t i = 0, fours = n / 4 * 4;
    for (; i < fours; i += 4)
        *(four *)(v + i) *= by;
    for (; i < n; i++)
        v[i] *= by;
}

static inline float floats_dot(const float *a, const float *b, size_t n)
{
    four sum = {0};
    size_t i = 0, fours = n / 4 * 4;
    for (; i < fours; i += 4)
        sum += *(const four *)(a + i) * *(const four *)(b + i);
    float rest = sum[0] + sum[1] + sum[2] + sum[3];
    for (; i < n; i++)
        rest += a[i] * b[i];
    return rest;
}

/* Scales the vector to length 1; a zero vector stays zero. False: a value is NaN or infinite. */
static inline bool floats_unit(float *v, size_t n)
{
    float square = floats_dot(v, v, n);
    if (!isfinite(square))
        return false;
    if (square > 0)
        floats_scale(v, 1 / sqrtf(square), n);
    return true;
}
