/* memory_select.h - memories that a list, a bulk change and an export mean, and a page of them. */
#pragma once

#include "core/memory.h"

/* The order of a list; of equal values the row's number decides. */
enum memory_sort {
    SORT_CREATED,
    SORT_UPDATED,
    SORT_IMPORTANCE,
    SORT_LAST_USED,
    SORT_USES,
    SORT_COUNT,               /* of those that have a name and an index */
    SORT_ACTIVE = SORT_COUNT, /* last used or, where that is later, created */
};
/* Memories that are closed or have expired. */
enum memory_closed { CLOSED_OUT, CLOSED_TOO, CLOSED_ONLY, EXPIRED_TOO };

/* Everything that is looked for; SELECT_ALL, with pools, is every open memory. */
struct memory_select {
    const struct pool_ref *pools;
    size_t n_pools;
    int layer, type, origin; /* -1: any */
    str category, session, key, tag;
    str kind;               /* of kind_names; "" for any */
    str contains;           /* in content or key, ASCII case folded */
    int64_t after, before;  /* created in [after, before), unix ms; 0: no such end */
    int64_t expires_before; /* 0: whenever or never */
    double importance_min, importance_max;
    enum memory_closed closed;
};
#define SELECT_ALL                                                                                 \
    (struct memory_select)                                                                         \
    {                                                                                              \
        .layer = -1, .type = -1, .origin = -1, .importance_max = 1                                 \
    }

/* A page of them. */
struct memory_page_in {
    struct memory_select select;
    enum memory_sort sort;
    bool is_ascending;
    bool has_place;     /* the page begins behind a row of that value and number */
    double place_value; /* as memory_sort_value */
    int64_t place_row;  /* of memory_row */
    size_t limit, offset;
    bool counts; /* total and tallies, too */
};

/* How many of the selected memories are of one kind, in one space. */
struct memory_tally {
    size_t pool; /* index of select.pools */
    int layer, type, origin;
    bool is_closed; /* or has expired */
    str category;
    int64_t n;
};

struct memory_page {
    struct memory *v;
    size_t n;
    bool has_more; /* there is a row behind the last one */
    int64_t total;
    struct memory_tally *tallies;
    size_t n_tallies;
};

/* The value that a memory has in a sort, and the number of its row: the place of a cursor. */
double memory_sort_value(const struct memory *m, enum memory_sort sort);
int64_t memory_row(const struct memory *m);
extern const char *const sort_names[];
