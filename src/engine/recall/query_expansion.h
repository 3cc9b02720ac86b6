/* query_expansion.h - Completes a question before the search: names, words for one thing. */
#pragma once

#include "engine/recall/candidates.h"

/* Once for each finder of a space, before it searches: the other names of whom the question
 * names, as the pool knows them. */
MUST_USE enum status query_expand(struct finder *f);
