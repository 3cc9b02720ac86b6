/* verdict.h - whether memory speaks, and how sure a line must then be. */
#pragma once

#include "engine/recall/candidates.h"

struct verdict {
    str decision, reason;
    double least;       /* score that goes in; 2: nothing does */
    double probability; /* that something answers */
    const double *evidence;
    bool is_sure; /* it would go in without any phrase */
};

/* Of what was found. tells: the question states facts and asks for nothing. */
struct verdict verdict_of(struct finder *f, struct gate gate, bool tells);
