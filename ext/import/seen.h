/* seen.h - hashes that were met before: what a file holds twice is counted once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is empty. */
struct seen {
    uint64_t *v; /* a power of two of places; 0: free */
    size_t n, cap;
};

/* False when it is there already. The hash is not 0. */
bool seen_add(struct seen *s, uint64_t hash);
void seen_free(struct seen *s);
