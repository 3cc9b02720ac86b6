/* broad.h - questions whose answer is spread over many places: in which order, how many, all. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

enum broad {
    BROAD_NOT,
    BROAD_ORDER, /* "list in order", "which came first", "what happened after" */
    BROAD_COUNT  /* "how many times", "all the books" */
};

/* In English and German. Not of amounts that one statement holds: "how much was the bike?". */
enum broad broad_of(struct arena *a, str question);
