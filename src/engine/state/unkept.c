/* unkept.c - turns whose answer a client may have, and that are not queued for the store yet. */
#include "engine/state/unkept.h"

#include "base/workers.h"
#include "engine/state/spool.h"
#include "engine/state/state.h"

/*
 * A client may ask its next question when it has the last byte of an answer, and only then a worker
 * begins to keep the turn. So a turn is listed before the last byte goes out, and a question that
 * comes first keeps the turn itself. To wait for the worker instead would be wrong: with all
 * workers waiting, none would be left to do it.
 *
 * Phases of a turn: OUT (in no list) → WAITS (unkept_add, before the last byte of the answer) →
 * RUNS (somebody keeps it) → OUT. Whoever comes first keeps it: the worker behind the answer
 * (unkept_end) or a request of the same pool that must see it (engine_catch_up). The lock guards
 * the list and the phases and is never held while a turn is being kept, since that writes to the
 * store. The list is short: one entry for each answer that is just ending.
 */

void unkept_add(struct engine *e, struct unkept *u)
{
    struct unkept_list *l = &e->unkept;
    assert(u->keep && u->phase == UNKEPT_OUT);
    HOLD(&l->lock);
    u->phase = UNKEPT_WAITS;
    struct unkept **end = &l->first;
    while (*end)
        end = &(*end)->next;
    *end = u;
    u->next = NULL;
    atomic_fetch_add(&l->n, 1);
}

/* The lock is held, and is given away while the turn is being kept. */
static void keep_listed(struct ctx *ctx, struct engine *e, struct unkept *u)
{
    struct unkept_list *l = &e->unkept;
    u->phase = UNKEPT_RUNS;
    pthread_mutex_unlock(&l->lock);
    {
        CLEANUP(ctx_free) struct ctx own = ctx_detached(ctx);
        u->keep(&own, e, u);
    }
    pthread_mutex_lock(&l->lock);
    struct unkept **at = &l->first;
    while (*at != u)
        at = &(*at)->next;
    *at = u->next;
    u->phase = UNKEPT_OUT;
    atomic_fetch_sub(&l->n, 1);
    pthread_cond_broadcast(&l->kept);
}

void unkept_end(struct ctx *ctx, struct engine *e, struct unkept *u)
{
    struct unkept_list *l = &e->unkept;
    HOLD(&l->lock);
    while (u->phase == UNKEPT_RUNS)
        pthread_cond_wait(&l->kept, &l->lock);
    if (u->phase == UNKEPT_WAITS)
        keep_listed(ctx, e, u);
}

static struct unkept *unkept_of(const struct unkept_list *l, struct pool_ref pool)
{
    struct unkept *u = l->first;
    assert(pool.user.n || !pool.space.n);
    while (u && !((!pool.user.n || str_eq(u->pool.user, pool.user)) &&
                  (!pool.space.n || str_eq(u->pool.space, pool.space))))
        u = u->next;
    return u;
}

/* A turn that is being kept is waited for: whoever keeps it waits for nobody. */
static void keep_all(struct ctx *ctx, struct engine *e, struct pool_ref pool)
{
    struct unkept_list *l = &e->unkept;
    struct unkept *u;
    HOLD(&l->lock);
    while ((u = unkept_of(l, pool)) != NULL) {
        if (u->phase == UNKEPT_WAITS)
            keep_listed(ctx, e, u);
        else
            pthread_cond_wait(&l->kept, &l->lock);
    }
}

/* The atomic count spares nearly every request the lock. A store that settles too late is no
 * failure: the read then misses what was said in the last moments. */
void engine_catch_up(struct ctx *ctx, struct engine *e, struct pool_ref pool)
{
    if (atomic_load(&e->unkept.n))
        keep_all(ctx, e, pool);
    if (spool_lines(e->work.spool) && soft(ctx, store_ping(ctx, e->store)))
        spool_wait(e->work.spool, pool, e->settings->recall_deadline_ms / 2);
    soft(ctx, store_settle_pool(ctx, e->store, pool, e->settings->recall_deadline_ms / 2));
}

enum status engine_all_kept(struct ctx *ctx, struct engine *e, struct pool_ref pool)
{
    engine_catch_up(ctx, e, pool);
    if (spool_holds(e->work.spool, pool))
        return fail(ctx, TOO_BUSY,
                    "what was said while the database was away is still being stored, and would "
                    "come back behind the erasure; try again");
    return OK;
}
