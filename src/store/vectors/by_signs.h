/* by_signs.h - of a large pool the rows whose signs fit a question best. */
#pragma once

#include "store/vectors/kernels.h"
#include "store/vectors/nearest.h"

struct scored_rows {
    struct score *v;
    size_t n;
};

/* Whether the pool is so large that reading the signs of all rows first saves time. */
bool signs_are_enough(const struct codes *c, size_t wanted);
/* So many rows that the nearest `wanted` are among them, in no order. Not of a small pool. */
void best_by_signs(struct arena *a, const struct codes *c, const struct question *q,
                   const struct among *among, size_t wanted, struct scored_rows *out);
