/* kernels.c - estimates from half codes and products of whole ones, plain and with AVX2. */
#include "store/vectors/kernels.h"

enum { HALF = CODE_LANES / 2 };

static int32_t estimate_row(const uint8_t *upper, const int8_t *question, size_t lanes)
{
    int32_t sum = 0;
    for (size_t i = 0; i < lanes; i += CODE_LANES, upper += HALF)
        for (size_t k = 0; k < HALF; k++)
            sum += (upper[k] & 15) * question[i + k] + (upper[k] >> 4) * question[i + HALF + k];
    return sum;
}

static size_t above_plain(const struct plane *p, float limit, struct estimate *out)
{
    size_t found = 0;
    for (size_t r = 0; r < p->n; r++) {
        int32_t sum = estimate_row(p->upper + r * p->lanes / 2, p->question, p->lanes);
        float value = ((float)sum + p->offset) * p->scales[r];
        if (value > limit)
            out[found++] = (struct estimate){(uint32_t)r, value};
    }
    return found;
}

static void unpack_plain(const uint8_t *upper, const uint8_t *lower, size_t lanes, int16_t *out)
{
    for (size_t i = 0; i < lanes; i += CODE_LANES, upper += HALF, lower += HALF) {
        for (size_t k = 0; k < HALF; k++) {
            out[i + k] = (int16_t)(((upper[k] & 15) << 4 | (lower[k] & 15)) - 128);
            out[i + HALF + k] = (int16_t)(((upper[k] & 0xF0) | lower[k] >> 4) - 128);
        }
    }
}

static int32_t product_plain(const int16_t *a, const int16_t *b, size_t lanes)
{
    int32_t sum = 0;
    for (size_t i = 0; i < lanes; i++)
        sum += a[i] * b[i];
    return sum;
}

static uint16_t score_row(const uint8_t *block, const uint8_t *tables, size_t lanes, size_t row)
{
    unsigned sum = 0, shift = row < SIGN_STEP ? 0 : 4;
    for (size_t i = 0; i < lanes / SIGN_LANES * SIGN_STEP; i += SIGN_STEP)
        sum += tables[i + (block[i + row % SIGN_STEP] >> shift & 15u)];
    return (uint16_t)sum;
}

static size_t scored_plain(const struct signs *s, uint16_t least, struct score *out)
{
    size_t found = 0;
    for (size_t r = 0; r < s->n; r++) {
        const uint8_t *block = s->blocks + r / SIGN_ROWS * vector_sign_block(s->lanes);
        uint16_t score = score_row(block, s->tables, s->lanes, r % SIGN_ROWS);
        if (score >= least)
            out[found++] = (struct score){(uint32_t)r, score};
    }
    return found;
}

static const struct vector_kernels plain = {scored_plain, above_plain, unpack_plain, product_plain};

const struct vector_kernels *vector_kernels_plain(void)
{
    return &plain;
}

#ifdef __x86_64__
#include <immintrin.h>

/*
 * Two implementations with equal results; the tests compare them. The scan is bound by memory,
 * which is why it reads the upper four bits of a code alone: half of the bytes of a whole row. A
 * code's upper half is unsigned (0 to 15) and the question's is signed, as the instruction maddubs
 * wants them.
 */

#define AVX2 __attribute__((target("avx2"), no_sanitize("thread")))
#define INLINE static inline __attribute__((always_inline))

/* Sums of sixteen bits hold this many codes of each place: 4 * 2 * 2 * 15 * 127 < 2^15. */
enum { SHORT_LANES = 4 * CODE_LANES };

AVX2 INLINE __m256i load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

/* The products of one row, spread over eight places. */
AVX2 INLINE __m256i row_sums(const uint8_t *upper, const int8_t *question, size_t lanes)
{
    /* madd with ones adds neighbouring 16-bit sums into 32 bits, before they can overflow. */
    const __m256i low = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
    __m256i all = _mm256_setzero_si256();
    for (size_t from = 0; from < lanes; from += SHORT_LANES) {
        size_t to = from + SHORT_LANES < lanes ? from + SHORT_LANES : lanes;
        __m256i sum = _mm256_setzero_si256();
        for (size_t i = from; i < to; i += CODE_LANES) {
            __m256i codes = load(upper + i / 2);
            __m256i first = _mm256_and_si256(codes, low);
            __m256i second = _mm256_and_si256(_mm256_srli_epi16(codes, 4), low);
            sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(first, load(question + i)));
            sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(second, load(question + i + HALF)));
        }
        all = _mm256_add_epi32(all, _mm256_madd_epi16(sum, ones));
    }
    return all;
}

/* Of the four rows from r on; a bit for each that is over the limit. Four rows at once, so that the
 * sums across lanes and the comparison are shared. */
AVX2 INLINE int four_above(const struct plane *p, size_t r, size_t lanes, float limit,
                           float value[4])
{
    const uint8_t *upper = p->upper + r * lanes / 2;
    __m256i a = row_sums(upper, p->question, lanes);
    __m256i b = row_sums(upper + lanes / 2, p->question, lanes);
    __m256i c = row_sums(upper + lanes, p->question, lanes);
    __m256i d = row_sums(upper + 3 * lanes / 2, p->question, lanes);
    __m256i all = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    __m128i sums = _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
    __m128 values = _mm_mul_ps(_mm_add_ps(_mm_cvtepi32_ps(sums), _mm_set1_ps(p->offset)),
                               _mm_loadu_ps(p->scales + r));
    _mm_storeu_ps(value, values);
    return _mm_movemask_ps(_mm_cmpgt_ps(values, _mm_set1_ps(limit)));
}

AVX2 INLINE size_t above_body(const struct plane *p, size_t lanes, float limit,
                              struct estimate *out)
{
    size_t found = 0, r = 0;
    for (; r + 4 <= p->n; r += 4) {
        float value[4];
        int over = four_above(p, r, lanes, limit, value);
        for (int k = 0; over; k++, over >>= 1)
            if (over & 1)
                out[found++] = (struct estimate){(uint32_t)(r + (size_t)k), value[k]};
    }
    struct plane rest = *p;
    /* The last rows, fewer than four, go the plain way; their numbers start from 0 there. */
    rest.upper += r * lanes / 2;
    rest.scales += r;
    rest.n -= r;
    size_t more = above_plain(&rest, limit, out + found);
    for (size_t i = found; i < found + more; i++)
        out[i].row += (uint32_t)r;
    return found + more;
}

/* A length that the compiler knows saves the inner loops. */
AVX2 static size_t above_avx2(const struct plane *p, float limit, struct estimate *out)
{
    if (p->lanes == SHORT_LANES)
        return above_body(p, SHORT_LANES, limit, out);
    return above_body(p, p->lanes, limit, out);
}

AVX2 INLINE void store_codes(__m256i bytes, int16_t *out)
{
    __m256i codes = _mm256_xor_si256(bytes, _mm256_set1_epi8((char)0x80));
    __m256i *to = (__m256i *)out;
    _mm256_storeu_si256(to, _mm256_cvtepi8_epi16(_mm256_castsi256_si128(codes)));
    _mm256_storeu_si256(to + 1, _mm256_cvtepi8_epi16(_mm256_extracti128_si256(codes, 1)));
}

AVX2 static void unpack_avx2(const uint8_t *upper, const uint8_t *lower, size_t lanes, int16_t *out)
{
    const __m256i low = _mm256_set1_epi8(15);
    for (size_t i = 0; i < lanes; i += CODE_LANES) {
        __m256i u = load(upper + i / 2), l = load(lower + i / 2);
        __m256i first = _mm256_slli_epi16(_mm256_and_si256(u, low), 4);
        __m256i second = _mm256_and_si256(_mm256_srli_epi16(l, 4), low);
        store_codes(_mm256_or_si256(first, _mm256_and_si256(l, low)), out + i);
        store_codes(_mm256_or_si256(_mm256_andnot_si256(low, u), second), out + i + HALF);
    }
}

AVX2 static int32_t product_avx2(const int16_t *a, const int16_t *b, size_t lanes)
{
    __m256i sum[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (size_t i = 0; i < lanes; i += 32) {
        sum[0] = _mm256_add_epi32(sum[0], _mm256_madd_epi16(load(a + i), load(b + i)));
        sum[1] = _mm256_add_epi32(sum[1], _mm256_madd_epi16(load(a + i + 16), load(b + i + 16)));
    }
    __m256i both = _mm256_add_epi32(sum[0], sum[1]);
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4E));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xB1));
    return _mm_cvtsi128_si32(s);
}

/* Sums of eight bits hold the scores of so many bytes of a table's row: 4 * SIGN_MAX < 2^8. */
enum { BYTE_STEPS = 4 * 2 * SIGN_STEP };

/* Adds what stands in two steps of lanes, of the same sixteen rows. */
AVX2 INLINE __m256i widen_sum(__m256i sum, __m256i bytes)
{
    __m256i even = _mm256_cvtepu8_epi16(_mm256_castsi256_si128(bytes));
    __m256i odd = _mm256_cvtepu8_epi16(_mm256_extracti128_si256(bytes, 1));
    return _mm256_add_epi16(sum, _mm256_add_epi16(even, odd));
}

/* The scores of a block: of the first sixteen rows, and of the others. */
AVX2 INLINE void score_block(const uint8_t *block, const uint8_t *tables, size_t size,
                             __m256i sum[2])
{
    const __m256i low = _mm256_set1_epi8(15);
    sum[0] = sum[1] = _mm256_setzero_si256();
    for (size_t from = 0; from < size; from += BYTE_STEPS) {
        __m256i first = _mm256_setzero_si256(), second = first;
        for (size_t i = from; i < from + BYTE_STEPS; i += 2 * SIGN_STEP) {
            __m256i signs = load(block + i), table = load(tables + i);
            __m256i high = _mm256_and_si256(_mm256_srli_epi16(signs, 4), low);
            signs = _mm256_and_si256(signs, low);
            first = _mm256_add_epi8(first, _mm256_shuffle_epi8(table, signs));
            second = _mm256_add_epi8(second, _mm256_shuffle_epi8(table, high));
        }
        sum[0] = widen_sum(sum[0], first);
        sum[1] = widen_sum(sum[1], second);
    }
}

/* Of the sixteen rows from r on those that are at least `least`; two bits of the mask are a row's.
 */
AVX2 INLINE size_t take_scored(__m256i sum, __m256i least, size_t r, size_t n, struct score *out)
{
    size_t found = 0;
    uint16_t scores[SIGN_STEP];
    __m256i is_over = _mm256_cmpeq_epi16(_mm256_max_epu16(sum, least), sum);
    unsigned over = (unsigned)_mm256_movemask_epi8(is_over) & 0x55555555u;
    if (!over)
        return 0;
    _mm256_storeu_si256((__m256i *)scores, sum);
    for (; over; over &= over - 1) {
        size_t k = (size_t)__builtin_ctz(over) / 2;
        if (r + k < n)
            out[found++] = (struct score){(uint32_t)(r + k), scores[k]};
    }
    return found;
}

AVX2 INLINE size_t scored_body(const struct signs *s, size_t size, uint16_t least,
                               struct score *out)
{
    const __m256i from = _mm256_set1_epi16((short)least);
    size_t found = 0;
    const uint8_t *block = s->blocks;
    for (size_t r = 0; r < s->n; r += SIGN_ROWS, block += size) {
        __m256i sum[2];
        score_block(block, s->tables, size, sum);
        found += take_scored(sum[0], from, r, s->n, out + found);
        found += take_scored(sum[1], from, r + SIGN_STEP, s->n, out + found);
    }
    return found;
}

AVX2 static size_t scored_avx2(const struct signs *s, uint16_t least, struct score *out)
{
    if (s->lanes == SHORT_LANES)
        return scored_body(s, SHORT_LANES / SIGN_LANES * SIGN_STEP, least, out);
    return scored_body(s, vector_sign_block(s->lanes), least, out);
}

static const struct vector_kernels avx2 = {scored_avx2, above_avx2, unpack_avx2, product_avx2};
#endif

const struct vector_kernels *vector_kernels_best(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        return &avx2;
#endif
    return &plain;
}
