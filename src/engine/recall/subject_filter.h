/* subject_filter.h - Lowers lines that lack the one name that the question asks for. */
#pragma once

#include "engine/recall/candidates.h"

/* Takes a part from the scores of what was found in a chat with an assistant, and of memories,
 * where neither the line nor its neighbours have the only name of the question. */
void subject_filter_lower(struct finder *f);
