/* answer_words.h - the share of an answer's words in a block of memory. */
#pragma once

#include "ext/import/exam.h"

/*
 * The share, 0 to 1, of the answer's words that stand in the block's lines, compared by stem; stop
 * words do not count. Without an answer it is the share of the question's words that the evidence
 * says. Negative when there are no such words.
 */
double answer_words_share(struct arena *a, const struct exam *c, const struct exam_question *q,
                          str block);
