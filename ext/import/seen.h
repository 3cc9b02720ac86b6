/* seen.h - hashes that were met before, and how many times. */
#pragma once

#include <stdint.h>

/* All zero is empty. */
struct seen {
    void *tree; /* of <search.h> */
};

/* Adds the hash, which is not 0, and tells how many times it was added before. */
int64_t seen_before(struct seen *s, uint64_t hash);
/* How many times it was given. */
int64_t seen_times(const struct seen *s, uint64_t hash);
void seen_free(struct seen *s);
