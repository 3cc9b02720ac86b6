/* successors.h - what replaces a line that is given, though the question's words do not find it. */
#pragma once

#include "engine/recall/about.h"
#include "engine/recall/currency.h"

/* A line as currency compares it. What an assistant said replaces nothing. */
struct dated_line dated_line_of(struct arena *a, const struct recalled *r);

/*
 * "Aled and Nerys have split up" for "Is my brother seeing anyone?": of the best lines that score
 * at least so much, the names and the words are searched. Only lines
 * that replace one of these are taken; where the question asks how it was, those that one of these
 * replaced, too.
 */
MUST_USE enum status successors_find(struct finder *f, double least, struct about *out);
