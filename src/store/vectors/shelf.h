/* shelf.h - the vectors of pools that were searched, held in memory; the least used go first. */
#pragma once

#include "base/workers.h"
#include "store/vectors/codes.h"
#include "store/vectors/token_store.h"

/* The vectors of one pool. Whoever has taken it reads under its lock, and adds missed rows under
 * its lock, so that other pools need not wait. */
struct held {
    int64_t pool, set;
    int64_t seen;  /* rows of that set up to this seq have been read */
    int64_t began; /* the greatest seq when reading began */
    pthread_rwlock_t lock;
    struct codes codes;
    struct token_store tokens; /* of what the codes show */
    /* The shelf's own. */
    size_t users, bytes;
    uint64_t used;
    struct held *next;
};

enum { SHELF_LISTS = 1024 };

struct shelf {
    pthread_mutex_t lock;
    struct held *lists[SHELF_LISTS]; /* by the pool's number */
    size_t n, bytes, max;
    uint64_t now;
};

void shelf_open(struct shelf *s, size_t max);
void shelf_close(struct shelf *s);

/* The pool's vectors, made when missing; they stay until they are given back. */
struct held *shelf_take(struct shelf *s, int64_t pool);
void shelf_give(struct shelf *s, struct held *h);

/* Bytes of a pool, 0 when it is not held; pool 0: of all. */
size_t shelf_bytes(struct shelf *s, int64_t pool);
/* Numbers of the pools that are held. */
int64_t *shelf_pools(struct arena *a, struct shelf *s, size_t *n);
/* Removes its vectors at once, also for searches that use them. */
void shelf_drop(struct shelf *s, int64_t pool);
