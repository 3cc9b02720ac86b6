/* supersession.h - Decides which lines that a chat would be given a later line may replace. */
#pragma once

#include "engine/recall/candidates.h"

/* What a line begins with that a later one may replace. */
#define OUTDATED_MARK "(outdated?) "

/* Decides this of each line that is quotable, and of those behind it that may replace one: by[i]
 * is the place of the later line that may replace the line at i, or i. The judge of pairs
 * (engine/pairs) says how probable it is that a later line of the same space replaces an earlier
 * one. No line is left out for it: in a chat of one topic even the surest verdicts are often
 * wrong. */
MUST_USE enum status supersession_judge(const struct finder *f, size_t *by);

/* "Where did I live before?" */
bool supersession_asks_past(struct arena *a, str question);
