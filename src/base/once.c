/* once.c - a table of what was made of static data, which grows and never loses an entry. */
#include "base/once.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/workers.h"

/*
 * Open addressing with linear probing over tables of fixed size: behind a full one stands the next.
 * Entries are never removed and never move, so a reader needs no lock: it either sees a key, and
 * then by release and acquire also the value written before it, or an empty place, and then takes
 * the lock to make the value. The lock is recursive because make may itself ask for another entry.
 */

/* A table is half full at most, so that a search is short and ends. */
enum { PLACES = 512, MOST = PLACES / 2 };

struct place {
    _Atomic(const void *) key;
    const void *made; /* written before the key */
};

struct table {
    struct place places[PLACES];
    size_t n;
    _Atomic(struct table *) next;
};

static struct table first;
static pthread_mutex_t making = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/* The place of the key, or the free one that it would have. */
static struct place *place_of(struct table *t, const void *key)
{
    /* Multiplicative hashing by 2^64 divided by the golden ratio: addresses of static data share
     * their low bits, and the upper bits of the product are mixed. */
    size_t at = (size_t)((uintptr_t)key * 0x9E3779B97F4A7C15u >> 40) % PLACES;
    for (;; at = (at + 1) % PLACES) {
        const void *there = atomic_load_explicit(&t->places[at].key, memory_order_acquire);
        if (!there || there == key)
            return &t->places[at];
    }
}

static struct table *table_behind(struct table *t)
{
    return atomic_load_explicit(&t->next, memory_order_acquire);
}

static const void *find_made(const void *key)
{
    for (struct table *t = &first; t; t = table_behind(t)) {
        const struct place *p = place_of(t, key);
        if (atomic_load_explicit(&p->key, memory_order_acquire))
            return p->made;
    }
    return NULL;
}

/* The lock is held. */
static void add_made(const void *key, const void *made)
{
    struct table *t = &first;
    while (t->n == MOST) {
        if (!table_behind(t))
            atomic_store_explicit(&t->next, heap_alloc(sizeof *t), memory_order_release);
        t = table_behind(t);
    }
    struct place *p = place_of(t, key);
    p->made = made;
    t->n++;
    atomic_store_explicit(&p->key, key, memory_order_release);
}

const void *once_of(const void *key, size_t n, size_t size, once_make *make)
{
    const void *made = find_made(key);
    if (made)
        return made;
    HOLD(&making);
    made = find_made(key); /* another thread may have been first */
    if (!made) {
        made = make(key, n, size); /* which may add others */
        assert(made);
        add_made(key, made);
    }
    return made;
}
