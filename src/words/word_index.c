/* word_index.c - a table of words by their hashes, half of which is free. */
#include "words/word_index.h"

#include "base/once.h"

/*
 * Most words that are looked for are in no list, and the places of all lists do not stay in the
 * fastest memory of the processor. So a bit for each hash, MARKS times as many bits as places, says
 * first that a word is not there: an eighth of the memory, and 31 of 32 such words end at it.
 *
 * Open addressing with linear probing; the size is a power of two and more than twice the number of
 * rows, so a search ends at a free place after very few steps: more where rows share a word. Places
 * point at the words of the rows and copy nothing. The table does not change after it was made, so
 * any thread may read it without a lock.
 */

struct word_place {
    const char *p; /* NULL: free */
    uint32_t n, place;
};

enum { MARKS = 16, WORD_BITS = 64 };

/* FNV-1a as str_hash has it, by steps, so that a word's lower case has a hash without a copy. */
#define HASH_BEGIN 14695981039346656037u

/* By the upper bits; the lower ones are the place. */
static inline uint64_t *mark_of(const struct word_index *x, uint64_t hash, uint64_t *bit)
{
    uint64_t at = (hash >> 32) & ((uint64_t)MARKS * (x->last + 1) - 1);
    *bit = (uint64_t)1 << at % WORD_BITS;
    return &x->marks[at / WORD_BITS];
}

struct word_index word_index_make(const void *rows, size_t n, size_t size)
{
    size_t room = WORD_BITS / MARKS;
    while (room < 2 * n + 1)
        room *= 2;
    assert(room < UINT32_MAX);
    struct word_index x = {.v = heap_alloc(room * sizeof *x.v),
                           .marks = heap_alloc(room * MARKS / 8),
                           .last = (uint32_t)(room - 1)};
    for (size_t i = 0; i < n; i++) {
        str word = *(const str *)((const char *)rows + i * size);
        uint64_t hash = str_hash(word), bit;
        uint32_t at = (uint32_t)hash & x.last;
        *mark_of(&x, hash, &bit) |= bit;
        while (x.v[at].p)
            at = (at + 1) & x.last;
        x.v[at] = (struct word_place){word.p, (uint32_t)word.n, (uint32_t)i};
    }
    return x;
}

static void *make_index(const void *rows, size_t n, size_t size)
{
    struct word_index *x = heap_alloc(sizeof *x);
    *x = word_index_make(rows, n, size);
    return x;
}

const struct word_index *word_index_of(const void *rows, size_t n, size_t size)
{
    return once_of(rows, n, size, make_index);
}

static inline uint32_t find(const struct word_index *x, str word, uint64_t hash, bool lowers)
{
    uint64_t bit;
    if (!(*mark_of(x, hash, &bit) & bit))
        return NO_WORD;
    uint32_t at = (uint32_t)hash & x->last;
    for (const struct word_place *w; (w = &x->v[at])->p; at = (at + 1) & x->last)
        if (w->n == word.n && (lowers ? EVERY(i, word.n, ascii_lower(word.p[i]) == w->p[i])
                                      : memcmp(w->p, word.p, word.n) == 0))
            return w->place;
    return NO_WORD;
}

uint32_t word_index_find(const struct word_index *x, str word)
{
    return find(x, word, str_hash(word), false);
}

uint32_t word_index_find_lower(const struct word_index *x, str word)
{
    uint64_t hash = HASH_BEGIN;
    for (size_t i = 0; i < word.n; i++)
        hash = (hash ^ (unsigned char)ascii_lower(word.p[i])) * 1099511628211u;
    return find(x, word, hash, true);
}
