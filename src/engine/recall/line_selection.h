/* line_selection.h - Decides whether memory speaks, and how sure a line must then be. */
#pragma once

#include "engine/recall/candidates.h"

struct verdict {
    str decision, reason;
    double least;       /* score that goes in; 2: nothing does */
    double probability; /* that something answers */
    const double *evidence;
    bool is_sure;  /* it would go in without any phrase */
    bool by_worth; /* where there is a fit for it, a line must be worth its room */
};

/* Of what was found. tells: the question states facts and asks for nothing. */
struct verdict verdict_of(struct finder *f, struct gate gate, bool tells);

/* Marks the lines that go in (is_wanted), and says of those that were found in how far they are
 * worth their room. A line that says a word of the question that nothing above it says needs less,
 * and so does one that tells of a later change. */
void lines_select(struct finder *f, const struct verdict *v);
