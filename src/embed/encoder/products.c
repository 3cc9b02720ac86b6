/* products.c - sums of 8-bit products: with AVX-512 VNNI, with AVX2, and for every processor. */
#include "embed/encoder/products.h"

#include <assert.h>
#include <string.h>

#include "embed/wide.h"

/*
 * All three give the same integers; the tests compare them. Each keeps a tile of sums in registers:
 * a few tokens by 16 or 64 outputs. It loads the weights of PRODUCT_STEP inputs once for all tokens
 * of the tile, and repeats four values of a token in all lanes. A block of weights stays in the
 * cache while all tokens pass.
 */

/* Four neighbouring values as one number. */
INLINE int32_t four_of(const void *p)
{
    int32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* --- every processor --- */

typedef int16_t eight_short __attribute__((vector_size(16), may_alias));
typedef int32_t four_int __attribute__((vector_size(16), aligned(4), may_alias));

/* A pair of bytes in each lane becomes two lanes. */
INLINE void split_bytes(eight_short *pairs, eight_short *first, eight_short *second)
{
    *first = *pairs << 8 >> 8;
    *second = *pairs >> 8;
}

enum { PLAIN_TOKENS = 2, PLAIN_LANES = 4, PLAIN_OUTPUTS = 16 };

/* Two products fit into 16 bits: 2 * 127 * 127 < 2^15. */
INLINE void plain_tile(const int8_t *w, size_t inputs, const int8_t *x, size_t tokens, int32_t *out,
                       size_t step)
{
    four_int sum[PLAIN_TOKENS][PLAIN_LANES] = {0};
    for (size_t i = 0; i < inputs; i += PRODUCT_STEP, w += PRODUCT_STEP * PRODUCT_ROWS) {
        eight_short x1[PLAIN_TOKENS], x2[PLAIN_TOKENS];
        EACH(t, tokens)
        {
            four_int same = (four_int){0} + four_of(x + t * inputs + i);
            split_bytes((eight_short *)&same, &x1[t], &x2[t]);
        }
        EACH(l, PLAIN_LANES)
        {
            eight_short bytes, w1, w2;
            memcpy(&bytes, w + l * sizeof bytes, sizeof bytes);
            split_bytes(&bytes, &w1, &w2);
            EACH(t, tokens)
            {
                eight_short products = w1 * x1[t] + w2 * x2[t];
                four_int pairs = (four_int)products;
                sum[t][l] += (pairs << 16 >> 16) + (pairs >> 16);
            }
        }
    }
    EACH(t, tokens)
    EACH(l, PLAIN_LANES)
    memcpy(out + t * step + l * PLAIN_LANES, &sum[t][l], sizeof sum[t][l]);
}

void product_plain(const struct product *p, const int8_t *x, size_t n, int32_t *out)
{
    for (size_t o = 0; o < p->outputs; o += PLAIN_OUTPUTS) {
        const int8_t *w = p->weights + product_place(p->inputs, o, 0);
        size_t t = 0;
        for (; t + PLAIN_TOKENS <= n; t += PLAIN_TOKENS)
            plain_tile(w, p->inputs, x + t * p->inputs, PLAIN_TOKENS, out + t * p->outputs + o,
                       p->outputs);
        if (t < n)
            plain_tile(w, p->inputs, x + t * p->inputs, 1, out + t * p->outputs + o, p->outputs);
    }
}

#ifdef __x86_64__
#include <immintrin.h>

/* --- AVX2 --- */

#define AVX2 __attribute__((target("avx2")))

enum { AVX2_TOKENS = 4, AVX2_LANES = 2, AVX2_OUTPUTS = 16 };

/* maddubs multiplies unsigned by signed bytes and adds pairs in 16 bits. The sign of x moves to the
 * weight, so that both factors are at most 127 and a pair cannot overflow. */
AVX2 INLINE void avx2_tile(const int8_t *w, size_t inputs, const int8_t *x, size_t tokens,
                           int32_t *out, size_t step)
{
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i sum[AVX2_TOKENS][AVX2_LANES];
    EACH(t, tokens)
    EACH(l, AVX2_LANES)
    sum[t][l] = _mm256_setzero_si256();
    for (size_t i = 0; i < inputs; i += PRODUCT_STEP, w += PRODUCT_STEP * PRODUCT_ROWS) {
        __m256i w1 = _mm256_loadu_si256((const __m256i *)w);
        __m256i w2 = _mm256_loadu_si256((const __m256i *)w + 1);
        EACH(t, tokens)
        {
            __m256i v = _mm256_set1_epi32(four_of(x + t * inputs + i)), size = _mm256_abs_epi8(v);
            __m256i p1 = _mm256_maddubs_epi16(size, _mm256_sign_epi8(w1, v));
            __m256i p2 = _mm256_maddubs_epi16(size, _mm256_sign_epi8(w2, v));
            sum[t][0] = _mm256_add_epi32(sum[t][0], _mm256_madd_epi16(p1, ones));
            sum[t][1] = _mm256_add_epi32(sum[t][1], _mm256_madd_epi16(p2, ones));
        }
    }
    EACH(t, tokens)
    EACH(l, AVX2_LANES)
    _mm256_storeu_si256((__m256i *)(out + t * step) + l, sum[t][l]);
}

AVX2 void product_avx2(const struct product *p, const int8_t *x, size_t n, int32_t *out)
{
    size_t inputs = p->inputs, step = p->outputs;
    for (size_t o = 0; o < step; o += AVX2_OUTPUTS) {
        const int8_t *w = p->weights + product_place(inputs, o, 0);
        size_t t = 0;
        for (; t + AVX2_TOKENS <= n; t += AVX2_TOKENS)
            avx2_tile(w, inputs, x + t * inputs, AVX2_TOKENS, out + t * step + o, step);
        for (; t < n; t++)
            avx2_tile(w, inputs, x + t * inputs, 1, out + t * step + o, step);
    }
}

/* --- AVX-512 VNNI --- */

#define VNNI __attribute__((target("avx512f,avx512bw,avx512vnni")))

enum { VNNI_TOKENS = 6, VNNI_LANES = 4 };

/* dpbusd adds four products of unsigned and signed bytes in 32 bits. x is made unsigned by adding
 * 128; the sums start with what that adds, subtracted. */
VNNI INLINE void vnni_tile(const struct product *p, size_t o, const uint8_t *x, size_t tokens,
                           int32_t *out)
{
    const int8_t *w = p->weights + product_place(p->inputs, o, 0);
    __m512i sum[VNNI_TOKENS][VNNI_LANES];
    EACH(l, VNNI_LANES)
    {
        __m512i more = _mm512_slli_epi32(_mm512_loadu_si512(p->sums + o + 16 * l), 7);
        EACH(t, tokens)
        sum[t][l] = _mm512_sub_epi32(_mm512_setzero_si512(), more);
    }
    for (size_t i = 0; i < p->inputs; i += PRODUCT_STEP, w += PRODUCT_STEP * PRODUCT_ROWS) {
        __m512i lanes[VNNI_LANES];
        EACH(l, VNNI_LANES)
        lanes[l] = _mm512_loadu_si512(w + 64 * l);
        EACH(t, tokens)
        {
            __m512i v = _mm512_set1_epi32(four_of(x + t * PRODUCT_INPUTS_MAX + i));
            EACH(l, VNNI_LANES)
            sum[t][l] = _mm512_dpbusd_epi32(sum[t][l], v, lanes[l]);
        }
    }
    EACH(t, tokens)
    EACH(l, VNNI_LANES)
    _mm512_storeu_si512(out + t * p->outputs + o + 16 * l, sum[t][l]);
}

VNNI INLINE void add_128(const int8_t *x, size_t n, uint8_t *out)
{
    const __m512i high = _mm512_set1_epi8((char)0x80);
    for (size_t i = 0; i < n; i += 64)
        _mm512_storeu_si512(out + i, _mm512_xor_si512(_mm512_loadu_si512(x + i), high));
}

/* The number of tokens of a tile is a constant in each case, so that its loops can be unrolled. */
VNNI static void vnni_block(const struct product *p, size_t o, const uint8_t *x, size_t tokens,
                            int32_t *out)
{
    switch (tokens) {
    case 1:
        return vnni_tile(p, o, x, 1, out);
    case 2:
        return vnni_tile(p, o, x, 2, out);
    case 3:
        return vnni_tile(p, o, x, 3, out);
    case 4:
        return vnni_tile(p, o, x, 4, out);
    case 5:
        return vnni_tile(p, o, x, 5, out);
    default:
        assert(tokens == VNNI_TOKENS);
        return vnni_tile(p, o, x, VNNI_TOKENS, out);
    }
}

/* Tiles of nearly equal size: 14 tokens are 5, 5 and 4, because a tile of 2 costs half as much as
 * one of 6. */
VNNI void product_vnni(const struct product *p, const int8_t *x, size_t n, int32_t *out)
{
    assert(p->inputs % 64 == 0 && p->inputs <= PRODUCT_INPUTS_MAX);
    for (size_t o = 0; o < p->outputs; o += PRODUCT_ROWS) {
        size_t tiles = (n + VNNI_TOKENS - 1) / VNNI_TOKENS;
        for (size_t t = 0, tokens; t < n; t += tokens, tiles--) {
            uint8_t high[VNNI_TOKENS][PRODUCT_INPUTS_MAX];
            tokens = (n - t + tiles - 1) / tiles;
            for (size_t i = 0; i < tokens; i++)
                add_128(x + (t + i) * p->inputs, p->inputs, high[i]);
            vnni_block(p, o, high[0], tokens, out + t * p->outputs);
        }
    }
}
#endif
