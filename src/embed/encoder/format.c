/* format.c - checks the encoder's file and finds its sections. */
#include "embed/encoder/format.h"

#include <sodium.h>

#include "embed/common/safetensors.h"
#include "embed/encoder/builtin.h"

enum { HEADER = 4096, VERSION = 1, SUM_AT = 32, SIZES_AT = 64, SECTIONS_AT = 128, NOTICE_AT = 512 };

enum section {
    VOCABULARY,
    CODES,
    CENTRES,
    POSITIONS,
    POSITION_SCALES,
    NIBBLES,
    SCALES,
    FLOATS,
    MEAN,
    DIRECTIONS,
    SECTIONS
};

enum { SMALL = 9 * ENCODER_HIDDEN + ENCODER_WIDE }; /* biases and norms of a layer */

static const uint32_t sizes[] = {
    ENCODER_LAYERS,    ENCODER_HIDDEN,     ENCODER_WIDE, ENCODER_HEADS,
    ENCODER_POSITIONS, ENCODER_VOCABULARY, ENCODER_PART, ENCODER_CODES,
    ENCODER_GROUP,     ENCODER_SPACE,      SECTIONS,
};

/* In bytes; 0: any. */
static const size_t section_sizes[SECTIONS] = {
    [CODES] = ENCODER_VOCABULARY * ENCODER_PARTS,
    [CENTRES] = 2 * ENCODER_CODES * ENCODER_HIDDEN,
    [POSITIONS] = ENCODER_POSITIONS * ENCODER_HIDDEN,
    [POSITION_SCALES] = 2 * ENCODER_POSITIONS,
    [NIBBLES] = ENCODER_LAYERS * ENCODER_LINEAR / 2,
    [SCALES] = 2 * ENCODER_LAYERS * ENCODER_LINEAR / ENCODER_GROUP,
    [FLOATS] = 2 * (2 * ENCODER_HIDDEN + ENCODER_LAYERS * SMALL),
    [MEAN] = 4 * ENCODER_HIDDEN,
    [DIRECTIONS] = 2 * ENCODER_SPACE * ENCODER_HIDDEN,
};

static uint64_t number_at(str bytes, size_t at, size_t n)
{
    uint64_t v = 0;
    while (n--)
        v = v << 8 | (unsigned char)bytes.p[at + n];
    return v;
}

static enum status check_header(struct ctx *ctx, str bytes)
{
    static const char magic[] = "ENCODER\n";
    unsigned char sum[32];
    if (bytes.n < HEADER || memcmp(bytes.p, magic, sizeof magic - 1) != 0)
        return fail(ctx, BAD_INPUT, "not an encoder's file");
    if (number_at(bytes, 8, 4) != VERSION || number_at(bytes, 12, 4) != HEADER)
        return fail(ctx, BAD_INPUT, "the encoder's file has the version %u; only %d is supported",
                    (unsigned)number_at(bytes, 8, 4), VERSION);
    if (number_at(bytes, 16, 8) != bytes.n)
        return fail(ctx, BAD_INPUT, "the encoder's file has %zu bytes, and should have %llu",
                    bytes.n, (unsigned long long)number_at(bytes, 16, 8));
    crypto_generichash(sum, sizeof sum, (const unsigned char *)bytes.p + SIZES_AT,
                       bytes.n - SIZES_AT, NULL, 0);
    if (memcmp(sum, bytes.p + SUM_AT, sizeof sum) != 0)
        return fail(ctx, BAD_INPUT, "the encoder's file does not match its checksum");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (number_at(bytes, SIZES_AT + 4 * i, 4) != sizes[i])
            return fail(ctx, BAD_INPUT, "the encoder's file holds a model of another shape");
    return OK;
}

static enum status find_section(struct ctx *ctx, str bytes, size_t no, str *out)
{
    uint64_t at = number_at(bytes, SECTIONS_AT + 16 * no, 8);
    uint64_t n = number_at(bytes, SECTIONS_AT + 16 * no + 8, 8);
    if (at > bytes.n || n > bytes.n - at || (section_sizes[no] && n != section_sizes[no]))
        return fail(ctx, BAD_INPUT, "section %zu of the encoder's file has a wrong place or size",
                    no);
    *out = str_sub(bytes, (size_t)at, (size_t)(at + n));
    return OK;
}

enum status encoder_file_read(struct ctx *ctx, str bytes, struct encoder_file *out)
{
    str s[SECTIONS];
    TRY(check_header(ctx, bytes));
    for (size_t i = 0; i < SECTIONS; i++)
        TRY(find_section(ctx, bytes, i, &s[i]));
    *out = (struct encoder_file){
        .notice = str_of(str_c(&ctx->arena, str_sub(bytes, NOTICE_AT, HEADER))),
        .vocabulary = s[VOCABULARY],
        .codes = (const uint8_t *)s[CODES].p,
        .centres = (const unsigned char *)s[CENTRES].p,
        .positions = (const int8_t *)s[POSITIONS].p,
        .position_scales = (const unsigned char *)s[POSITION_SCALES].p,
        .nibbles = (const uint8_t *)s[NIBBLES].p,
        .scales = (const unsigned char *)s[SCALES].p,
        .floats = (const unsigned char *)s[FLOATS].p,
        .mean = (const unsigned char *)s[MEAN].p,
        .directions = (const unsigned char *)s[DIRECTIONS].p,
    };
    return OK;
}

str encoder_builtin(void)
{
    return (str){encoder_bytes, (size_t)(encoder_bytes_end - encoder_bytes)};
}

void halves_read(const unsigned char *halves, size_t from, size_t n, float *out)
{
    const struct tensor t = {.type = TENSOR_F16, .bytes = halves, .count = from + n};
    tensor_floats(&t, from, n, out);
}
