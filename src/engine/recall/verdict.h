/* verdict.h - whether memory speaks, and how sure a line must then be. */
#pragma once

#include "engine/recall/candidates.h"

struct verdict {
    str decision, reason;
    double least;       /* score that goes in; 2: nothing does */
    double probability; /* that something answers */
    const double *evidence;
    bool is_sure; /* it would go in without any phrase */
    bool is_weak; /* no line of it is sure by itself */
    double best;  /* score of the line that promises most; 0: lines are not held against it */
};

/* Of what was found. tells: the question states facts and asks for nothing. */
struct verdict verdict_of(struct finder *f, struct gate gate, bool tells);

/* What has gone in so far, of what the question found. */
struct said_so_far {
    size_t lines;
    uint32_t words;  /* of the question that they say, a bit for each */
    int64_t created; /* of the first of them */
};

/* The score that the result i must have to go in: where the encoder's weights are used, also a
 * share of the best line's. The more has gone in, the more it needs; less where it says a word of
 * the question that nothing before it says, or that something has changed since. */
double verdict_needs(struct finder *f, const struct verdict *v, const struct said_so_far *said,
                     size_t i);
void verdict_note(const struct finder *f, struct said_so_far *said, size_t i);

/* Found for its neighbours' words alone, and too short to say something of its own. */
bool verdict_is_mere_neighbour(const struct finder *f, size_t i);
