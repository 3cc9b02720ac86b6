/* format.h - the encoder's file, which tools/make-encoder writes: what is where in it. */
#pragma once

#include "base/ctx.h"
#include "embed/encoder.h"

/* The sizes of the model. A file with others is refused. */
enum {
    ENCODER_LAYERS = 6,
    ENCODER_HIDDEN = 384,
    ENCODER_WIDE = 1536,
    ENCODER_HEADS = 12,
    ENCODER_HEAD = ENCODER_HIDDEN / ENCODER_HEADS,
    ENCODER_POSITIONS = 512,
    ENCODER_VOCABULARY = 32022,
    ENCODER_PART = 4, /* dimensions of a row of the embedding table that share a code */
    ENCODER_PARTS = ENCODER_HIDDEN / ENCODER_PART,
    ENCODER_CODES = 256,
    ENCODER_GROUP = 32, /* weights that share a scale */
    ENCODER_LINEAR =    /* weights of a layer */
    4 * ENCODER_HIDDEN * ENCODER_HIDDEN + 2 * ENCODER_HIDDEN * ENCODER_WIDE,
};

/*
 * All numbers are little-endian. A header of 4,096 bytes:
 *
 *   0    "ENCODER\n", the version (4 bytes), the size of the header (4), of the file (8)
 *   32   BLAKE2b-256 of everything from 64 on
 *   64   the sizes above and the number of sections, 4 bytes each
 *   128  offset and size of each section, 8 bytes each
 *   512  where the model came from, its licence and what was changed, as text
 *
 * Then the sections, each at a multiple of 64 bytes. Those of the layers are one layer after the
 * other; half is a float of 16 bits.
 */
struct encoder_file {
    str notice;
    str vocabulary;                       /* a token a line, in the order of their numbers */
    const uint8_t *codes;                 /* of each token: one for each part of its row */
    const unsigned char *centres;         /* halves: what the codes of each part mean */
    const int8_t *positions;              /* a row each, with the vector of token type 0 */
    const unsigned char *position_scales; /* halves: one for each row */
    const uint8_t *nibbles; /* weights of query, key and value, of what follows attention, of the
                               wide layer and of the one after it; two in a byte, the lower half
                               first, from -8 to 7; a row for each output */
    const unsigned char *scales; /* halves: of each group of those weights */
    const unsigned char *floats; /* halves: the first norm, then for each layer the biases and norms
                                    in the order of their use */
    const unsigned char *mean;   /* floats: of the token vectors */
    const unsigned char *directions; /* halves: a row for each dimension of the space */
};

/* The file in the binary. */
str encoder_builtin(void);

/* BAD_INPUT: the bytes are not such a file, or were changed. They must outlive the result. */
MUST_USE enum status encoder_file_read(struct ctx *ctx, str bytes, struct encoder_file *out);

/* Halves as floats, from the given one on. */
void halves_read(const unsigned char *halves, size_t from, size_t n, float *out);
