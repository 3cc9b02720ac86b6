/* subject_filter.h - Lowers or takes out lines about somebody else, or about a pasted text. */
#pragma once

#include "engine/recall/candidates.h"

/* Takes a part from the scores of what was found in a chat with an assistant, and of memories,
 * where it lacks the name of the one whom the question names. */
void subject_filter_lower(struct finder *f);

/*
 * Takes back to LINE_CHOSEN the quotable answers to a message that mostly was a pasted file, page
 * or quote, unless the question asks for them: it names such a text ("the article"), or it is not
 * about the asker and its own words stand in the answer. Answers of the conversation in which is
 * asked stay.
 */
MUST_USE enum status pasted_leave_out(struct finder *f);
