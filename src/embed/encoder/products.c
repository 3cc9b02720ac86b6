/* products.c - sums of products of bytes: with AVX-512 VNNI, with AVX2, and for every processor. */
#include "embed/encoder/products.h"

#include <assert.h>

#include "embed/common/wide.h"

/*
 * All three give the same integers; the tests compare them. Each goes through a tile of a few
 * tokens by some outputs: it loads a row of weights once for all its tokens, and repeats four
 * values of a token in all lanes. The sums of a group begin with what PRODUCT_OFFSET adds,
 * subtracted. They fit into 16 bits, so they are widened and scaled once a group. A block of
 * weights stays in the cache while all tokens pass.
 */

/* Half a block of outputs; scales of a block and group; the lower half of a byte. */
enum { HALF = PRODUCT_ROWS / 2, SCALES = 2 * PRODUCT_ROWS, LOW = 15 };

/* Tokens of a tile: as many as the registers hold. */
enum { PLAIN_TOKENS = 2, AVX2_TOKENS = 4, VNNI_TOKENS = 6 };

/* The tokens of the next tile. Tiles of nearly equal size cost least: with most 6, 14 tokens are 5,
 * 5 and 4, because a tile of 2 costs more than a third of one of 6. */
static inline size_t tile_size(size_t left, size_t most)
{
    size_t tiles = (left + most - 1) / most;
    return (left + tiles - 1) / tiles;
}

static inline struct product_values values_from(const struct product *p, struct product_values x,
                                                size_t token)
{
    return (struct product_values){x.bytes + token * p->inputs,
                                   x.offsets + 2 * token * (p->inputs / PRODUCT_GROUP)};
}

/* What the sums of a token begin with, in the group that begins with an input: two numbers of 16
 * bits. */
INLINE int32_t offsets_of(const struct product *p, struct product_values x, size_t token,
                          size_t input)
{
    return four_of(x.offsets + 2 * (token * p->inputs + input) / PRODUCT_GROUP);
}

/* --- every processor --- */

typedef int16_t shorts __attribute__((vector_size(16), may_alias));
typedef uint16_t wrapping __attribute__((vector_size(16), may_alias));
typedef int32_t ints __attribute__((vector_size(16), aligned(4), may_alias));

/* Each lane of 16 bits holds two weights of an output in the lower halves of its bytes, and two of
 * another in the upper ones. Their products with two values add up in it. */
INLINE void add_step(const uint8_t *w, const int8_t *x, wrapping *lower, wrapping *upper)
{
    shorts same = (shorts)((ints){0} + four_of(x));
    wrapping row, first = (wrapping)(same << 8 >> 8), second = (wrapping)(same >> 8);
    memcpy(&row, w, sizeof row);
    *lower += (row & LOW) * first + (row >> 8 & LOW) * second;
    *upper += (row >> 4 & LOW) * first + (row >> 12) * second;
}

/* Four outputs from o on, and those half a block later. */
INLINE void plain_tile(const struct product *p, size_t o, struct product_values x, size_t tokens,
                       int32_t *out)
{
    const uint8_t *w = p->weights + product_place(p->inputs, o, 0);
    const int16_t *scales = p->scales + product_scale_place(p->inputs, o, 0);
    ints sum[PLAIN_TOKENS][2] = {0};
    for (size_t g = 0; g < p->inputs; g += PRODUCT_GROUP, scales += SCALES) {
        wrapping part[PLAIN_TOKENS][2];
        EACH(t, tokens)
        part[t][0] = part[t][1] = (wrapping)((ints){0} + offsets_of(p, x, t, g));
        for (size_t i = 0; i < PRODUCT_GROUP; i += PRODUCT_STEP, w += PRODUCT_ROW)
            EACH(t, tokens)
        add_step(w, x.bytes + t * p->inputs + g + i, &part[t][0], &part[t][1]);
        EACH(l, 2)
        EACH(t, tokens)
        {
            ints two = (ints)part[t][l], by = *(const ints *)(scales + l * PRODUCT_ROWS) >> 16;
            sum[t][l] += ((two << 16 >> 16) + (two >> 16)) * by;
        }
    }
    EACH(t, tokens)
    EACH(l, 2)
    *(ints *)(out + t * p->outputs + o + l * HALF) = sum[t][l];
}

void product_plain(const struct product *p, struct product_values x, size_t n, int32_t *out)
{
    for (size_t o = 0; o < p->outputs; o += o % HALF == HALF - 4 ? HALF + 4 : 4) {
        size_t t = 0;
        for (; t + PLAIN_TOKENS <= n; t += PLAIN_TOKENS)
            plain_tile(p, o, values_from(p, x, t), PLAIN_TOKENS, out + t * p->outputs);
        if (t < n)
            plain_tile(p, o, values_from(p, x, t), 1, out + t * p->outputs);
    }
}

#ifdef __x86_64__
#include <immintrin.h>

/* --- AVX2 --- */

/* Eight outputs from o on, and those half a block later. maddubs multiplies bytes without and with
 * a sign, and adds pairs in 16 bits; madd multiplies by the scale, and adds pairs in 32 bits. */
AVX2 INLINE void avx2_tile(const struct product *p, size_t o, struct product_values x,
                           size_t tokens, int32_t *out)
{
    const __m256i low = _mm256_set1_epi8(LOW);
    const uint8_t *w = p->weights + product_place(p->inputs, o, 0);
    const int16_t *scales = p->scales + product_scale_place(p->inputs, o, 0);
    __m256i sum[AVX2_TOKENS][2] = {0};
    for (size_t g = 0; g < p->inputs; g += PRODUCT_GROUP, scales += SCALES) {
        __m256i part[AVX2_TOKENS][2];
        EACH(t, tokens)
        part[t][0] = part[t][1] = _mm256_set1_epi32(offsets_of(p, x, t, g));
        EACH(i, PRODUCT_GROUP / PRODUCT_STEP)
        {
            __m256i row = _mm256_loadu_si256((const __m256i *)(w + i * PRODUCT_ROW));
            __m256i lower = _mm256_and_si256(row, low);
            __m256i upper = _mm256_and_si256(_mm256_srli_epi16(row, 4), low);
            EACH(t, tokens)
            {
                const int8_t *at = x.bytes + t * p->inputs + g + i * PRODUCT_STEP;
                __m256i v = _mm256_set1_epi32(four_of(at));
                part[t][0] = _mm256_add_epi16(part[t][0], _mm256_maddubs_epi16(lower, v));
                part[t][1] = _mm256_add_epi16(part[t][1], _mm256_maddubs_epi16(upper, v));
                /* Else gcc 12 adds up at the end of the group, and the registers do not suffice. */
                __asm__("" : "+x"(part[t][0]), "+x"(part[t][1]));
            }
        }
        w += PRODUCT_GROUP / PRODUCT_STEP * PRODUCT_ROW;
        EACH(l, 2)
        {
            __m256i by = _mm256_loadu_si256((const __m256i *)(scales + l * PRODUCT_ROWS));
            EACH(t, tokens)
            sum[t][l] = _mm256_add_epi32(sum[t][l], _mm256_madd_epi16(part[t][l], by));
        }
    }
    EACH(t, tokens)
    EACH(l, 2)
    _mm256_storeu_si256((__m256i *)(out + t * p->outputs + o + l * HALF), sum[t][l]);
}

/* The number of tokens of a tile is a constant in each case, so that its loops can be unrolled. */
AVX2 static void avx2_block(const struct product *p, size_t o, struct product_values x,
                            size_t tokens, int32_t *out)
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

AVX2 void product_avx2(const struct product *p, struct product_values x, size_t n, int32_t *out)
{
    for (size_t o = 0; o < p->outputs; o += o % PRODUCT_ROWS ? HALF + 8 : 8) {
        for (size_t t = 0, tokens; t < n; t += tokens) {
            tokens = tile_size(n - t, AVX2_TOKENS);
            avx2_block(p, o, values_from(p, x, t), tokens, out + t * p->outputs);
        }
    }
}

/* --- AVX-512 VNNI --- */

/* A block of outputs. dpbusd adds four products in 32 bits at once. The sums of a group fit into
 * 16, so madd multiplies them by the scale where the upper halves of the scales are 0. */
VNNI INLINE void vnni_tile(const struct product *p, size_t o, struct product_values x,
                           size_t tokens, int32_t *out)
{
    const __m512i low = _mm512_set1_epi8(LOW), one_of_two = _mm512_set1_epi32(UINT16_MAX);
    const uint8_t *w = p->weights + product_place(p->inputs, o, 0);
    const int16_t *scales = p->scales + product_scale_place(p->inputs, o, 0);
    __m512i sum[VNNI_TOKENS][2];
    EACH(t, tokens)
    sum[t][0] = sum[t][1] = _mm512_setzero_si512();
    for (size_t g = 0; g < p->inputs; g += PRODUCT_GROUP, scales += SCALES) {
        __m512i part[VNNI_TOKENS][2];
        EACH(t, tokens)
        {
            int32_t two = offsets_of(p, x, t, g);
            part[t][0] = part[t][1] = _mm512_set1_epi32((int16_t)two + (two >> 16));
        }
        for (size_t i = 0; i < PRODUCT_GROUP; i += PRODUCT_STEP, w += PRODUCT_ROW) {
            __m512i row = _mm512_loadu_si512(w);
            __m512i lower = _mm512_and_si512(row, low);
            __m512i upper = _mm512_and_si512(_mm512_srli_epi16(row, 4), low);
            EACH(t, tokens)
            {
                __m512i v = _mm512_set1_epi32(four_of(x.bytes + t * p->inputs + g + i));
                part[t][0] = _mm512_dpbusd_epi32(part[t][0], lower, v);
                part[t][1] = _mm512_dpbusd_epi32(part[t][1], upper, v);
            }
        }
        EACH(l, 2)
        {
            __m512i by = _mm512_loadu_si512(scales + l * PRODUCT_ROWS);
            by = _mm512_and_si512(by, one_of_two);
            EACH(t, tokens)
            sum[t][l] = _mm512_add_epi32(sum[t][l], _mm512_madd_epi16(part[t][l], by));
        }
    }
    EACH(t, tokens)
    EACH(l, 2)
    _mm512_storeu_si512(out + t * p->outputs + o + l * HALF, sum[t][l]);
}

VNNI static void vnni_block(const struct product *p, size_t o, struct product_values x,
                            size_t tokens, int32_t *out)
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

VNNI void product_vnni(const struct product *p, struct product_values x, size_t n, int32_t *out)
{
    for (size_t o = 0; o < p->outputs; o += PRODUCT_ROWS) {
        for (size_t t = 0, tokens; t < n; t += tokens) {
            tokens = tile_size(n - t, VNNI_TOKENS);
            vnni_block(p, o, values_from(p, x, t), tokens, out + t * p->outputs);
        }
    }
}
#endif
