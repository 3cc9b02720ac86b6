/* crowd.c - which idle connection leaves when a new client comes and all places are taken. */
#include "http/crowd.h"

#include <assert.h>

/*
 * Thousands of idle connections must not shut everyone else out. So at connections_max the one that
 * is idle for longest is closed, which HTTP allows at any time (RFC 9112, section 9.5). A
 * connection with a part of a request, or with an answer under way, is never closed for this.
 *
 * Connections belong to the threads of their loops. Each loop shows how many are idle and since
 * when the first of them is; the accepting loop only asks a loop to close one, and counts what it
 * has asked for (sheds). A connection may become busy before its loop gets to it. Then the server
 * has one connection more than allowed until another one ends.
 */

void crowd_open(struct loop *l)
{
    l->idle_end = &l->idle_first;
    atomic_store(&l->idle_from_us, INT64_MAX);
}

/* All wait for the same idle_ms, so the deadline tells which one is idle for longest. */
static void show_first(struct loop *l)
{
    atomic_store(&l->idle_from_us, l->idle_first ? l->idle_first->deadline_us : INT64_MAX);
}

void crowd_enter(struct conn *c)
{
    struct loop *l = c->loop;
    assert(!c->idle_at && c->state == CONN_IDLE);
    c->idle_next = NULL;
    c->idle_at = l->idle_end;
    *l->idle_end = c;
    l->idle_end = &c->idle_next;
    atomic_fetch_add(&l->idle_count, 1);
    show_first(l);
}

void crowd_leave(struct conn *c)
{
    struct loop *l = c->loop;
    if (!c->idle_at)
        return;
    *c->idle_at = c->idle_next;
    if (c->idle_next)
        c->idle_next->idle_at = c->idle_at;
    else
        l->idle_end = c->idle_at;
    c->idle_at = NULL;
    atomic_fetch_sub(&l->idle_count, 1);
    show_first(l);
}

bool crowd_make_room(struct server *s)
{
    struct loop *longest = NULL;
    int64_t from_us = INT64_MAX;
    for (size_t i = 0; i < s->n_loops; i++) {
        struct loop *l = &s->loops[i];
        int64_t from = atomic_load(&l->idle_from_us);
        if (from < from_us && atomic_load(&l->idle_count) > atomic_load(&l->sheds)) {
            longest = l;
            from_us = from;
        }
    }
    if (!longest)
        return false;
    atomic_fetch_add(&longest->sheds, 1);
    if (longest == &s->loops[0])
        crowd_shed(longest);
    else
        loop_wake(longest);
    return true;
}

void crowd_shed(struct loop *l)
{
    assert(loop_is_here(l));
    for (size_t n = atomic_exchange(&l->sheds, 0); n && l->idle_first; n--) {
        count_up(&l->count.shed_connections, 1);
        conn_close(l->idle_first);
    }
}

bool crowd_is_full(const struct server *s)
{
    return atomic_load(&s->connections) >= s->settings.connections_max;
}
