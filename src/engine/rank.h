/* rank.h - fuse, decay, diversify: arithmetic only. */
#pragma once

#include "base/str.h"

/* The weight of a word that stands in found of all documents; 0 when it stands in none. */
double rank_idf(int64_t all, int64_t found);

/* How much it says that a word is not in a pool of so many documents: a small one lacks most words
 * whatever it is about. 0 to 1. */
static inline double rank_known(int64_t all)
{
    return (double)all / ((double)all + 50);
}

/* How much count occurrences say: rises from 0, 1 for one, never over k + 1 (BM25's, without
 * lengths). */
static inline float rank_saturate(float count, float k)
{
    return count * (k + 1) / (count + k);
}

/* What a place (1 is the best, 0 is none) in one of the lists that are fused is worth: reciprocal
 * rank fusion. */
double rank_rrf(double k, size_t place);

/* 1 / (1 + e^-x). */
double rank_logistic(double x);

/* 0.5 to the power of age in half lives; 1 for a negative age. */
double rank_decay(int64_t age_ms, double half_life_days);

/* The parts by which texts are compared: lower-case runs of letters and digits, those of four and
 * more characters cut to eight. As hashes, ascending, each once. */
struct shingles {
    uint64_t *v;
    size_t n;
};
struct shingles rank_shingles(struct arena *a, str text);

/* Shared by all; 0 when both are empty. */
double rank_jaccard(const struct shingles *a, const struct shingles *b);

/*
 * Maximal marginal relevance: order gets the numbers of the scores, each next one the greatest of
 * 0.85 score (scaled to 0..1) - 0.15 of its greatest likeness to one taken before. The earlier
 * number wins a tie. Only the first `most` are chosen so; the others follow as they stand.
 */
void rank_diversify(struct arena *a, const double *scores, const struct shingles *texts, size_t n,
                    size_t most, size_t *order);

/*
 * How many of the first go into the budget: stops at the first that does not fit, but takes the
 * first one whatever its size. budget < 0 has no end.
 */
size_t rank_walk(const int64_t *tokens, size_t n, int64_t budget);
