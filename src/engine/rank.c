/* rank.c - fuse, decay, diversify: arithmetic only. */
#include "engine/rank.h"

#include <math.h>

double rank_idf(int64_t all, int64_t found)
{
    if (found <= 0)
        return 0;
    double others = all > found ? (double)(all - found) : 0;
    return log(1 + (others + 0.5) / ((double)found + 0.5));
}

double rank_rrf(double k, size_t place)
{
    return place ? 1 / (k + (double)place) : 0;
}

double rank_logistic(double x)
{
    return 1 / (1 + exp(-x));
}

double rank_decay(int64_t age_ms, double half_life_days)
{
    if (age_ms <= 0)
        return 1;
    return exp2(-(double)age_ms / (half_life_days * 86400000.0));
}

static bool in_word(unsigned char c)
{
    return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

struct shingles rank_shingles(struct arena *a, str text)
{
    enum { CUT = 8 };
    struct shingles s = {.v = NEW_N(a, uint64_t, text.n / 2 + 1)};
    for (size_t i = 0; i < text.n;) {
        char word[CUT];
        size_t n = 0, from = i;
        for (; i < text.n && in_word((unsigned char)text.p[i]); i++)
            if (n < CUT)
                word[n++] =
                    (char)(text.p[i] >= 'A' && text.p[i] <= 'Z' ? text.p[i] + 32 : text.p[i]);
        if (n)
            s.v[s.n++] = str_hash((str){word, n});
        i += i == from;
    }
    qsort(s.v, s.n, sizeof *s.v, by_value);
    size_t kept = 0;
    for (size_t i = 0; i < s.n; i++)
        if (!kept || s.v[kept - 1] != s.v[i])
            s.v[kept++] = s.v[i];
    s.n = kept;
    return s;
}

double rank_jaccard(const struct shingles *a, const struct shingles *b)
{
    size_t shared = 0;
    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        uint64_t x = a->v[i], y = b->v[j];
        shared += x == y;
        i += x <= y;
        j += y <= x;
    }
    size_t all = a->n + b->n - shared;
    return all ? (double)shared / (double)all : 0;
}

void rank_diversify(struct arena *a, const double *scores, const struct shingles *texts, size_t n,
                    size_t most, size_t *order)
{
    double *like = NEW_N(a, double, n + 1);
    bool *taken = NEW_N(a, bool, n + 1);
    double least = n ? scores[0] : 0, greatest = least;
    for (size_t i = 1; i < n; i++) {
        least = fmin(least, scores[i]);
        greatest = fmax(greatest, scores[i]);
    }
    size_t done = 0;
    for (; done < n && done < most; done++) {
        size_t best = n;
        double best_value = 0;
        for (size_t i = 0; i < n; i++) {
            double scaled = greatest > least ? (scores[i] - least) / (greatest - least) : 1;
            double value = 0.85 * scaled - 0.15 * like[i];
            if (!taken[i] && (best == n || value > best_value)) {
                best = i;
                best_value = value;
            }
        }
        taken[best] = true;
        order[done] = best;
        for (size_t i = 0; i < n; i++)
            if (!taken[i])
                like[i] = fmax(like[i], rank_jaccard(&texts[i], &texts[best]));
    }
    for (size_t i = 0; i < n; i++)
        if (!taken[i])
            order[done++] = i;
}

size_t rank_walk(const int64_t *tokens, size_t n, int64_t budget)
{
    int64_t total = 0;
    size_t taken = 0;
    while (taken < n) {
        if (budget >= 0 && taken && tokens[taken] > budget - total)
            break;
        total += tokens[taken++];
        if (budget >= 0 && total > budget)
            break;
    }
    return taken;
}
