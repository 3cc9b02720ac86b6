/* unkept.h - turns whose answer a client may have, and that are not queued for the store yet. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "core/memory.h"

struct engine;

/* A member of what keeps the turn; all zero: the turn was never added. */
struct unkept {
    struct pool_ref pool;
    /* Queues the turn for the store. Called once, on any thread, with a ctx of its own. */
    void (*keep)(struct ctx *ctx, struct engine *e, struct unkept *u);
    enum { UNKEPT_OUT, UNKEPT_WAITS, UNKEPT_RUNS } phase;
    struct unkept *next;
};

struct unkept_list {
    pthread_mutex_t lock;
    pthread_cond_t kept;
    struct unkept *first;
    atomic_size_t n; /* looked at without the lock */
};

/* Does not block, so that it may run on a loop. From now on a catch-up of the pool may keep the
 * turn, until unkept_end. */
void unkept_add(struct engine *e, struct unkept *u);

/* Keeps the turn now if nobody has, and waits while somebody does. Afterwards nobody holds it. */
void unkept_end(struct ctx *ctx, struct engine *e, struct unkept *u);

/*
 * Before a read that must see what the pool's clients were answered, or a change that must be the
 * later one (space "": of all the user's spaces, user "": of everyone): keeps the pool's turns that
 * wait, and waits until they can be read, though not for the disk. At most half of recall's
 * deadline: what another process writes, or a long import of the same pool, is not waited for any
 * longer. Costs next to nothing where nothing waits.
 */
void engine_catch_up(struct ctx *ctx, struct engine *e, struct pool_ref pool);
/* Before an erasure: TOO_BUSY while something of the pool still waits for a database that was away,
 * as it would come back behind it. */
MUST_USE enum status engine_all_kept(struct ctx *ctx, struct engine *e, struct pool_ref pool);
