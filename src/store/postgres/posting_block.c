/* posting_block.c - documents of a word with their counts, packed into bytes. */
#include "store/postgres/posting_block.h"

#include <assert.h>

/* A distance has seven bits a byte, the lowest first; all bytes but the last have the eighth bit.
 * Neighbours in a session take two bytes with their counts. */
enum { BITS = 7, MORE = 1 << BITS, DISTANCE_MAX = 10 };

str block_pack(struct arena *a, int64_t first, const struct block_entry *v, size_t n)
{
    char *p = arena_alloc(a, n * (DISTANCE_MAX + 1) + 1), *to = p;
    for (size_t i = 0; i < n; i++) {
        assert(v[i].doc >= first);
        uint64_t distance = (uint64_t)v[i].doc - (uint64_t)first;
        for (; distance >= MORE; distance >>= BITS)
            *to++ = (char)(distance | MORE);
        *to++ = (char)distance;
        *to++ = (char)v[i].counts;
        first = v[i].doc;
    }
    return (str){p, (size_t)(to - p)};
}

bool block_next(str *rest, struct block_entry *entry)
{
    uint64_t distance = 0;
    for (size_t i = 0; i + 1 < rest->n && i < DISTANCE_MAX; i++) {
        unsigned char byte = (unsigned char)rest->p[i];
        distance |= (uint64_t)(byte & (MORE - 1)) << (BITS * i);
        if (byte & MORE)
            continue;
        entry->doc += (int64_t)distance;
        entry->counts = (uint8_t)rest->p[i + 1];
        *rest = str_sub(*rest, i + 2, rest->n);
        return true;
    }
    return false;
}
