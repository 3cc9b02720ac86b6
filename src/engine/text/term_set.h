/* term_set.h - sets of terms: the words of two texts, and how far they overlap. */
#pragma once

#include "base/str.h"

/* Terms are hashes: of a word, its stem, or the first letters of it, as the caller chooses. They
 * are collected in any order; after terms_sort they are a set, which the other functions need. */
struct term_set {
    uint64_t *v;
    size_t n, cap;
};

/* Empty, with room for n terms. */
struct term_set terms_with_room(struct arena *a, size_t n);

void terms_add(struct arena *a, struct term_set *t, uint64_t term);
/* Ascending, each once. */
void terms_sort(struct term_set *t);

bool terms_have(const struct term_set *t, uint64_t term);
/* How many terms are in both. */
size_t terms_shared(const struct term_set *one, const struct term_set *other);
/* Shared terms by all terms; 0 when both sets are empty. */
double terms_jaccard(const struct term_set *one, const struct term_set *other);

/* The set of a text's shingles: lower-case runs of letters and digits, cut to eight bytes. */
struct term_set shingles_of(struct arena *a, str text);
