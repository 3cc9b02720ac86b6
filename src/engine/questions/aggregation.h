/* aggregation.h - Recognises questions whose answer is spread over many places. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/* "List in order", "which came first", "how many times", "all the books"; in English and German.
 * Not of amounts that one statement holds: "how much was the bike?". */
bool aggregation_of(struct arena *a, str question);
