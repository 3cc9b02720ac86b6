/* rank.c - weigh, decay, diversify: arithmetic only. */
#include "engine/recall/rank.h"

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

/* From any number to a probability between 0 and 1. */
double rank_logistic(double x)
{
    return 1 / (1 + exp(-x));
}

/* Maximal marginal relevance: 0.85 of the scaled score less 0.15 of the likeness to the most alike
 * of those taken. The first `most` places are chosen so, in O(n · most) comparisons; the rest keep
 * their order. On return order[] holds the index of each text once. */
void rank_diversify(struct arena *a, const double *scores, const struct term_set *texts, size_t n,
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
                like[i] = fmax(like[i], terms_jaccard(&texts[i], &texts[best]));
    }
    for (size_t i = 0; i < n; i++)
        if (!taken[i])
            order[done++] = i;
}

/* How many from the front fit into the budget; the first always does, so that a long best line is
 * not lost. A negative budget has no limit. Stops at the first that does not fit: a worse line must
 * not take the place of a better one because it is short. */
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
