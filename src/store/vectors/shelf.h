/* shelf.h - the vectors of pools that were searched, held in memory; the least used go first. */
#pragma once

#include <pthread.h>

#include "store/vectors/codes.h"

/* One pool's. Whoever took it reads under its lock, and writes under its lock what it has missed:
 * other pools are not held up meanwhile. */
struct held {
    int64_t pool, set;
    int64_t seen;  /* rows of that set up to that seq are in it */
    int64_t began; /* the greatest seq there was when it began to be read */
    pthread_rwlock_t lock;
    struct codes codes;
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

/* The pool's, made when it is not there; it stays until it is given back. */
struct held *shelf_take(struct shelf *s, int64_t pool);
/* NULL is fine. */
void shelf_give(struct shelf *s, struct held *h);

/* What a pool takes, 0 when it is not held; pool 0: all of them. */
size_t shelf_bytes(struct shelf *s, int64_t pool);
/* The numbers of the pools that are held. */
int64_t *shelf_pools(struct arena *a, struct shelf *s, size_t *n);
/* Its vectors go at once, from everybody's sight. */
void shelf_drop(struct shelf *s, int64_t pool);
