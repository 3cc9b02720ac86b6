/* cache.c - a hash table over a list in the order of use, behind one lock. */
#include "embed/cache.h"

#include "base/clock.h"
#include "base/workers.h"

/*
 * An LRU cache with an age limit: a hash table with chains finds an entry, and a doubly linked list
 * keeps the order of use. All operations are O(1). The number of chains is a power of two and at
 * least max, so chains are short. The key holds the SHA-256 of the text and not the text, so memory
 * is bounded by the number of entries times their dimensions (1,000 vectors of 1,536 floats: 6 MB).
 * One mutex is enough: it is held for a lookup and the copy of one vector.
 */

struct entry {
    struct entry *next;          /* of its chain */
    struct entry *older, *newer; /* in the order of use */
    uint64_t hash;
    int64_t until; /* clock_ms */
    size_t n, key_n;
    float v[]; /* the key follows the values */
};

struct cache {
    pthread_mutex_t lock;
    size_t max, mask;
    int64_t ttl_ms;
    struct entry **chains;
    struct entry *oldest, *newest;
    struct cache_stats stats;
};

/* max 0 is a cache that keeps nothing and only counts misses. ttl_ms 0: an entry has expired when
 * it is looked for. */
struct cache *cache_new(size_t max, int64_t ttl_ms)
{
    struct cache *c = heap_alloc(sizeof *c);
    size_t chains = 16;
    while (chains < max)
        chains *= 2;
    *c = (struct cache){.max = max, .mask = chains - 1, .ttl_ms = ttl_ms};
    c->chains = heap_alloc(chains * sizeof(struct entry *));
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

static str key_of(const struct entry *e)
{
    return (str){(const char *)(e->v + e->n), e->key_n};
}

/* The lock is held, here and in the functions of the list below. */
static struct entry *find_entry(struct cache *c, str key, uint64_t hash)
{
    struct entry *e = c->chains[hash & c->mask];
    while (e && !(e->hash == hash && str_eq(key_of(e), key)))
        e = e->next;
    return e;
}

/* --- the order of use --- */

/* The list in the order of use: newest is where a hit goes, oldest is where an entry leaves. */
static void take_out(struct cache *c, struct entry *e)
{
    *(e->older ? &e->older->newer : &c->oldest) = e->newer;
    *(e->newer ? &e->newer->older : &c->newest) = e->older;
}

static void put_newest(struct cache *c, struct entry *e)
{
    e->older = c->newest;
    e->newer = NULL;
    *(c->newest ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

static void drop_entry(struct cache *c, struct entry *e)
{
    struct entry **at = &c->chains[e->hash & c->mask];
    assert(c->stats.size > 0);
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    take_out(c, e);
    c->stats.size--;
    explicit_bzero(e->v, e->n * sizeof *e->v); /* a vector reveals much of its text */
    free(e);
}

/* --- the face --- */

/* A hit does not extend the life of an entry: after ttl_ms a remote model is asked again even for a
 * text that is used all the time. */
bool cache_get(struct cache *c, str key, float *out, size_t n)
{
    uint64_t hash = str_hash(key);
    HOLD(&c->lock);
    struct entry *e = find_entry(c, key, hash);
    if (e && e->until <= clock_ms()) {
        drop_entry(c, e);
        e = NULL;
    }
    bool is_there = e && e->n == n;
    if (is_there) {
        take_out(c, e);
        put_newest(c, e);
        memcpy(out, e->v, n * sizeof *out);
    }
    c->stats.hits += is_there;
    c->stats.misses += !is_there;
    return is_there;
}

void cache_clear(struct cache *c)
{
    HOLD(&c->lock);
    while (c->oldest)
        drop_entry(c, c->oldest);
}

void cache_free(struct cache *c)
{
    if (!c)
        return;
    cache_clear(c);
    pthread_mutex_destroy(&c->lock);
    free(c->chains);
    free(c);
}

/* Expired entries go first, since they would be dropped on the next hit anyway; then the least
 * recently used one. The entry is allocated and filled before the lock is taken. Two threads that
 * made the same vector both put it; the later one replaces the earlier. */
void cache_put(struct cache *c, str key, const float *v, size_t n)
{
    if (!c->max)
        return;
    struct entry *e = heap_alloc(sizeof *e + n * sizeof *v + key.n);
    e->hash = str_hash(key);
    int64_t now = clock_ms();
    e->until = now + c->ttl_ms;
    e->n = n;
    e->key_n = key.n;
    memcpy(e->v, v, n * sizeof *v);
    memcpy(e->v + n, key.p, key.n);
    HOLD(&c->lock);
    while (c->oldest && c->oldest->until <= now)
        drop_entry(c, c->oldest);
    struct entry *same = find_entry(c, key, e->hash);
    if (same)
        drop_entry(c, same);
    else if (c->stats.size == c->max)
        drop_entry(c, c->oldest);
    assert(c->stats.size < c->max);
    e->next = c->chains[e->hash & c->mask];
    c->chains[e->hash & c->mask] = e;
    put_newest(c, e);
    c->stats.size++;
}

struct cache_stats cache_stats(struct cache *c)
{
    HOLD(&c->lock);
    return c->stats;
}
