/* complete.h - what a question is completed by before it is searched: days of events, names. */
#pragma once

#include "engine/recall/candidates.h"

/* Once for each finder of a space, before it searches: the day of the event that the question
 * names, and the other names of whom it names, both as the pool knows them. */
MUST_USE enum status complete_question(struct finder *f);

/* The documents that hold words of the question. A word that is another name of one of these counts
 * as that one, once a document. At most max documents, as past_words. */
MUST_USE enum status complete_words(struct finder *f, size_t max, struct word_hits *out);
