/* kernels.h - the inner loops of a search among vectors, for the processor at hand. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * A row of codes is kept in two planes: the upper four bits of each code in one, the lower four in
 * the other, a code being -128 and what the two say. Half of CODE_LANES codes stand in the low
 * halves of as many bytes, the next half in the high halves. Rows are padded with codes of 0.
 */
enum { CODE_LANES = 64 };

static inline size_t vector_lanes(size_t dimensions)
{
    return (dimensions + CODE_LANES - 1) / CODE_LANES * CODE_LANES;
}

/*
 * The signs of codes are kept in blocks of SIGN_ROWS rows, so that one instruction looks up what
 * four lanes add in sixteen rows at once. A block has SIGN_STEP bytes for each four lanes; byte i
 * has the signs of row i in its low half and those of row i + SIGN_STEP in its high half, a bit for
 * each lane: 1 is negative.
 */
enum { SIGN_LANES = 4, SIGN_ROWS = 32, SIGN_STEP = SIGN_ROWS / 2, SIGN_MAX = 63 };

/* Bytes of a block. */
static inline size_t vector_sign_block(size_t lanes)
{
    return lanes / SIGN_LANES * SIGN_STEP;
}

/* The rows of some blocks, and for each four lanes a table: what each of 16 signs adds to the score
 * of a row, at most SIGN_MAX. The sum of the greatest must fit 16 bits. */
struct signs {
    const uint8_t *blocks, *tables;
    size_t lanes, n;
};

struct score {
    uint32_t row, score;
};

/* The rows of an upper plane, and what makes an estimate of a product: (product + offset) * scale
 * of the row. */
struct plane {
    const uint8_t *upper;
    const float *scales;
    size_t lanes, n;
    const int8_t *question;
    float offset;
};

struct estimate {
    uint32_t row;
    float value;
};

struct vector_kernels {
    /* The rows whose score is at least `least`; gives their number. */
    size_t (*scored)(const struct signs *s, uint16_t least, struct score *out);
    /* The rows whose estimate is over limit; gives their number. */
    size_t (*above)(const struct plane *p, float limit, struct estimate *out);
    /* The codes of a row. */
    void (*unpack)(const uint8_t *upper, const uint8_t *lower, size_t lanes, int16_t *out);
    int32_t (*product)(const int16_t *a, const int16_t *b, size_t lanes);
};

const struct vector_kernels *vector_kernels_best(void);
/* The one that runs everywhere, to test the other against. */
const struct vector_kernels *vector_kernels_plain(void);
