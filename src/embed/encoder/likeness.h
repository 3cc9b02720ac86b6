/* likeness.h - the greatest products of a question's token vectors with those of a text. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The question's vectors lie in blocks of LIKENESS_TOKENS; in a block, four values of each token in
 * turn. So one instruction compares four values of a text's token with all tokens of a block. What
 * a block lacks is 0.
 */
enum { LIKENESS_TOKENS = 16, LIKENESS_STEP = 4 };

/* text: n vectors. best has LIKENESS_TOKENS sums for each block, which are raised. */
typedef void likeness_run(const int8_t *question, size_t blocks, const int8_t *text, size_t n,
                          int32_t *best);

likeness_run likeness_plain;
#ifdef __x86_64__
/* The processor must have AVX2, or AVX-512 with VNNI. */
likeness_run likeness_avx2, likeness_vnni;
#endif
