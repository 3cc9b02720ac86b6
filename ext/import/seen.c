/* seen.c - hashes that were met before, and how many times. */
#include "ext/import/seen.h"

#include <search.h>

#include "base/str.h"

struct seen_hash {
    uint64_t hash;
    int64_t times;
};

ORDER(by_hash, struct seen_hash, UP(hash));

int64_t seen_before(struct seen *s, uint64_t hash)
{
    const struct seen_hash key = {.hash = hash};
    struct seen_hash **found = tfind(&key, &s->tree, by_hash);
    assert(hash);
    if (found)
        return ++(*found)->times;
    struct seen_hash *added = heap_alloc(sizeof *added);
    added->hash = hash;
    if (!tsearch(added, &s->tree, by_hash))
        die_of_limits("out of memory");
    return 0;
}

int64_t seen_times(const struct seen *s, uint64_t hash)
{
    const struct seen_hash key = {.hash = hash};
    struct seen_hash *const *found = tfind(&key, &s->tree, by_hash);
    return found ? (*found)->times + 1 : 0;
}

void seen_free(struct seen *s)
{
    tdestroy(s->tree, free);
    *s = (struct seen){0};
}
