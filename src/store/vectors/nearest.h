/* nearest.h - looking through the vectors of a pool. */
#pragma once

#include "store/search.h"
#include "store/vectors/codes.h"

/* A vector to compare with: 16 bits each, so that it adds no error of its own, and 8 bits for
 * estimates. */
struct question {
    int16_t *codes;
    float scale;
    int8_t *rough;
    float rough_sum;
};

struct question question_of(struct arena *a, const struct codes *c, const float *v);

struct among {
    bool messages, memories;
    const doc_id *without; /* ascending: these are left out */
    size_t n_without;
};

bool among_wants(const struct among *among, doc_id doc);

struct near {
    size_t at; /* its row */
    float cosine;
};

/* The n nearest, or all when there are fewer, in no order. Returns their number. */
size_t nearest(struct arena *a, const struct codes *c, const struct question *q,
               const struct among *among, size_t n, struct near *out);

/* For each row the nearest ones behind it, at most `each`, with a cosine of at least `least`, are
 * added to *out, which is empty, by their rows; all pairs are compared. False: the deadline
 * (clock_mono_us; 0: none) passed first. */
bool nearest_pairs(struct arena *a, const struct codes *c, float least, size_t each,
                   int64_t deadline_us, struct vector_pairs *out);

/* The cosine with one row. */
float cosine_of(const struct codes *c, const struct question *q, size_t at);
/* Of a message: the cosine with the unit sum of its vector, the two before and the one after. 0
 * when none of them is there. */
float window_of(const struct codes *c, const struct question *q, doc_id doc);
