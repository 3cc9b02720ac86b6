/* products.c - sums of products of bytes: with AVX-512 VNNI, with AVX2, and for every processor. */
#include "embed/encoder/products.h"

#include <assert.h>

#include "embed/common/wide.h"

/*
 * All three give the same integers; the tests compare them. Each keeps a tile of sums in registers:
 * a few tokens by 16 or 64 outputs. It loads the weights of PRODUCT_STEP inputs once for all tokens
 * of the tile, and repeats four values of a token in all lanes. A block of weights stays in the
 * cache while all tokens pass. Values are bytes without a sign, as the instructions want one
 * factor; the sums start with what the offset adds, subtracted.
 */

/* Tokens of a tile, and outputs of one: as many as the registers hold. */
enum { PLAIN_TOKENS = 2, AVX2_TOKENS = 4, VNNI_TOKENS = 6, OUTPUTS = 16 };

/* The tokens of the next tile. Tiles of nearly equal size cost least: with most 6, 14 tokens are 5,
 * 5 and 4, because a tile of 2 costs more than a third of one of 6. */
static inline size_t tile_size(size_t left, size_t most)
{
    size_t tiles = (left + most - 1) / most;
    return (left + tiles - 1) / tiles;
}

/* --- every processor --- */

typedef int16_t shorts __attribute__((vector_size(16), may_alias));
typedef int32_t ints __attribute__((vector_size(16), aligned(4), may_alias));

/* Lanes of 16 bits hold two weights and two values each: products of the first ones and of the
 * second ones add up in the lane. Neighbouring lanes then add up in 32 bits. */
INLINE void plain_tile(const struct product *p, size_t o, const uint8_t *x, size_t tokens,
                       int32_t *out)
{
    enum { LANES = 4 };
    const int8_t *w = p->weights + product_place(p->inputs, o, 0);
    ints sum[PLAIN_TOKENS][LANES];
    EACH(t, tokens)
    EACH(l, LANES)
    sum[t][l] = *(const ints *)(p->starts + o + 4 * l);
    for (size_t i = 0; i < p->inputs; i += PRODUCT_STEP, w += PRODUCT_STEP * PRODUCT_ROWS) {
        shorts x1[PLAIN_TOKENS], x2[PLAIN_TOKENS];
        EACH(t, tokens)
        {
            ints same = (ints){0} + four_of(x + t * p->inputs + i);
            x1[t] = (shorts)same & 255;
            x2[t] = (shorts)same >> 8 & 255;
        }
        EACH(l, LANES)
        {
            shorts pairs;
            memcpy(&pairs, w + l * sizeof pairs, sizeof pairs);
            shorts w1 = pairs << 8 >> 8, w2 = pairs >> 8;
            EACH(t, tokens)
            {
                ints products = (ints)(w1 * x1[t] + w2 * x2[t]);
                sum[t][l] += (products << 16 >> 16) + (products >> 16);
            }
        }
    }
    EACH(t, tokens)
    EACH(l, LANES)
    *(ints *)(out + t * p->outputs + o + 4 * l) = sum[t][l];
}

void product_plain(const struct product *p, const uint8_t *x, size_t n, int32_t *out)
{
    for (size_t o = 0; o < p->outputs; o += OUTPUTS) {
        size_t t = 0;
        for (; t + PLAIN_TOKENS <= n; t += PLAIN_TOKENS)
            plain_tile(p, o, x + t * p->inputs, PLAIN_TOKENS, out + t * p->outputs);
        if (t < n)
            plain_tile(p, o, x + t * p->inputs, 1, out + t * p->outputs);
    }
}

#ifdef __x86_64__
#include <immintrin.h>

/* --- AVX2 --- */

/* maddubs multiplies bytes without and with a sign, and adds pairs in 16 bits; madd with ones adds
 * pairs of those in 32 bits. */
AVX2 INLINE void avx2_tile(const struct product *p, size_t o, const uint8_t *x, size_t tokens,
                           int32_t *out)
{
    enum { LANES = 2 };
    const __m256i ones = _mm256_set1_epi16(1);
    const int8_t *w = p->weights + product_place(p->inputs, o, 0);
    __m256i sum[AVX2_TOKENS][LANES];
    EACH(t, tokens)
    EACH(l, LANES)
    sum[t][l] = _mm256_loadu_si256((const __m256i *)(p->starts + o) + l);
    for (size_t i = 0; i < p->inputs; i += PRODUCT_STEP, w += PRODUCT_STEP * PRODUCT_ROWS) {
        __m256i lanes[LANES];
        EACH(l, LANES)
        lanes[l] = _mm256_loadu_si256((const __m256i *)w + l);
        EACH(t, tokens)
        {
            __m256i v = _mm256_set1_epi32(four_of(x + t * p->inputs + i));
            EACH(l, LANES)
            {
                __m256i pairs = _mm256_maddubs_epi16(v, lanes[l]);
                sum[t][l] = _mm256_add_epi32(sum[t][l], _mm256_madd_epi16(pairs, ones));
            }
        }
    }
    EACH(t, tokens)
    EACH(l, LANES)
    _mm256_storeu_si256((__m256i *)(out + t * p->outputs + o) + l, sum[t][l]);
}

/* The number of tokens of a tile is a constant in each case, so that its loops can be unrolled. */
AVX2 static void avx2_block(const struct product *p, size_t o, const uint8_t *x, size_t tokens,
                            int32_t *out)
{
    switch (tokens) {
    case 1:
        return avx2_tile(p, o, x, 1, out);
    case 2:
        return avx2_tile(p, o, x, 2, out);
    case 3:
        return avx2_tile(p, o, x, 3, out);
    default:
        assert(tokens == AVX2_TOKENS);
        return avx2_tile(p, o, x, AVX2_TOKENS, out);
    }
}

AVX2 void product_avx2(const struct product *p, const uint8_t *x, size_t n, int32_t *out)
{
    for (size_t o = 0; o < p->outputs; o += OUTPUTS) {
        for (size_t t = 0, tokens; t < n; t += tokens) {
            tokens = tile_size(n - t, AVX2_TOKENS);
            avx2_block(p, o, x + t * p->inputs, tokens, out + t * p->outputs);
        }
    }
}

/* --- AVX-512 VNNI --- */

/* dpbusd adds four products in 32 bits at once. */
VNNI INLINE void vnni_tile(const struct product *p, size_t o, const uint8_t *x, size_t tokens,
                           int32_t *out)
{
    enum { LANES = 4 };
    const int8_t *w = p->weights + product_place(p->inputs, o, 0);
    __m512i sum[VNNI_TOKENS][LANES];
    EACH(t, tokens)
    EACH(l, LANES)
    sum[t][l] = _mm512_loadu_si512(p->starts + o + 16 * l);
    for (size_t i = 0; i < p->inputs; i += PRODUCT_STEP, w += PRODUCT_STEP * PRODUCT_ROWS) {
        __m512i lanes[LANES];
        EACH(l, LANES)
        lanes[l] = _mm512_loadu_si512(w + 64 * l);
        EACH(t, tokens)
        {
            __m512i v = _mm512_set1_epi32(four_of(x + t * p->inputs + i));
            EACH(l, LANES)
            sum[t][l] = _mm512_dpbusd_epi32(sum[t][l], v, lanes[l]);
        }
    }
    EACH(t, tokens)
    EACH(l, LANES)
    _mm512_storeu_si512(out + t * p->outputs + o + 16 * l, sum[t][l]);
}

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

VNNI void product_vnni(const struct product *p, const uint8_t *x, size_t n, int32_t *out)
{
    for (size_t o = 0; o < p->outputs; o += PRODUCT_ROWS) {
        for (size_t t = 0, tokens; t < n; t += tokens) {
            tokens = tile_size(n - t, VNNI_TOKENS);
            vnni_block(p, o, x + t * p->inputs, tokens, out + t * p->outputs);
        }
    }
}
#endif
