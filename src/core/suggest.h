/* suggest.h - "did you mean": the known name that is closest to a mistyped one. */
#pragma once

#include "base/fields.h"

struct suggestion {
    str typed;
    const char *best; /* NULL: no known name is close enough */
    size_t distance;  /* of best, in edits */
};

/* Keeps the name when it is closer than the best one so far, and at most a third of what was typed
 * is wrong. */
void suggest_name(struct suggestion *s, const char *known);
/* The same for each row of a table. */
void suggest_from_table(struct suggestion *s, const struct field *table);
