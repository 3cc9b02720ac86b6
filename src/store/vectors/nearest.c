/* nearest.c - every vector is estimated, and the likely ones are compared. */
#include "store/vectors/nearest.h"

#include <float.h>
#include <math.h>

#include "base/clock.h"
#include "store/vectors/by_signs.h"
#include "store/vectors/kernels.h"
#include "store/vectors/row.h"

/*
 * Search over all rows of one pool, without an index such as HNSW: the pool of one person seldom
 * has more than some 100,000 vectors, of which a scan reads 13 MB at 256 dimensions, and nothing
 * has to be rebuilt when rows come and go. Cost: lanes / 2 bytes for each row of the pool, plus the
 * whole codes of the few likely rows. Of a large pool the signs are read first, lanes / 8 bytes a
 * row (by_signs.c).
 */

/* Each vector is estimated by the upper halves of its codes. The best estimates, more than were
 * asked for, are then compared by whole codes. With text embeddings of 256 dimensions an estimate
 * is off by 0.01, and the nearest 20 of 100,000 were all among the best 100. BLOCK rows are
 * estimated between two looks at the limit; the buffer of estimates has that size. */
enum { MORE_LIKELY = 3, LIKELY = 40, BLOCK_FIRST = 64, BLOCK = 1024 };

/* A product of codes must fit 31 bits. 127 is the greatest code of a row: lanes products of 127 and
 * this number stay under 2^31. */
static int32_t question_max(size_t lanes)
{
    int64_t max = INT32_MAX / (127 * (int64_t)lanes);
    return max < INT16_MAX ? (int32_t)max : INT16_MAX;
}

struct question question_of(struct arena *a, const struct codes *c, const float *v)
{
    struct question q = {.codes = NEW_N(a, int16_t, c->lanes), .rough = NEW_N(a, int8_t, c->lanes)};
    float most = 0, max = (float)question_max(c->lanes);
    for (size_t i = 0; i < c->dimensions; i++)
        most = fmaxf(most, fabsf(v[i]));
    float by = most > 0 ? max / most : 0;
    q.scale = most / max;
    (void)vector_codes(v, c->dimensions, q.rough);
    for (size_t i = 0; i < c->dimensions; i++) {
        q.codes[i] = (int16_t)lrintf(v[i] * by);
        q.rough_sum += q.rough[i];
    }
    return q;
}

/* --- the best so far: a heap with the worst on top --- */

struct best {
    struct near *v;
    size_t n, max;
};

static void heap_replace(struct best *b, struct near x)
{
    size_t at = 0, child;
    while ((child = 2 * at + 1) < b->n) {
        if (child + 1 < b->n && b->v[child + 1].cosine < b->v[child].cosine)
            child++;
        if (x.cosine <= b->v[child].cosine)
            break;
        b->v[at] = b->v[child];
        at = child;
    }
    b->v[at] = x;
}

static void heap_push(struct best *b, struct near x)
{
    assert(b->n < b->max);
    size_t at = b->n++;
    for (; at && x.cosine < b->v[(at - 1) / 2].cosine; at = (at - 1) / 2)
        b->v[at] = b->v[(at - 1) / 2];
    b->v[at] = x;
}

/* Tested last, for rows that would enter the heap: a binary search for each row would cost more
 * than the scan. */
bool among_wants(const struct among *among, doc_id doc)
{
    if (!(doc_is_memory(doc) ? among->memories : among->messages))
        return false;
    size_t at = doc_place(among->without, among->n_without, sizeof *among->without, doc);
    return at == among->n_without || among->without[at] != doc;
}

static void offer_near(struct best *b, const struct codes *c, const struct among *among,
                       struct near x)
{
    if (b->n == b->max && x.cosine <= b->v[0].cosine)
        return;
    if (!among_wants(among, c->docs[x.at]))
        return;
    if (b->n == b->max)
        heap_replace(b, x);
    else
        heap_push(b, x);
}

/* --- all of them --- */

/* The rows from `first` on with an estimate over the limit. A code is 16 times its upper half,
 * which stands there with 8 added, and 7.5 or so: that is the mean of what the lower half may be.
 */
static void scan_codes(const struct codes *c, const struct question *q, const struct among *among,
                       struct best *b, struct estimate *room, size_t first, float least)
{
    struct plane p = {.lanes = c->lanes, .question = q->rough};
    p.offset = q->rough_sum * (7.5F - 128) / 16;
    for (size_t from = first; from < c->n; from += p.n) {
        /* Short at first: the limit of a block is the worst hit so far, and few rows should pass
         * it. */
        size_t done = from - first, n = done < BLOCK_FIRST ? BLOCK_FIRST : done;
        p.n = n < BLOCK ? n : BLOCK;
        p.n = c->n - from < p.n ? c->n - from : p.n;
        p.upper = c->upper + from * c->lanes / 2;
        p.scales = c->scales + from;
        bool is_full = b->n == b->max && b->v[0].cosine > least;
        size_t found = vector_kernels_best()->above(&p, is_full ? b->v[0].cosine : least, room);
        for (size_t i = 0; i < found; i++)
            offer_near(b, c, among, (struct near){from + room[i].row, room[i].value});
    }
}

/* By whole codes; those of the rows ahead are on their way meanwhile. */
static void compare_scored(const struct codes *c, const struct question *q,
                           const struct among *among, const struct scored_rows *rows,
                           struct best *b)
{
    enum { AHEAD = 8, LINE = 64 };
    size_t half = c->lanes / 2;
    for (size_t i = 0; i < rows->n; i++) {
        size_t at = rows->v[i].row, next = rows->v[i + AHEAD < rows->n ? i + AHEAD : i].row;
        for (size_t k = 0; k < half; k += LINE) {
            __builtin_prefetch(c->upper + next * half + k);
            __builtin_prefetch(c->lower + next * half + k);
        }
        offer_near(b, c, among, (struct near){at, cosine_of(c, q, at)});
    }
}

size_t nearest(struct arena *a, const struct codes *c, const struct question *q,
               const struct among *among, size_t n, struct near *out)
{
    struct best b = {.v = out, .max = n < c->n ? n : c->n};
    struct best likely = {.max = MORE_LIKELY * b.max + LIKELY};
    if (!b.max)
        return 0;
    struct scored_rows scored;
    if (signs_are_enough(c, n)) {
        best_by_signs(a, c, q, among, n, &scored);
        compare_scored(c, q, among, &scored, &b);
        return b.n;
    }
    likely.max = likely.max < c->n ? likely.max : c->n;
    likely.v = NEW_N(a, struct near, likely.max);
    scan_codes(c, q, among, &likely, NEW_N(a, struct estimate, BLOCK), 0, -FLT_MAX);
    for (size_t i = 0; i < likely.n; i++)
        offer_near(&b, c, among, (struct near){likely.v[i].at, cosine_of(c, q, likely.v[i].at)});
    return b.n;
}

/* --- each with each --- */

/* An estimate is off by 0.01; an error as large as this was never seen. */
#define SLACK 0.05F

struct pairing {
    const struct codes *c;
    struct question q; /* a row of them */
    struct best likely;
    struct estimate *room;
    float least;
    size_t each;
};

ORDER(by_cosine, struct near, DOWN(cosine));

/* Finds the rows behind a row that are likely to be near it. */
static void look_behind(struct pairing *p, size_t at)
{
    static const struct among all = {.messages = true, .memories = true};
    const struct codes *c = p->c;
    codes_row(c, at, p->q.codes);
    p->q.scale = c->scales[at];
    p->q.rough_sum = 0;
    p->likely.n = 0;
    for (size_t i = 0; i < c->lanes; i++) {
        p->q.rough[i] = (int8_t)p->q.codes[i];
        p->q.rough_sum += p->q.rough[i];
    }
    scan_codes(c, &p->q, &all, &p->likely, p->room, at + 1, (p->least - SLACK) / (16 * p->q.scale));
}

static void take_pairs(struct arena *a, struct pairing *p, size_t at, size_t *cap,
                       struct vector_pairs *out)
{
    struct best *l = &p->likely;
    for (size_t i = 0; i < l->n; i++)
        l->v[i].cosine = cosine_of(p->c, &p->q, l->v[i].at);
    SORT(l->v, l->n, by_cosine);
    for (size_t i = 0; i < l->n && i < p->each && l->v[i].cosine >= p->least; i++)
        ARENA_ADD(a, out->v, out->n, *cap) =
            (struct vector_pair){(uint32_t)at, (uint32_t)l->v[i].at, l->v[i].cosine};
}

/* O(n²) estimates: for finding duplicates, not for a search. The clock is looked at once for each
 * row. */
bool nearest_pairs(struct arena *a, const struct codes *c, float least, size_t each,
                   int64_t deadline_us, struct vector_pairs *out)
{
    size_t cap = 0, most = each + each / 2 + LIKELY;
    struct pairing p = {.c = c,
                        .q = {.codes = NEW_N(a, int16_t, c->lanes + 1),
                              .rough = NEW_N(a, int8_t, c->lanes + 1)},
                        .likely = {.v = NEW_N(a, struct near, most), .max = most},
                        .room = NEW_N(a, struct estimate, BLOCK),
                        .least = least,
                        .each = each};
    for (size_t at = 0; at < c->n; at++) {
        if (deadline_us && clock_mono_us() > deadline_us)
            return false;
        look_behind(&p, at);
        take_pairs(a, &p, at, &cap, out);
    }
    return true;
}

/* --- one of them --- */

float cosine_of(const struct codes *c, const struct question *q, size_t at)
{
    int16_t row[VECTOR_LANES_MAX];
    assert(c->lanes <= VECTOR_LANES_MAX);
    codes_row(c, at, row);
    return (float)vector_kernels_best()->product(row, q->codes, c->lanes) * c->scales[at] *
           q->scale;
}

/* Rows of the messages around a message, of its session, that have vectors. */
static size_t rows_around(const struct codes *c, doc_id doc, size_t at[4])
{
    size_t n = 0;
    for (doc_id d = doc - 2; d <= doc + 1; d++) {
        size_t found = doc_session(d) == doc_session(doc) ? codes_find(c, d) : SIZE_MAX;
        if (found != SIZE_MAX)
            at[n++] = found;
    }
    return n;
}

/* The square of the length of the sum of the window's vectors is built from their products with
 * each other, so no sum vector is made. */
float window_of(const struct codes *c, const struct question *q, doc_id doc)
{
    const struct vector_kernels *k = vector_kernels_best();
    int16_t rows[4][VECTOR_LANES_MAX];
    size_t at[4], n = rows_around(c, doc, at);
    float sum = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        float scale = c->scales[at[i]];
        codes_row(c, at[i], rows[i]);
        sum += (float)k->product(rows[i], q->codes, c->lanes) * scale * q->scale;
        for (size_t j = 0; j <= i; j++)
            square += (float)k->product(rows[i], rows[j], c->lanes) * scale * c->scales[at[j]] *
                      (j < i ? 2 : 1);
    }
    return square > 0 ? sum / sqrtf(square) : 0;
}
