/* shelf.c - a table of pools, a count of who uses each, and a limit in bytes. */
#include "store/vectors/shelf.h"

/*
 * A pool that is in use cannot be evicted, so a count of users is kept under the lock of the table,
 * while reading and scanning happen under the lock of the pool.
 *
 * Order of locks: a thread that holds the shelf's lock takes no other, and the lock of a pool is
 * taken only by a thread that has the pool (shelf_take), so a pool cannot be freed under it. The
 * memory limit is checked when a pool is given back; pools in use may exceed it for that time.
 */

/* An eviction frees a bit more than needed, so that not every search looks for the least used. */
enum { SPARE_PART = 8 };

void shelf_open(struct shelf *s, size_t max)
{
    *s = (struct shelf){.max = max};
    pthread_mutex_init(&s->lock, NULL);
}

static struct held *held_new(int64_t pool)
{
    struct held *h = heap_alloc(sizeof *h);
    pthread_rwlockattr_t kind;
    pthread_rwlockattr_init(&kind);
    /* Otherwise a steady stream of searches would keep new vectors from being added. */
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&h->lock, &kind);
    pthread_rwlockattr_destroy(&kind);
    token_store_open(&h->tokens);
    h->pool = pool;
    return h;
}

static void held_free(struct held *h)
{
    codes_free(&h->codes);
    token_store_close(&h->tokens);
    pthread_rwlock_destroy(&h->lock);
    free(h);
}

void shelf_close(struct shelf *s)
{
    for (size_t i = 0; i < SHELF_LISTS; i++) {
        for (struct held *h = s->lists[i], *next; h; h = next) {
            next = h->next;
            assert(!h->users);
            held_free(h);
        }
    }
    pthread_mutex_destroy(&s->lock);
}

/* Where the pool is linked, or would be. The lock is held. */
static struct held **place_of(struct shelf *s, int64_t pool)
{
    struct held **at = &s->lists[(uint64_t)pool % SHELF_LISTS];
    while (*at && (*at)->pool != pool)
        at = &(*at)->next;
    return at;
}

struct held *shelf_take(struct shelf *s, int64_t pool)
{
    HOLD(&s->lock);
    struct held **at = place_of(s, pool);
    if (!*at) {
        *at = held_new(pool);
        s->n++;
    }
    struct held *h = *at;
    h->users++;
    h->used = ++s->now;
    return h;
}

static int by_use(const void *a, const void *b)
{
    const struct held *x = *(const struct held *const *)a, *y = *(const struct held *const *)b;
    return x->used < y->used ? -1 : x->used > y->used;
}

/* Pools that no search uses, except the last one taken; least used first. */
static struct held **unused_held(struct shelf *s, size_t *n)
{
    struct held **v = heap_alloc((s->n + 1) * sizeof *v);
    *n = 0;
    for (size_t i = 0; i < SHELF_LISTS; i++)
        for (struct held *h = s->lists[i]; h; h = h->next)
            /* The pool used last stays even when it is larger than the limit: it would be read
             * again at once. */
            if (!h->users && h->used != s->now)
                v[(*n)++] = h;
    qsort(v, *n, sizeof *v, by_use);
    return v;
}

static void unlink_held(struct shelf *s, struct held *h)
{
    *place_of(s, h->pool) = h->next;
    s->bytes -= h->bytes;
    s->n--;
}

/* Evicted pools, as a list: freeing them takes time, and is done without the lock. */
static struct held *make_room(struct shelf *s)
{
    struct held *gone = NULL;
    size_t n;
    if (s->bytes <= s->max)
        return NULL;
    struct held **v = unused_held(s, &n);
    for (size_t i = 0; i < n && s->bytes > s->max - s->max / SPARE_PART; i++) {
        unlink_held(s, v[i]);
        v[i]->next = gone;
        gone = v[i];
    }
    free(v);
    return gone;
}

void shelf_give(struct shelf *s, struct held *h)
{
    struct held *gone = NULL, *next;
    pthread_mutex_lock(&s->lock);
    assert(h->users);
    if (!--h->users) {
        size_t bytes = sizeof *h + codes_bytes(&h->codes) + token_store_bytes(&h->tokens);
        s->bytes += bytes - h->bytes;
        h->bytes = bytes;
        gone = make_room(s);
    }
    pthread_mutex_unlock(&s->lock);
    for (; gone; gone = next) {
        next = gone->next;
        held_free(gone);
    }
}

size_t shelf_bytes(struct shelf *s, int64_t pool)
{
    HOLD(&s->lock);
    const struct held *h = pool ? *place_of(s, pool) : NULL;
    return !pool ? s->bytes : h ? h->bytes : 0;
}

int64_t *shelf_pools(struct arena *a, struct shelf *s, size_t *n)
{
    int64_t *v = NULL;
    size_t cap = 0;
    *n = 0;
    HOLD(&s->lock);
    for (size_t i = 0; i < SHELF_LISTS; i++)
        for (const struct held *h = s->lists[i]; h; h = h->next)
            ARENA_ADD(a, v, *n, cap) = h->pool;
    return v;
}

/* A search that uses the pool keeps its place in the table, without vectors. */
void shelf_drop(struct shelf *s, int64_t pool)
{
    pthread_mutex_lock(&s->lock);
    struct held *h = *place_of(s, pool);
    bool is_used = h && h->users;
    if (is_used)
        h->users++;
    else if (h)
        unlink_held(s, h);
    pthread_mutex_unlock(&s->lock);
    if (!is_used) {
        if (h)
            held_free(h);
        return;
    }
    pthread_rwlock_wrlock(&h->lock);
    codes_free(&h->codes);
    token_store_empty(&h->tokens);
    h->seen = 0;
    pthread_rwlock_unlock(&h->lock);
    shelf_give(s, h);
}
