/* places.c - the places of rows in a list that spans pools: collected, then sorted. */
#include "store/sql/read/places.h"

#include <float.h>

ORDER(by_place, struct place, UP(value) ?: UP(no))
ORDER(by_place_down, struct place, DOWN(value) ?: DOWN(no))

struct places places_of(struct arena *a, bool is_ascending)
{
    struct place first =
        is_ascending ? (struct place){-DBL_MAX, -1, 0} : (struct place){DBL_MAX, INT64_MAX, 0};
    return (struct places){.arena = a, .is_ascending = is_ascending, .behind = first};
}

bool place_is_behind(const struct places *p, const struct place *place)
{
    return (p->is_ascending ? by_place : by_place_down)(&p->behind, place) < 0;
}

void places_add(struct places *p, struct place place)
{
    ARENA_ADD(p->arena, p->v, p->n, p->cap) = place;
}

void places_sort(struct places *p)
{
    SORT(p->v, p->n, p->is_ascending ? by_place : by_place_down);
}
