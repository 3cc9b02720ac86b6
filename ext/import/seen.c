/* seen.c - hashes that were met before, and how many times. */
#include "ext/import/seen.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"

enum { SEEN_BEGIN = 1024 };

/* The place of the hash, or the free one where it belongs. */
static struct seen_hash *place_of(const struct seen *s, uint64_t hash)
{
    size_t i = hash & (s->cap - 1);
    while (s->v[i].hash && s->v[i].hash != hash)
        i = (i + 1) & (s->cap - 1);
    return &s->v[i];
}

static void make_room(struct seen *s)
{
    struct seen more = {.n = s->n, .cap = s->cap ? 2 * s->cap : SEEN_BEGIN};
    more.v = heap_alloc(more.cap * sizeof *more.v);
    for (size_t i = 0; i < s->cap; i++)
        if (s->v[i].hash)
            *place_of(&more, s->v[i].hash) = s->v[i];
    free(s->v);
    *s = more;
}

int64_t seen_before(struct seen *s, uint64_t hash)
{
    assert(hash);
    if (2 * s->n >= s->cap)
        make_room(s);
    struct seen_hash *place = place_of(s, hash);
    s->n += !place->hash;
    place->hash = hash;
    return place->times++;
}

bool seen_add(struct seen *s, uint64_t hash)
{
    return seen_before(s, hash) == 0;
}

void seen_free(struct seen *s)
{
    free(s->v);
    *s = (struct seen){0};
}
