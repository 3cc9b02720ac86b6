/* by_signs.c - every row is scored by its signs alone, and some hundred rows are left. */
#include "store/vectors/by_signs.h"

/*
 * A scan of a large pool is bound by memory, so it reads a bit of each number: 32 bytes a row at
 * 256 dimensions. The question keeps its numbers: a row's score is the sum of those numbers, each
 * with the sign of the row. Of the static table's vectors of 100,000 sentences the best thousand by
 * this score held 99.6 % of the nearest 20; by the number of signs that differ it was 96.5 %.
 *
 * The best rows are found in one pass, whose limit rises: whenever twice as many as are kept have
 * passed it, the better half stays.
 */

/* Rows that are kept, as a share of the pool and at least; how many times as many a pool must have,
 * since below that whole codes are as fast; rows between two looks at the limit. */
enum { KEPT_OF = 200, KEPT = 1600, KEPT_EACH = 20, WORTH = 100, BLOCK = 1024 };

static_assert(BLOCK % SIGN_ROWS == 0, "a look begins with a block of signs");

struct scan {
    const struct codes *c;
    const struct among *among;
    bool takes_all;
    struct score *v;
    size_t n, kept; /* rows so far, rows that stay */
    uint16_t least; /* score of a row that may be among the best */
    uint32_t *counts;
    size_t scores; /* different scores */
};

static size_t kept_of(const struct codes *c, size_t wanted)
{
    size_t least = KEPT + KEPT_EACH * wanted, part = c->n / KEPT_OF;
    return part > least ? part : least;
}

bool signs_are_enough(const struct codes *c, size_t wanted)
{
    return kept_of(c, wanted) <= c->n / WORTH;
}

/* What four lanes add at most, so that the sum of all fits. */
static unsigned greatest_of(const struct codes *c)
{
    size_t fits = UINT16_MAX / (c->lanes / SIGN_LANES);
    return fits < SIGN_MAX ? (unsigned)fits : SIGN_MAX;
}

/* What each four lanes add, from 0 for the worst signs; all tables have one scale. */
static uint8_t *tables_of(struct arena *a, const struct codes *c, const struct question *q)
{
    size_t groups = c->lanes / SIGN_LANES;
    unsigned most = greatest_of(c);
    uint8_t *out = NEW_N(a, uint8_t, groups * SIGN_STEP);
    int32_t *sums = NEW_N(a, int32_t, groups), greatest = 1;
    for (size_t g = 0; g < groups; g++) {
        for (size_t k = 0; k < SIGN_LANES; k++)
            sums[g] += abs(q->codes[g * SIGN_LANES + k]);
        greatest = sums[g] > greatest ? sums[g] : greatest;
    }
    for (size_t g = 0; g < groups; g++) {
        for (unsigned signs = 0; signs < SIGN_STEP; signs++) {
            int64_t sum = sums[g];
            for (size_t k = 0; k < SIGN_LANES; k++) {
                int32_t code = q->codes[g * SIGN_LANES + k];
                sum += signs >> k & 1 ? -code : code;
            }
            out[g * SIGN_STEP + signs] = (uint8_t)((sum * most + greatest) / (2 * greatest));
        }
    }
    return out;
}

/* Keeps the best; of equal ones the first. */
static void keep_best(struct scan *s)
{
    size_t better = 0, kept = 0, score = s->scores - 1;
    memset(s->counts, 0, s->scores * sizeof *s->counts);
    for (size_t i = 0; i < s->n; i++)
        s->counts[s->v[i].score]++;
    while (better + s->counts[score] < s->kept)
        better += s->counts[score--];
    size_t equal = s->kept - better;
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].score > score || (s->v[i].score == score && equal && equal--))
            s->v[kept++] = s->v[i];
    assert(kept == s->kept);
    s->n = kept;
    s->least = (uint16_t)(score + 1);
}

static void scan_block(struct scan *s, struct signs *signs, size_t from)
{
    size_t first = s->n;
    signs->blocks = s->c->signs + from / SIGN_ROWS * vector_sign_block(s->c->lanes);
    signs->n = s->c->n - from < BLOCK ? s->c->n - from : BLOCK;
    size_t n = first + vector_kernels_best()->scored(signs, s->least, s->v + first);
    for (size_t i = first; i < n; i++) {
        struct score x = {(uint32_t)from + s->v[i].row, s->v[i].score};
        if (s->takes_all || among_wants(s->among, s->c->docs[x.row]))
            s->v[s->n++] = x;
    }
}

void best_by_signs(struct arena *a, const struct codes *c, const struct question *q,
                   const struct among *among, size_t wanted, struct scored_rows *out)
{
    size_t kept = kept_of(c, wanted), room = 2 * kept + BLOCK;
    size_t scores = greatest_of(c) * (c->lanes / SIGN_LANES) + 1;
    struct scan s = {.c = c,
                     .among = among,
                     .takes_all = among->messages && among->memories && !among->n_without,
                     .v = NEW_N(a, struct score, room),
                     .kept = kept,
                     .scores = scores,
                     .counts = NEW_N(a, uint32_t, scores)};
    struct signs signs = {.tables = tables_of(a, c, q), .lanes = c->lanes};
    for (size_t from = 0; from < c->n; from += BLOCK) {
        scan_block(&s, &signs, from);
        if (s.n + BLOCK > room)
            keep_best(&s);
    }
    if (s.n > s.kept)
        keep_best(&s);
    *out = (struct scored_rows){s.v, s.n};
}
