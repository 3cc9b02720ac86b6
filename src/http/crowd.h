/* crowd.h - which idle connection leaves when a new client comes and all places are taken. */
#pragma once

#include "http/conn.h"
#include "http/loop.h"

/* A loop keeps its idle connections in the order in which they became idle. */
void crowd_open(struct loop *l);
void crowd_enter(struct conn *c);
void crowd_leave(struct conn *c); /* of one that is not idle: nothing */

/* On the accepting loop: has the connection closed that is idle for longest, whichever loop it is
 * on. False when none is idle. */
bool crowd_make_room(struct server *s);
/* Closes as many as this loop was asked to. */
void crowd_shed(struct loop *l);
/* Whether all places are taken. */
bool crowd_is_full(const struct server *s);
