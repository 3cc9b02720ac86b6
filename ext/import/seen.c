/* seen.c - hashes that were met before: what a file holds twice is counted once. */
#include "ext/import/seen.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"

enum { SEEN_BEGIN = 1024 };

/* The place of the hash, or the free one where it belongs. */
static uint64_t *place_of(const struct seen *s, uint64_t hash)
{
    size_t i = hash & (s->cap - 1);
    while (s->v[i] && s->v[i] != hash)
        i = (i + 1) & (s->cap - 1);
    return &s->v[i];
}

static void make_room(struct seen *s)
{
    struct seen more = {.n = s->n, .cap = s->cap ? 2 * s->cap : SEEN_BEGIN};
    more.v = heap_alloc(more.cap * sizeof *more.v);
    for (size_t i = 0; i < s->cap; i++)
        if (s->v[i])
            *place_of(&more, s->v[i]) = s->v[i];
    free(s->v);
    *s = more;
}

bool seen_add(struct seen *s, uint64_t hash)
{
    assert(hash);
    if (2 * s->n >= s->cap)
        make_room(s);
    uint64_t *place = place_of(s, hash);
    if (*place)
        return false;
    *place = hash;
    s->n++;
    return true;
}

void seen_free(struct seen *s)
{
    free(s->v);
    *s = (struct seen){0};
}
