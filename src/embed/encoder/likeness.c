/* likeness.c - compares tokens with tokens: with AVX-512 VNNI, with AVX2, and everywhere. */
#include "embed/encoder/likeness.h"

#include "embed/common/wide.h"
#include "embed/encoder.h"

/* Of a vector's values four at a time, so many times; bytes of the question for each. */
enum { STEPS = ENCODER_KEPT / LIKENESS_STEP, STRIDE = LIKENESS_TOKENS * LIKENESS_STEP };
enum { BLOCK = STEPS * STRIDE };

/* --- every processor --- */

static void plain_token(const int8_t *question, const int8_t *token, int32_t *best)
{
    int32_t sums[LIKENESS_TOKENS] = {0};
    for (size_t s = 0; s < STEPS; s++, question += STRIDE, token += LIKENESS_STEP)
        for (size_t q = 0; q < LIKENESS_TOKENS; q++)
            for (size_t i = 0; i < LIKENESS_STEP; i++)
                sums[q] += question[q * LIKENESS_STEP + i] * token[i];
    for (size_t q = 0; q < LIKENESS_TOKENS; q++)
        best[q] = sums[q] > best[q] ? sums[q] : best[q];
}

void likeness_plain(const int8_t *question, size_t blocks, const int8_t *text, size_t n,
                    int32_t *best)
{
    for (size_t b = 0; b < blocks; b++)
        for (size_t t = 0; t < n; t++)
            plain_token(question + b * BLOCK, text + t * ENCODER_KEPT, best + b * LIKENESS_TOKENS);
}

#ifdef __x86_64__
#include <immintrin.h>

/* --- AVX2 --- */

/* maddubs wants one factor without a sign: that of the text's value goes over to the question's.
 * Two products of at most 127 * 127 fit into 16 bits. */
AVX2 INLINE void avx2_token(const int8_t *question, const int8_t *token, __m256i best[2])
{
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i sums[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (size_t s = 0; s < STEPS; s++, question += STRIDE) {
        __m256i v = _mm256_set1_epi32(four_of(token + s * LIKENESS_STEP));
        __m256i size = _mm256_abs_epi8(v);
        EACH(half, 2)
        {
            __m256i q = _mm256_loadu_si256((const __m256i *)question + half);
            __m256i pairs = _mm256_maddubs_epi16(size, _mm256_sign_epi8(q, v));
            sums[half] = _mm256_add_epi32(sums[half], _mm256_madd_epi16(pairs, ones));
        }
    }
    EACH(half, 2)
    best[half] = _mm256_max_epi32(best[half], sums[half]);
}

AVX2 void likeness_avx2(const int8_t *question, size_t blocks, const int8_t *text, size_t n,
                        int32_t *best)
{
    for (size_t b = 0; b < blocks; b++) {
        __m256i *at = (__m256i *)(best + b * LIKENESS_TOKENS);
        __m256i all[2] = {_mm256_loadu_si256(at), _mm256_loadu_si256(at + 1)};
        for (size_t t = 0; t < n; t++)
            avx2_token(question + b * BLOCK, text + t * ENCODER_KEPT, all);
        _mm256_storeu_si256(at, all[0]);
        _mm256_storeu_si256(at + 1, all[1]);
    }
}

/* --- AVX-512 VNNI --- */

enum { AT_ONCE = 4 }; /* tokens, as one instruction waits for the one before */

/* -128 times the sum of a token's values, in all lanes: what the question's bytes, which go without
 * a sign, add too much. */
VNNI INLINE __m512i vnni_start(const int8_t *token)
{
    const __m512i offset = _mm512_set1_epi32((int32_t)0x80808080U);
    __m512i sums = _mm512_dpbusd_epi32(_mm512_setzero_si512(), offset, _mm512_loadu_si512(token));
    return _mm512_set1_epi32(-_mm512_reduce_add_epi32(sums));
}

/* The question stays in registers, and a text's values are repeated in all lanes as they are
 * loaded. */
VNNI void likeness_vnni(const int8_t *question, size_t blocks, const int8_t *text, size_t n,
                        int32_t *best)
{
    const __m512i flip = _mm512_set1_epi32((int32_t)0x80808080U);
    static_assert(ENCODER_KEPT == sizeof(__m512i), "a token fills a register");
    for (size_t b = 0; b < blocks; b++, question += BLOCK, best += LIKENESS_TOKENS) {
        __m512i q[STEPS], all = _mm512_loadu_si512(best);
        EACH(s, STEPS)
        q[s] = _mm512_xor_si512(_mm512_loadu_si512(question + s * STRIDE), flip);
        for (size_t t = 0; t < n; t += AT_ONCE) {
            const int8_t *at[AT_ONCE];
            __m512i sums[AT_ONCE];
            EACH(i, AT_ONCE)
            {
                at[i] = text + (t + i < n ? t + i : n - 1) * ENCODER_KEPT;
                sums[i] = vnni_start(at[i]);
            }
            EACH(s, STEPS)
            EACH(i, AT_ONCE)
            {
                __m512i v = _mm512_set1_epi32(four_of(at[i] + s * LIKENESS_STEP));
                sums[i] = _mm512_dpbusd_epi32(sums[i], q[s], v);
            }
            EACH(i, AT_ONCE)
            all = _mm512_max_epi32(all, sums[i]);
        }
        _mm512_storeu_si512(best, all);
    }
}
#endif
