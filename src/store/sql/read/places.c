/* places.c - the places of rows in a list that spans pools: each pool's in order, then merged. */
#include "store/sql/read/places.h"

#include <float.h>

struct run {
    size_t at, end;
};

ORDER(by_place, struct place, UP(value) ?: UP(no))
ORDER(by_place_down, struct place, DOWN(value) ?: DOWN(no))

static int compare_places(const struct places *p, const struct place *a, const struct place *b)
{
    return p->is_ascending ? by_place(a, b) : by_place_down(a, b);
}

struct places places_of(struct arena *a, bool is_ascending)
{
    struct place first =
        is_ascending ? (struct place){-DBL_MAX, -1, 0} : (struct place){DBL_MAX, INT64_MAX, 0};
    return (struct places){.arena = a, .is_ascending = is_ascending, .behind = first};
}

bool place_is_behind(const struct places *p, const struct place *place)
{
    return compare_places(p, &p->behind, place) < 0;
}

void places_add(struct places *p, struct place place)
{
    ARENA_ADD(p->arena, p->v, p->n, p->cap) = place;
}

void places_end_run(struct places *p, bool is_sorted)
{
    size_t begin = p->n_runs ? p->runs[p->n_runs - 1].end : 0;
    if (begin == p->n)
        return;
    assert(begin < p->n);
    if (!is_sorted)
        qsort(p->v + begin, p->n - begin, sizeof *p->v, p->is_ascending ? by_place : by_place_down);
    ARENA_ADD(p->arena, p->runs, p->n_runs, p->cap_runs) = (struct run){begin, p->n};
}

/* A user has few pools, so the first is found by looking at each. */
void places_merge(struct places *p, size_t want)
{
    size_t n = p->n < want ? p->n : want;
    if (p->n_runs < 2)
        return;
    struct place *v = NEW_N(p->arena, struct place, n);
    for (size_t i = 0; i < n; i++) {
        struct run *first = p->runs;
        for (struct run *r = p->runs + 1; r < p->runs + p->n_runs; r++)
            if (compare_places(p, &p->v[r->at], &p->v[first->at]) < 0)
                first = r;
        v[i] = p->v[first->at++];
        if (first->at == first->end)
            *first = p->runs[--p->n_runs];
    }
    p->v = v;
    p->n = n;
}
