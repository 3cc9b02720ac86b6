/* verdict.h - whether memory speaks, and how sure a line must then be. */
#pragma once

#include "engine/recall/candidates.h"

struct verdict {
    str decision, reason;
    double least;       /* score that goes in; 2: nothing does */
    double probability; /* that something answers */
    const double *evidence;
    bool is_sure; /* it would go in without any phrase */
    double best;  /* score of the line that promises most; 0: lines are not held against it */
};

/* Of what was found. tells: the question states facts and asks for nothing. */
struct verdict verdict_of(struct finder *f, struct gate gate, bool tells);

/* The score that the result i must have to go in: where the encoder's weights are used, also a
 * share of the best line's. */
double verdict_needs(const struct finder *f, const struct verdict *v, size_t i);
