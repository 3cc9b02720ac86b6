/* duplicates.h - memories that say the same as an older one: found, shown, closed. */
#pragma once

#include "engine/engine.h"

/* Memories that say the same as an older one. */
struct duplicates {
    struct memory first; /* the oldest */
    struct similar *v;   /* the others, by age; similarity is to the first */
    size_t n;
};
/* The groups of a pool, by age; by vectors where there are some, else by words. Those that differ
 * in a number, a name or a negation are not the same, however alike. */
MUST_USE enum status engine_duplicates(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                       struct duplicates **out, size_t *n);
/* Closes the others in favour of the first of each group, all or nothing; they remain history. */
MUST_USE enum status engine_deduplicate(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                        int64_t *groups, int64_t *closed);
