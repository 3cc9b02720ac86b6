/* query_expansion.h - Completes a question before the search: days of events, names, synonyms. */
#pragma once

#include "engine/recall/candidates.h"

/* Once for each finder of a space, before it searches: the day of the event that the question
 * names, and the other names of whom it names, both as the pool knows them. */
MUST_USE enum status query_expand(struct finder *f);
