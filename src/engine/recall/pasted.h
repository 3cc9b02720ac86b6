/* pasted.h - answers about pasted text are not the user's facts: given only when asked for. */
#pragma once

#include "engine/recall/candidates.h"

/*
 * Sets given[i] to false for answers to a message that mostly was a pasted file, page or quote,
 * unless the question asks for them: it names such a text ("the article"), or it is not about the
 * asker and its own words stand in the answer. Answers of the conversation in which is asked stay.
 */
MUST_USE enum status pasted_leave_out(struct finder *f, bool *given);
