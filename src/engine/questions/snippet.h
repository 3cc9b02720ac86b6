/* snippet.h - the part of a long text that a question is about. */
#pragma once

#include "engine/questions/query.h"

/* Whether a word may be a form of the stem: it begins so, but for the stem's last letter, which
 * endings change ("happi", "happy"), and is at most so much longer. */
bool word_goes_on(str word, str stem, size_t ending_most);

/* The text itself when it has at most `most` bytes; else the part that holds the most weight of the
 * question's words, cut between words where it can be, with "…" where something is missing. */
str excerpt_of(struct arena *a, str text, const struct query *q, const float *weights, size_t most);

/* The same by whole sentences, and by parts of sentences that are too long: the run that holds the
 * most weight, with what stands beside it as far as there is room. */
str passage_of(struct arena *a, str text, const struct query *q, const float *weights, size_t most);

/* The same around a part of the text that must be in it; the part is cut where it is longer. */
str passage_around(struct arena *a, str text, str part, size_t most);
