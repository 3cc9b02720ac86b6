/* aggregation.h - Recognises questions whose answer is spread over many places. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

enum aggregation {
    AGGREGATION_NONE,
    AGGREGATION_ORDER, /* "list in order", "which came first", "what happened after" */
    AGGREGATION_COUNT  /* "how many times", "all the books" */
};

/* In English and German. Not of amounts that one statement holds: "how much was the bike?". */
enum aggregation aggregation_of(struct arena *a, str question);
