/* cache.h - an LRU cache of vectors with a TTL. */
#pragma once

#include "base/str.h"

struct cache;

/* max entries, each for ttl_ms. max 0: no cache. */
struct cache *cache_new(size_t max, int64_t ttl_ms);
void cache_free(struct cache *c);

/* Copies the vector out when it is cached, not expired and has n values. Thread-safe. */
bool cache_get(struct cache *c, str key, float *out, size_t n);
void cache_put(struct cache *c, str key, const float *v, size_t n);
void cache_clear(struct cache *c);

struct cache_stats {
    uint64_t hits, misses;
    size_t size;
};
struct cache_stats cache_stats(struct cache *c);
