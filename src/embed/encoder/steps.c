/* steps.c - scales, attention and projection in f32, written once, built per processor. */
#include "embed/encoder/steps.h"

#include <math.h>

#include "embed/common/wide.h"

/*
 * As in common/kernels.c, each body is inlined into one function per instruction set. No set has
 * fused multiply-add, and sums are made of the same eight lanes in the same order. So a vector does
 * not depend on the processor that made it.
 */

enum { QKV = 3 * ENCODER_HIDDEN, ROWS = 4 };

INLINE float greatest_of(const wide *v, size_t n)
{
    const wide_int sign = (wide_int){0} + INT32_MAX;
    wide most = {0};
    for (size_t i = 0; i < n / WIDE; i++) {
        wide x = (wide)((wide_int)v[i] & sign);
        wide_int over = x > most;
        most = (wide)(((wide_int)x & over) | ((wide_int)most & ~over));
    }
    float greatest = 0;
    for (int i = 0; i < WIDE; i++)
        greatest = most[i] > greatest ? most[i] : greatest;
    return greatest;
}

/* Adding the magic number rounds to a whole one, ties to even, which then is in the low bits. A row
 * of zeros has the scale 0. */
INLINE void to_bytes_body(const float *v, size_t n, size_t wide_n, uint8_t *out, float *scales)
{
    const float magic = 0x1.8p23F + PRODUCT_OFFSET;
    for (size_t r = 0; r < n; r++, v += wide_n, out += wide_n) {
        float greatest = greatest_of((const wide *)v, wide_n);
        float by = greatest > 0 ? 127 / greatest : 0;
        scales[r] = greatest / 127;
        for (size_t i = 0; i < wide_n; i += WIDE) {
            wide x = *(const wide *)(v + i) * by + magic;
            for (int k = 0; k < WIDE; k++)
                out[i + (size_t)k] = (uint8_t)((wide_int)x)[k];
        }
    }
}

INLINE void to_floats_body(void *v, size_t n, size_t wide_n, const float *rows,
                           const float *columns)
{
    float *at = v;
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < wide_n; i += WIDE, at += WIDE)
            *(wide *)at = __builtin_convertvector(*(wide_int *)at, wide) *
                          (*(const wide *)(columns + i) * rows[r]);
}

/* One head's keys, with a row for each dimension, and its values. Copied, since neighbouring tokens
 * of qkv are so far apart that they would push each other out of the cache. */
struct head {
    size_t n, step; /* tokens; the same rounded up */
    float *keys;    /* rows of step floats; those past n are 0 */
    float *values;  /* rows of ENCODER_HEAD floats */
    float *scores;  /* ROWS rows of step floats */
};

INLINE void copy_head(const float *qkv, const struct head *h)
{
    const float *keys = qkv + ENCODER_HIDDEN, *values = keys + ENCODER_HIDDEN;
    for (size_t d = 0; d < ENCODER_HEAD; d++)
        for (size_t j = 0; j < h->step; j++)
            h->keys[d * h->step + j] = j < h->n ? keys[j * QKV + d] : 0;
    for (size_t j = 0; j < h->n; j++)
        memcpy(h->values + j * ENCODER_HEAD, values + j * QKV, ENCODER_HEAD * sizeof *values);
}

/* Scores of ROWS queries with all keys. */
INLINE void score_rows(const float *const *queries, const struct head *h)
{
    for (size_t j = 0; j < h->step; j += 2 * WIDE) {
        wide sum[ROWS][2] = {0};
        for (size_t d = 0; d < ENCODER_HEAD; d++) {
            const wide *k = (const wide *)(h->keys + d * h->step + j);
            EACH(r, ROWS)
            {
                sum[r][0] += k[0] * queries[r][d];
                sum[r][1] += k[1] * queries[r][d];
            }
        }
        EACH(r, ROWS)
        {
            *(wide *)(h->scores + r * h->step + j) = sum[r][0];
            *(wide *)(h->scores + r * h->step + j + WIDE) = sum[r][1];
        }
    }
}

/* The values, weighted by two rows of scores. */
INLINE void mix_values(const struct head *h, const float *a, const float *b, wide *out_a,
                       wide *out_b)
{
    enum { LANES = ENCODER_HEAD / WIDE };
    wide sum[2][LANES] = {0};
    for (size_t j = 0; j < h->n; j++) {
        const wide *v = (const wide *)(h->values + j * ENCODER_HEAD);
        EACH(l, LANES)
        {
            sum[0][l] += v[l] * a[j];
            sum[1][l] += v[l] * b[j];
        }
    }
    EACH(l, LANES)
    {
        out_a[l] = sum[0][l];
        out_b[l] = sum[1][l];
    }
}

/* Query i and the next ones of a head. Past the end, the last one is computed again. */
INLINE void attend_rows(const struct kernels *k, const float *qkv, const struct head *h, size_t i,
                        float *out)
{
    const float *queries[ROWS];
    wide *to[ROWS];
    for (size_t r = 0; r < ROWS; r++) {
        size_t at = i + r < h->n ? i + r : h->n - 1;
        queries[r] = qkv + at * QKV;
        to[r] = (wide *)(out + at * ENCODER_HIDDEN);
    }
    score_rows(queries, h);
    for (size_t r = 0; r < ROWS; r++) {
        float *scores = h->scores + r * h->step;
        for (size_t j = h->n; j < h->step; j++)
            scores[j] = -INFINITY;
        k->softmax(scores, 1 / sqrtf(ENCODER_HEAD), h->step);
    }
    for (size_t r = 0; r < ROWS; r += 2)
        mix_values(h, h->scores + r * h->step, h->scores + (r + 1) * h->step, to[r], to[r + 1]);
}

INLINE void attend_body(const struct kernels *k, const float *qkv, size_t n, float *room,
                        float *out)
{
    struct head h = {.n = n, .step = (n + 2 * WIDE - 1) / (2 * WIDE) * (2 * WIDE)};
    assert(h.step <= STEPS_TOKENS_MAX);
    h.keys = room;
    h.values = h.keys + ENCODER_HEAD * h.step;
    h.scores = h.values + ENCODER_HEAD * h.step;
    for (size_t i = 0; i < ENCODER_HEADS; i++, qkv += ENCODER_HEAD, out += ENCODER_HEAD) {
        copy_head(qkv, &h);
        for (size_t j = 0; j < n; j += ROWS)
            attend_rows(k, qkv, &h, j, out);
    }
}

INLINE void project_body(const float *directions, const float *v, float *out)
{
    enum { LANES = 8 };
    for (size_t o = 0; o < ENCODER_SPACE; o += LANES * WIDE) {
        wide sum[LANES] = {0};
        for (size_t i = 0; i < ENCODER_HIDDEN; i++)
            EACH(l, LANES)
        sum[l] += ((const wide *)(directions + i * ENCODER_SPACE + o))[l] * v[i];
        EACH(l, LANES)
        ((wide *)(out + o))[l] = sum[l];
    }
}

/* One set from the bodies above, for processors with the features in TARGET. */
#define STEPS(SET, BETWEEN, TARGET)                                                                \
    BUILD(TARGET, to_bytes, SET,                                                                   \
          (const float *v, size_t n, size_t wide_n, uint8_t *out, float *scales), v, n, wide_n,    \
          out, scales)                                                                             \
    BUILD(TARGET, to_floats, SET,                                                                  \
          (void *v, size_t n, size_t wide_n, const float *rows, const float *columns), v, n,       \
          wide_n, rows, columns)                                                                   \
    BUILD(TARGET, attend, SET, (const float *qkv, size_t n, float *room, float *out), BETWEEN(),   \
          qkv, n, room, out)                                                                       \
    BUILD(TARGET, project, SET, (const float *directions, const float *v, float *out), directions, \
          v, out)                                                                                  \
    static const struct steps steps_##SET = {to_bytes_##SET, to_floats_##SET, attend_##SET,        \
                                             project_##SET, BETWEEN};

STEPS(plain, kernels_plain, )

static bool runs_everywhere(void)
{
    return true;
}

#ifdef __x86_64__
STEPS(avx2, kernels_exact, AVX2)

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

static bool has_vnni(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vnni");
}
#endif

const struct encoder_kernels encoder_kernels[] = {
#ifdef __x86_64__
    {"AVX-512 VNNI", has_vnni, product_vnni, &steps_avx2, likeness_vnni},
    {"AVX2", has_avx2, product_avx2, &steps_avx2, likeness_avx2},
#endif
    {"plain C", runs_everywhere, product_plain, &steps_plain, likeness_plain},
    {0},
};

const struct encoder_kernels *encoder_kernels_best(void)
{
    const struct encoder_kernels *k = encoder_kernels;
    while (!k->can_run())
        k++;
    return k;
}
