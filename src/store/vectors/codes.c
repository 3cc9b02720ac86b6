/* codes.c - arrays of codes that grow, and the table that finds a document in them. */
#include "store/vectors/codes.h"

#include <sys/mman.h>

#include "store/vectors/kernels.h"

/* HUGE_PAGE is the size of a transparent huge page on x86-64; arrays under two of them stay with
 * malloc. */
enum { CAP_FIRST = 16, SLOTS_FIRST = 32, HUGE_PAGE = 2 << 20 };

void codes_begin(struct codes *c, size_t dimensions)
{
    *c = (struct codes){.dimensions = dimensions, .lanes = vector_lanes(dimensions)};
}

/* Of the signs of so many rows: whole blocks. */
static size_t sign_bytes(const struct codes *c, size_t rows)
{
    return (rows + SIGN_ROWS - 1) / SIGN_ROWS * vector_sign_block(c->lanes);
}

void codes_free(struct codes *c)
{
    if (c->cap) {
        explicit_bzero(c->signs, sign_bytes(c, c->cap));
        explicit_bzero(c->upper, c->cap * c->lanes / 2);
        explicit_bzero(c->lower, c->cap * c->lanes / 2);
    }
    free(c->docs);
    free(c->scales);
    free(c->upper);
    free(c->lower);
    free(c->signs);
    free(c->slots);
    codes_begin(c, c->dimensions);
}

size_t codes_bytes(const struct codes *c)
{
    size_t each = sizeof *c->docs + sizeof *c->scales + c->lanes;
    return c->cap * each + sign_bytes(c, c->cap) + c->n_slots * sizeof *c->slots;
}

/* --- finding a document --- */

/* Neighbours in a session get neighbouring slots. Eight consecutive documents share a run of slots,
 * so looking at the messages around a hit touches one or two cache lines. The multiplier is 2^64
 * divided by the golden ratio. */
static size_t home_slot(const struct codes *c, doc_id doc)
{
    uint64_t block = (uint64_t)doc >> 3;
    return ((block * 0x9E3779B97F4A7C15u >> 29 << 3) + ((uint64_t)doc & 7)) & (c->n_slots - 1);
}

/* The slot of a document, or the free one where it belongs. */
static size_t slot_of(const struct codes *c, doc_id doc)
{
    size_t at = home_slot(c, doc);
    while (c->slots[at] && c->docs[c->slots[at] - 1] != doc)
        at = (at + 1) & (c->n_slots - 1);
    return at;
}

size_t codes_find(const struct codes *c, doc_id doc)
{
    if (!c->n)
        return SIZE_MAX;
    uint32_t found = c->slots[slot_of(c, doc)];
    return found ? found - 1 : SIZE_MAX;
}

static void grow_slots(struct codes *c)
{
    c->n_slots = c->n_slots ? c->n_slots * 2 : SLOTS_FIRST;
    free(c->slots);
    c->slots = heap_alloc(c->n_slots * sizeof *c->slots);
    for (size_t i = 0; i < c->n; i++)
        c->slots[slot_of(c, c->docs[i])] = (uint32_t)i + 1;
}

/* What stands behind a slot that gets free moves up, or it would not be found any more. Deletion
 * from linear probing without tombstones (Knuth, The Art of Computer Programming 3, 6.4, algorithm
 * R): an entry moves into the gap unless its home lies behind the gap. */
static void free_slot(struct codes *c, size_t at)
{
    size_t mask = c->n_slots - 1;
    for (size_t next = (at + 1) & mask; c->slots[next]; next = (next + 1) & mask) {
        size_t from = home_slot(c, c->docs[c->slots[next] - 1]);
        if (((next - from) & mask) < ((next - at) & mask))
            continue;
        c->slots[at] = c->slots[next];
        at = next;
    }
    c->slots[at] = 0;
}

/* --- rows --- */

/* Huge pages: a scan over small ones takes half as long again. */
static void *grow_array(void *p, size_t used, size_t size)
{
    size_t whole = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *out = size < 2 * HUGE_PAGE ? NULL : aligned_alloc(HUGE_PAGE, whole);
    if (!out)
        return heap_grow(p, size);
    madvise(out, whole, MADV_HUGEPAGE);
    if (used)
        memcpy(out, p, used);
    free(p);
    return out;
}

/* Growth by codes_put is an eighth and not double: a large pool has hundreds of megabytes, and the
 * old arrays are held during the copy. Slots are doubled, at most half of them used. */
void codes_reserve(struct codes *c, size_t n)
{
    if (n > c->cap) {
        c->docs = grow_array(c->docs, c->n * sizeof *c->docs, n * sizeof *c->docs);
        c->scales = grow_array(c->scales, c->n * sizeof *c->scales, n * sizeof *c->scales);
        c->upper = grow_array(c->upper, c->n * c->lanes / 2, n * c->lanes / 2);
        c->lower = grow_array(c->lower, c->n * c->lanes / 2, n * c->lanes / 2);
        size_t had = sign_bytes(c, c->n), has = sign_bytes(c, n);
        c->signs = grow_array(c->signs, had, has);
        memset(c->signs + had, 0, has - had); /* rows that are still to come share bytes */
        c->cap = n;
    }
    while (n * 2 > c->n_slots)
        grow_slots(c);
}

/* The layout of kernels.h. */
static void pack_row(const struct codes *c, size_t at, const int8_t *row)
{
    enum { HALF = CODE_LANES / 2 };
    uint8_t *upper = c->upper + at * c->lanes / 2, *lower = c->lower + at * c->lanes / 2;
    for (size_t i = 0; i < c->lanes; i += CODE_LANES, upper += HALF, lower += HALF) {
        for (size_t k = 0; k < HALF; k++) {
            uint8_t first = (uint8_t)(row[i + k] + 128),
                    second = (uint8_t)(row[i + HALF + k] + 128);
            upper[k] = (uint8_t)(first >> 4 | (second & 0xF0));
            lower[k] = (uint8_t)((first & 15) | second << 4);
        }
    }
}

/* Where a row has the signs of its first lanes, and in which half of the byte; those of the next
 * lanes are SIGN_STEP bytes behind. */
static uint8_t *signs_at(const struct codes *c, size_t at, unsigned *shift)
{
    *shift = at % SIGN_ROWS < SIGN_STEP ? 0 : 4;
    return c->signs + at / SIGN_ROWS * vector_sign_block(c->lanes) + at % SIGN_STEP;
}

static void put_half(uint8_t *byte, unsigned shift, unsigned half)
{
    *byte = (uint8_t)((*byte & (0xF0u >> shift)) | half << shift);
}

static void pack_signs(const struct codes *c, size_t at, const int8_t *row)
{
    unsigned shift;
    uint8_t *to = signs_at(c, at, &shift);
    for (size_t i = 0; i < c->lanes; i += SIGN_LANES, to += SIGN_STEP) {
        unsigned signs = 0;
        for (size_t k = 0; k < SIGN_LANES; k++)
            signs |= (row[i + k] < 0 ? 1u : 0u) << k;
        put_half(to, shift, signs);
    }
}

/* The last row's signs move to the free place, and are gone from where they were. */
static void move_signs(const struct codes *c, size_t at, size_t last)
{
    unsigned shift, shift_last;
    uint8_t *to = signs_at(c, at, &shift), *from = signs_at(c, last, &shift_last);
    for (size_t i = 0; i < c->lanes; i += SIGN_LANES, to += SIGN_STEP, from += SIGN_STEP) {
        unsigned signs = *from >> shift_last & 15u;
        put_half(from, shift_last, 0);
        if (at != last)
            put_half(to, shift, signs);
    }
}

void codes_row(const struct codes *c, size_t at, int16_t *out)
{
    assert(at < c->n);
    size_t from = at * c->lanes / 2;
    vector_kernels_best()->unpack(c->upper + from, c->lower + from, c->lanes, out);
}

void codes_put(struct codes *c, doc_id doc, const int8_t *row, float scale)
{
    assert(c->lanes && c->n <= c->cap);
    size_t at = codes_find(c, doc);
    if (at == SIZE_MAX) {
        if (c->n == c->cap)
            codes_reserve(c, c->cap ? c->cap + c->cap / 8 + 1 : CAP_FIRST);
        at = c->n++;
        c->docs[at] = doc;
        c->slots[slot_of(c, doc)] = (uint32_t)at + 1;
    }
    c->scales[at] = scale;
    pack_row(c, at, row);
    pack_signs(c, at, row);
}

/* The last row moves to the free place, so that rows stay dense. */
void codes_remove(struct codes *c, doc_id doc)
{
    size_t at = codes_find(c, doc), last = c->n - 1, half = c->lanes / 2;
    if (at == SIZE_MAX)
        return;
    free_slot(c, slot_of(c, doc));
    if (at != last) {
        c->slots[slot_of(c, c->docs[last])] = (uint32_t)at + 1;
        c->docs[at] = c->docs[last];
        c->scales[at] = c->scales[last];
        memcpy(c->upper + at * half, c->upper + last * half, half);
        memcpy(c->lower + at * half, c->lower + last * half, half);
    }
    explicit_bzero(c->upper + last * half, half);
    explicit_bzero(c->lower + last * half, half);
    move_signs(c, at, last);
    c->n--;
}
