/* rank.h - weigh, decay, diversify: arithmetic only. */
#pragma once

#include "engine/text/term_set.h"

/* The weight of a word that stands in found of all documents; 0 when it stands in none. */
double rank_idf(int64_t all, int64_t found);

/* How much count occurrences say, by BM25 without lengths: 1 for one, never over k + 1. */
static inline float rank_saturate(float count, float k)
{
    return count * (k + 1) / (count + k);
}

/* 1 / (1 + e^-x). */
double rank_logistic(double x);

/* Something that has a place in an order: `at` is its number elsewhere. */
struct ranked {
    double rank;
    int64_t tie;
    size_t at;
};

/* Greatest rank first; of equal ranks the least tie. */
void rank_sort(struct ranked *v, size_t n);

/* Maximal marginal relevance: order gets the numbers of the scores, each next one the greatest of
 * 0.85 score (scaled to 0..1) - 0.15 of its greatest likeness to one taken before. The earlier
 * number wins a tie. Only the first `most` are chosen so; the others follow as they stand. */
void rank_diversify(struct arena *a, const double *scores, const str *texts, size_t n, size_t most,
                    size_t *order);

/* How many of the first go into the budget: stops at the first that does not fit, but takes the
 * first one whatever its size. budget < 0 has no end. */
size_t rank_walk(const int64_t *tokens, size_t n, int64_t budget);

/* The order of n texts, best first, in which the first `most` are from as many groups as possible
 * without leaving better ones far behind: each text that was taken of a group lets the others of it
 * fall back. "" is no group. */
void rank_spread(struct arena *a, const str *groups, size_t n, size_t most, size_t *order);
