/* places.h - the places of rows in a list that spans pools: collected, then sorted. */
#pragma once

#include "base/str.h"

/* By value, then by number, up or down. */
struct place {
    double value;
    int64_t no, pool;
};

struct places {
    struct arena *arena;
    bool is_ascending;
    struct place behind; /* the list begins behind it */
    struct place *v;
    size_t n, cap;
};

/* Begins a list from its first row on. */
struct places places_of(struct arena *a, bool is_ascending);
bool place_is_behind(const struct places *p, const struct place *place);
void places_add(struct places *p, struct place place);
/* When those of all pools are there. */
void places_sort(struct places *p);
