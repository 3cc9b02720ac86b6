/* complete.h - additions to a question before it is searched: days of events, names. */
#pragma once

#include "engine/recall/candidates.h"

/* Once for each finder of a space, before it searches: the day of the event that the question
 * names, and the other names of whom it names, both as the pool knows them. */
MUST_USE enum status complete_question(struct finder *f);
