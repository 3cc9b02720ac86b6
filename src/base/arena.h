/* arena.h - memory that lives and dies with one call. */
#pragma once

#include <stddef.h>

struct arena_block;

/* All zero is an empty arena. Nothing that outlives the call may point into it. */
struct arena {
    struct arena_block *head; /* newest block first */
    size_t used;              /* bytes taken from the newest block */
    size_t total;             /* bytes held from the system, for limits and metrics */
};

/* Zeroed, aligned for any type and never NULL: out of memory ends the process. */
void *arena_alloc(struct arena *a, size_t n);
/* The same with any content, for what is written before it is read: to zero a large array takes
 * longer than to fill the part of it that is used. */
void *arena_room(struct arena *a, size_t n);

/* Gives back everything but one block, for the next round of a loop. */
void arena_reset(struct arena *a);
void arena_free(struct arena *a);

/*
 * Room for one more behind n elements of that size: v itself, or a greater copy of it when all *cap
 * are taken.
 */
void *arena_more(struct arena *a, void *v, size_t n, size_t *cap, size_t size);
/* The place of one more behind the N elements of V, which it counts. */
#define ARENA_ADD(A, V, N, CAP) (*((V) = arena_more(A, V, N, &(CAP), sizeof *(V)), &(V)[(N)++]))

/* A copy of the first N elements of V, with place for ROOM of them. V may be NULL where N is 0. */
#define DUP_N(A, V, N, ROOM) arena_dup(A, V, sizeof *(V) * (N), sizeof *(V) * (ROOM))
void *arena_dup(struct arena *a, const void *v, size_t n, size_t room);

#define NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define NEW_N(arena, type, n) ((type *)arena_alloc((arena), sizeof(type) * (n)))
#define ROOM_N(arena, type, n) ((type *)arena_room((arena), sizeof(type) * (n)))

/* Says what failed, and ends the process: the system refused memory, a thread or the like. */
_Noreturn void die_of_limits(const char *what);

/* For what outlives a call. Never NULL, as above; heap_alloc zeroes, heap_grow does not. */
void *heap_alloc(size_t n);
void *heap_grow(void *p, size_t n);
