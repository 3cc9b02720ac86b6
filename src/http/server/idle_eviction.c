/* idle_eviction.c - the idle connection that leaves when a new client comes and none has room. */
#include "http/server/idle_eviction.h"

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

void idle_open(struct loop *l)
{
    list_open(&l->idle_conns);
    atomic_store(&l->idle_from_us, INT64_MAX);
}

/* All wait for the same idle_ms, so the deadline tells which one is idle for longest. */
static void show_first(struct loop *l)
{
    const struct link *first = l->idle_conns.first;
    atomic_store(&l->idle_from_us,
                 first ? container_of(first, struct idle_place, link)->until_us : INT64_MAX);
}

void idle_enter(struct loop *l, struct idle_place *p, int64_t until_us)
{
    assert(loop_is_here(l));
    p->until_us = until_us;
    list_join(&l->idle_conns, &p->link);
    atomic_fetch_add(&l->idle_count, 1);
    show_first(l);
}

void idle_leave(struct loop *l, struct idle_place *p)
{
    if (!p->link.at)
        return;
    list_leave(&l->idle_conns, &p->link);
    atomic_fetch_sub(&l->idle_count, 1);
    show_first(l);
}

struct loop *idle_choose(struct server *s)
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
    if (longest)
        atomic_fetch_add(&longest->sheds, 1);
    return longest;
}
