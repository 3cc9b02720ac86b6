/* gunzip.c - text out of a gzip file. */
#include "base/gunzip.h"

enum {
    CODE_BITS = 15, /* of the longest code */
    LITERALS = 286, /* bytes, the end of a block, and lengths */
    END_OF_BLOCK = 256,
    DISTANCES = 30,
    LENGTH_CODES = 19, /* of the code that describes the other two */
    HEADER = 10,
    TRAILER = 8,
};

struct bits {
    const uint8_t *p, *end;
    uint32_t held;
    unsigned n;      /* bits in held */
    bool is_damaged; /* sticky: reading goes on with zeros */
};

/* A canonical code: how many codes have each length, and the symbols in the order of codes. */
struct code {
    uint16_t count[CODE_BITS + 1];
    uint16_t symbols[LITERALS + 2];
};

static unsigned take_bits(struct bits *in, unsigned n)
{
    while (in->n < n) {
        if (in->p == in->end) {
            in->is_damaged = true;
            return 0;
        }
        in->held |= (uint32_t)*in->p++ << in->n;
        in->n += 8;
    }
    unsigned value = in->held & ((1u << n) - 1);
    in->held >>= n;
    in->n -= n;
    return value;
}

static struct code make_code(const uint8_t *lengths, size_t n)
{
    struct code code = {0};
    uint16_t next[CODE_BITS + 2] = {0};
    for (size_t i = 0; i < n; i++)
        code.count[lengths[i]]++;
    code.count[0] = 0;
    for (size_t length = 1; length <= CODE_BITS; length++)
        next[length + 1] = next[length] + code.count[length];
    for (size_t i = 0; i < n; i++)
        if (lengths[i])
            code.symbols[next[lengths[i]]++] = (uint16_t)i;
    return code;
}

/* Codes of one length are consecutive numbers, behind those of all shorter ones. */
static unsigned take_symbol(struct bits *in, const struct code *code)
{
    int value = 0, first = 0, index = 0;
    for (size_t length = 1; length <= CODE_BITS; length++) {
        value |= (int)take_bits(in, 1);
        int count = code->count[length];
        if (value - first < count)
            return code->symbols[index + value - first];
        index += count;
        first = (first + count) << 1;
        value <<= 1;
    }
    in->is_damaged = true;
    return END_OF_BLOCK;
}

static void copy_back(struct bits *in, struct buf *out, size_t start, size_t distance, size_t n)
{
    if (distance > out->n - start) {
        in->is_damaged = true;
        return;
    }
    for (; n && !out->full; n--)
        buf_byte(out, out->p[out->n - distance]);
}

static void coded_block(struct bits *in, struct buf *out, size_t start, const struct code *literals,
                        const struct code *distances)
{
    static const uint16_t lengths[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                       15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                       67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    while (!in->is_damaged && !out->full) {
        unsigned symbol = take_symbol(in, literals);
        if (symbol == END_OF_BLOCK)
            return;
        if (symbol < END_OF_BLOCK) {
            buf_byte(out, (char)symbol);
            continue;
        }
        size_t i = symbol - END_OF_BLOCK - 1;
        if (i >= sizeof length_bits)
            break;
        size_t n = lengths[i] + take_bits(in, length_bits[i]);
        unsigned far = take_symbol(in, distances), extra = far < 4 ? 0 : far / 2 - 1;
        if (far >= DISTANCES)
            break;
        size_t base = far < 4 ? far + 1 : ((size_t)(2 + far % 2) << extra) + 1;
        copy_back(in, out, start, base + take_bits(in, extra), n);
    }
    in->is_damaged = true;
}

static void fixed_block(struct bits *in, struct buf *out, size_t start)
{
    uint8_t lengths[LITERALS + 2];
    memset(lengths, 8, sizeof lengths);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    struct code literals = make_code(lengths, sizeof lengths);
    memset(lengths, 5, DISTANCES);
    struct code distances = make_code(lengths, DISTANCES);
    coded_block(in, out, start, &literals, &distances);
}

/* Lengths of codes are themselves coded: 16 repeats the last one, 17 and 18 repeat zero. */
static void dynamic_block(struct bits *in, struct buf *out, size_t start)
{
    static const uint8_t order[LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[LITERALS + DISTANCES + 4] = {0};
    size_t literals = take_bits(in, 5) + 257, distances = take_bits(in, 5) + 1;
    size_t n = take_bits(in, 4) + 4, all = literals + distances;
    for (size_t i = 0; i < n; i++)
        lengths[order[i]] = (uint8_t)take_bits(in, 3);
    struct code meta = make_code(lengths, LENGTH_CODES);
    memset(lengths, 0, sizeof lengths);
    in->is_damaged |= literals > LITERALS || distances > DISTANCES;
    for (size_t i = 0; i < all && !in->is_damaged;) {
        unsigned symbol = take_symbol(in, &meta);
        if (symbol < 16) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        unsigned kind = symbol - 16;
        size_t times = kind == 2   ? 11 + take_bits(in, 7)
                       : kind == 1 ? 3 + take_bits(in, 3)
                                   : 3 + take_bits(in, 2);
        in->is_damaged |= kind > 2 || (kind == 0 && !i) || i + times > all;
        for (; times && !in->is_damaged; times--, i++)
            lengths[i] = kind ? 0 : lengths[i - 1];
    }
    if (in->is_damaged)
        return;
    struct code first = make_code(lengths, literals),
                second = make_code(lengths + literals, distances);
    coded_block(in, out, start, &first, &second);
}

static void stored_block(struct bits *in, struct buf *out)
{
    in->held = in->n = 0; /* less than a byte is held: a block begins with 3 bits */
    size_t n = take_bits(in, 16);
    in->is_damaged |= take_bits(in, 16) != (~n & 0xffff) || n > (size_t)(in->end - in->p);
    if (in->is_damaged)
        return;
    buf_add(out, (str){(const char *)in->p, n});
    in->p += n;
}

bool gunzip(str packed, struct buf *out)
{
    const uint8_t *p = (const uint8_t *)packed.p;
    if (packed.n < HEADER + TRAILER || p[0] != 0x1f || p[1] != 0x8b || p[2] != 8 || p[3])
        return false;
    struct bits in = {p + HEADER, p + packed.n - TRAILER};
    size_t start = out->n;
    for (bool is_last = false; !is_last && !in.is_damaged && !out->full;) {
        is_last = take_bits(&in, 1);
        unsigned kind = take_bits(&in, 2);
        if (in.is_damaged)
            break;
        if (kind == 0)
            stored_block(&in, out);
        else if (kind == 1)
            fixed_block(&in, out, start);
        else if (kind == 2)
            dynamic_block(&in, out, start);
        else
            in.is_damaged = true;
    }
    return !in.is_damaged && !out->full;
}
