/* query_expansion.h - other words for one thing, searched beside a question's own. */
#pragma once

#include "engine/recall/candidates.h"

/* Once for each finder of a space, before it searches. */
void query_expand(struct finder *f);
