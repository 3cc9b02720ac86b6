/* snippet.h - the part of a long text that a question is about. */
#pragma once

#include "engine/questions/query.h"

/*
 * The text itself when it has at most `most` bytes; else the part that holds the most weight of the
 * question's words, begun and ended between words, with "…" where something is missing.
 */
str excerpt_of(struct arena *a, str text, const struct query *q, const float *weights, size_t most);
