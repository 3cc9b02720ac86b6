/* rank.c - weigh, decay, diversify: arithmetic only. */
#include "engine/text/rank.h"

#include <math.h>

/* Of `all` documents `found` hold the word: ln(1 + (all − found + 0.5) / (found + 0.5)), as BM25
 * has it. A word in every document still weighs a little above 0; one in no document weighs nothing
 * here, as it finds nothing. */
double rank_idf(int64_t all, int64_t found)
{
    if (found <= 0)
        return 0;
    double others = all > found ? (double)(all - found) : 0;
    return log(1 + (others + 0.5) / ((double)found + 0.5));
}

double rank_logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static inline bool comes_before(struct ranked x, struct ranked y)
{
    return x.rank != y.rank ? x.rank > y.rank : x.tie < y.tie;
}

/* Shell's, with the gaps that Ciura found best (2001). Some hundred are sorted, several times in a
 * recall; qsort, which calls a function for each comparison, takes 1.6 times as long. */
void rank_sort(struct ranked *v, size_t n)
{
    static const size_t gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (size_t i = gaps[g], at; i < n; i++) {
            struct ranked x = v[i];
            for (at = i; at >= gaps[g] && comes_before(x, v[at - gaps[g]]); at -= gaps[g])
                v[at] = v[at - gaps[g]];
            v[at] = x;
        }
}

/* A text in its order: its scaled score, its greatest likeness to the first `compared` taken. */
struct choice {
    double scaled, like;
    struct term_set terms; /* made when it is compared first */
    bool is_taken;
    size_t compared;
};

static double value_of(const struct choice *c)
{
    return 0.85 * c->scaled - 0.15 * c->like;
}

static const struct term_set *terms_of(struct arena *a, struct choice *c, str text)
{
    if (!c->terms.v)
        c->terms = shingles_of(a, text);
    return &c->terms;
}

static void compare_taken(struct arena *a, struct choice *v, const str *texts, size_t i,
                          const size_t *taken, size_t n)
{
    for (; v[i].compared < n; v[i].compared++) {
        size_t other = taken[v[i].compared];
        double like =
            terms_jaccard(terms_of(a, &v[i], texts[i]), terms_of(a, &v[other], texts[other]));
        v[i].like = fmax(v[i].like, like);
    }
}

/* A likeness only grows and a value only falls, so a text whose value is too small by what it was
 * compared with so far need not be compared with the others. */
static size_t next_choice(struct arena *a, struct choice *v, const str *texts, size_t n,
                          const size_t *taken, size_t n_taken)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++) {
        if (v[i].is_taken || (best < n && value_of(&v[i]) <= value_of(&v[best])))
            continue;
        compare_taken(a, v, texts, i, taken, n_taken);
        if (best == n || value_of(&v[i]) > value_of(&v[best]))
            best = i;
    }
    return best;
}

/* In at most O(n · most) comparisons. */
void rank_diversify(struct arena *a, const double *scores, const str *texts, size_t n, size_t most,
                    size_t *order)
{
    struct choice *v = NEW_N(a, struct choice, n + 1);
    double least = n ? scores[0] : 0, greatest = least;
    for (size_t i = 1; i < n; i++) {
        least = fmin(least, scores[i]);
        greatest = fmax(greatest, scores[i]);
    }
    for (size_t i = 0; i < n; i++)
        v[i].scaled = greatest > least ? (scores[i] - least) / (greatest - least) : 1;
    size_t done = 0;
    for (; done < n && done < most; done++) {
        order[done] = next_choice(a, v, texts, n, order, done);
        v[order[done]].is_taken = true;
    }
    for (size_t i = 0; i < n; i++)
        if (!v[i].is_taken)
            order[done++] = i;
}

/* A long best line must not be lost, nor a better line to a worse one that is short. */
size_t rank_walk(const int64_t *tokens, size_t n, int64_t budget)
{
    int64_t total = 0;
    size_t taken = 0;
    for (; taken < n && (budget < 0 || !taken || tokens[taken] <= budget - total); taken++)
        total += tokens[taken];
    return taken;
}

/* A place p is worth −ln(p + FIRST), less `again` for each text of its group that was taken: with
 * these figures the second of a group falls behind a fifth further down (decisions/009). */
void rank_spread(struct arena *a, const str *groups, size_t n, size_t most, size_t *order)
{
    enum { FIRST = 3 };
    const double again = 0.2;
    double *worth = NEW_N(a, double, n + 1);
    bool *taken = NEW_N(a, bool, n + 1);
    size_t done = 0;
    for (size_t i = 0; i < n; i++)
        worth[i] = -log((double)i + FIRST);
    for (; done < n && done < most; done++) {
        size_t best = n;
        for (size_t i = 0; i < n; i++)
            if (!taken[i] && (best == n || worth[i] > worth[best]))
                best = i;
        taken[best] = true;
        order[done] = best;
        for (size_t i = 0; i < n && groups[best].n; i++)
            if (str_eq(groups[i], groups[best]))
                worth[i] -= again;
    }
    for (size_t i = 0; i < n; i++)
        if (!taken[i])
            order[done++] = i;
}
