/* agents.c - the spaces of a user as agents, with what each of them remembers. */
#include "engine/state/state.h"

/*
 * An agent is a space under another name: nothing is stored for it, and its counts are sums over
 * the space.
 */

static struct agent agent_of(const struct pool_sum *s)
{
    return (struct agent){.pool = s->pool,
                          .pinned = s->facts,
                          .episodes = s->episodes,
                          .signals = s->signals,
                          .updated = s->updated};
}

enum status engine_agents(struct ctx *ctx, struct engine *e, str user, struct agent **out,
                          size_t *n)
{
    struct pool_sum *v;
    size_t have;
    const struct pool_ref everywhere = {.user = user};
    engine_catch_up(ctx, e, everywhere);
    TRY(store_pool_sums(ctx, e->store, everywhere, &v, &have));
    struct agent *agents = NEW_N(&ctx->arena, struct agent, have + 1);
    for (size_t i = 0; i < have; i++)
        agents[i] = agent_of(&v[i]);
    *out = agents;
    *n = have;
    return OK;
}

/* NOT_FOUND, with the name, where the store has no such space. */
enum status engine_agent(struct ctx *ctx, struct engine *e, struct pool_ref pool, struct agent *out)
{
    struct pool_sum *v;
    size_t n = 0;
    engine_catch_up(ctx, e, pool);
    if (pool.space.n)
        TRY(store_pool_sums(ctx, e->store, pool, &v, &n));
    if (!n)
        return fail(ctx, NOT_FOUND, "there is no agent '" S_FMT "'", S_ARG(pool.space));
    *out = agent_of(v);
    return OK;
}
