/* list.h - lists of connections: one joins at the end and leaves from anywhere. */
#pragma once

#include "http/relay.h"

/* A member of what is in the list, found by container_of. */
struct link {
    struct link *next, **at; /* at: NULL while it is in no list */
};
struct list {
    struct link *first, **end;
};

static inline void list_open(struct list *l)
{
    *l = (struct list){.end = &l->first};
}

static inline void list_join(struct list *l, struct link *one)
{
    assert(!one->at);
    *one = (struct link){.at = l->end};
    *l->end = one;
    l->end = &one->next;
}

/* Of one that is in no list: nothing. */
static inline void list_leave(struct list *l, struct link *one)
{
    if (!one->at)
        return;
    *one->at = one->next;
    if (one->next)
        one->next->at = one->at;
    else
        l->end = one->at;
    one->at = NULL;
}
