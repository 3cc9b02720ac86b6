/* once.c - a table of what was made of static data, which grows and never loses an entry. */
#include "base/once.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/*
 * Open addressing with linear probing over a fixed table. Entries are never removed and never move,
 * so a reader needs no lock: it either sees a key, and then by release and acquire also the value
 * written before it, or an empty place, and then takes the lock to make the value. The lock is
 * recursive because make may itself ask for another entry.
 */

/* Twice as many as there will ever be, so that a search is short. */
enum { PLACES = 512, MOST = PLACES / 2 };

struct place {
    _Atomic(const void *) key;
    const void *made; /* written before the key */
};

static struct place places[PLACES];
static size_t n_places;
static pthread_mutex_t making = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/* The place of the key, or the free one that it would have. */
static struct place *place_of(const void *key)
{
    /* Multiplicative hashing by 2^64 divided by the golden ratio: addresses of static data share
     * their low bits, and the upper bits of the product are mixed. */
    size_t at = (size_t)((uintptr_t)key * 0x9E3779B97F4A7C15u >> 40) % PLACES;
    for (;; at = (at + 1) % PLACES) {
        const void *there = atomic_load_explicit(&places[at].key, memory_order_acquire);
        if (!there || there == key)
            return &places[at];
    }
}

static const void *find_made(const void *key)
{
    const struct place *p = place_of(key);
    return atomic_load_explicit(&p->key, memory_order_acquire) ? p->made : NULL;
}

const void *once_of(const void *key, size_t n, size_t size, once_make *make)
{
    const void *made = find_made(key);
    if (made)
        return made;
    pthread_mutex_lock(&making);
    made = find_made(key); /* another thread may have been first */
    if (!made) {
        made = make(key, n, size);
        assert(made && n_places < MOST);
        /* Searched again only now: make may have taken the place found before. */
        struct place *p = place_of(key);
        p->made = made;
        n_places++;
        atomic_store_explicit(&p->key, key, memory_order_release);
    }
    pthread_mutex_unlock(&making);
    return made;
}
