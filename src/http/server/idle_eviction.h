/* idle_eviction.h - the idle connection that leaves when a new client comes and none has room. */
#pragma once

#include "http/server/loop.h"

/* A loop keeps its idle connections in the order in which they became idle. */
struct idle_place {
    struct link link;
    int64_t until_us;
};

void idle_open(struct loop *l);
void idle_enter(struct loop *l, struct idle_place *p, int64_t until_us);
void idle_leave(struct loop *l, struct idle_place *p); /* of one that is not idle: nothing */

/* On the accepting loop: the loop that is to close the connection that is idle for longest, counted
 * in its sheds. NULL when none is idle. */
struct loop *idle_choose(struct server *s);
