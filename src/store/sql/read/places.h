/* places.h - the places of rows in a list that spans pools: each pool's in order, then merged. */
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
    struct run *runs; /* of one pool each */
    size_t n_runs, cap_runs;
};

/* Begins a list from its first row on. */
struct places places_of(struct arena *a, bool is_ascending);
bool place_is_behind(const struct places *p, const struct place *place);
void places_add(struct places *p, struct place place);
/* What was added since the run before is all of its pool. is_sorted: in the order of the list. */
void places_end_run(struct places *p, bool is_sorted);
/* The first `want` of all runs, in order, and maybe more. */
void places_merge(struct places *p, size_t want);
