/* arena.c - a chain of blocks, each handed out from the front. */
#include "base/arena.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Allocation takes the next bytes of the newest block; objects are not freed one by one. A request
 * that does not fit opens a new block, twice as large as the last one, so a call that needs n bytes
 * costs O(log n) calls of malloc. The rest of the old block is not used again.
 *
 * Running out of memory ends the process: no caller could continue a half-made answer, and limits
 * on input sizes are enforced where input enters.
 */

/* BLOCK holds a typical request. BLOCK_MAX ends the doubling, so that one large call does not
 * reserve as much again. ALIGN is what max_align_t needs on x86-64 and arm64. FEW is the first
 * capacity of an array that grows by arena_more. */
enum { BLOCK = 8192, BLOCK_MAX = 1 << 20, ALIGN = 16, FEW = 16 };

struct arena_block {
    struct arena_block *next;
    size_t size;
    _Alignas(ALIGN) char bytes[];
};

void die_of_limits(const char *what)
{
    fprintf(stderr, "rememberd: %s; check the limits of the process (ulimit -a)\n", what);
    abort();
}

static void *or_abort(void *p, size_t n)
{
    if (!p) {
        fprintf(stderr, "rememberd: out of memory (%zu bytes)\n", n);
        abort();
    }
    return p;
}

void *heap_alloc(size_t n)
{
    return or_abort(calloc(1, n ? n : 1), n);
}

void *heap_grow(void *p, size_t n)
{
    return or_abort(realloc(p, n ? n : 1), n);
}

static size_t aligned(size_t n)
{
    assert(n < SIZE_MAX / 2);
    return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

void *arena_room(struct arena *a, size_t n)
{
    n = aligned(n);
    if (!a->head || a->used + n > a->head->size) {
        size_t size = a->head ? a->head->size * 2 : BLOCK;
        if (size > BLOCK_MAX)
            size = BLOCK_MAX;
        if (size < n)
            size = n;
        struct arena_block *b = heap_grow(NULL, sizeof *b + size);
        b->next = a->head;
        b->size = size;
        a->head = b;
        a->used = 0;
        a->total += size;
    }
    void *p = a->head->bytes + a->used;
    a->used += n;
    return p;
}

/* Bytes are zeroed here and not when a block is made, because arena_reset hands the first block out
 * again with its old content. */
void *arena_alloc(struct arena *a, size_t n)
{
    return memset(arena_room(a, n), 0, aligned(n));
}

void *arena_dup(struct arena *a, const void *v, size_t n, size_t room)
{
    assert(n <= room);
    char *copy = arena_room(a, room);
    if (n)
        memcpy(copy, v, n);
    memset(copy + n, 0, room - n);
    return copy;
}

/* Doubling leaves the old array in the arena: at most as much again as the last one is wasted, and
 * pointers into the old array stay valid. */
void *arena_more(struct arena *a, void *v, size_t n, size_t *cap, size_t size)
{
    assert(n <= *cap && size);
    if (n < *cap)
        return v;
    *cap = *cap ? *cap * 2 : FEW;
    return arena_dup(a, v, n * size, *cap * size);
}

/* Keeps the oldest block, normally the smallest one: a loop pays for malloc only in rounds that
 * need more than the first block has. */
void arena_reset(struct arena *a)
{
    while (a->head && a->head->next) {
        struct arena_block *b = a->head;
        a->head = b->next;
        a->total -= b->size;
        free(b);
    }
    a->used = 0;
}

void arena_free(struct arena *a)
{
    arena_reset(a);
    free(a->head);
    *a = (struct arena){0};
}
