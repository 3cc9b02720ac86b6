/* found.c - sessions by their names, in every space in reach. */
#include "surface/common/found.h"

/* One id in two spaces is two conversations, and none of them is the one that was meant. */
static enum status refuse_choice(struct ctx *ctx, const struct session *v, size_t n,
                                 const char *how)
{
    struct buf b = buf_make(&ctx->arena, sizeof ctx->why);
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s" S_FMT, i ? ", " : "", S_ARG(v[i].space));
    return fail(ctx, CONFLICT,
                "the session is in more than one space (" S_FMT "): name one with %s",
                S_ARG(buf_str(&b)), how);
}

/* Clients name sessions, so every space in reach is asked, also after a hit: a second hit makes the
 * id ambiguous. */
enum status found_session(struct ctx *ctx, struct app *app, const struct identity *who, str id,
                          const char *how, struct session *out, struct pool_ref *pool)
{
    struct pools pools;
    size_t n_found = 0;
    TRY(auth_pools(ctx, app, who, &pools));
    struct session *found = NEW_N(&ctx->arena, struct session, pools.n);
    for (size_t i = 0; i < pools.n; i++) {
        enum status s = engine_session(ctx, app->engine, pools.v[i], id, &found[n_found]);
        if (s == OK)
            n_found++;
        else if (!soft_if(ctx, s, NOT_FOUND))
            return s;
    }
    if (!n_found)
        return fail(ctx, NOT_FOUND, "no session has the id '" S_FMT "'", S_ARG(id));
    if (n_found > 1)
        return refuse_choice(ctx, found, n_found, how);
    assert(str_eq(found->id, id) && found->space.n);
    *out = *found;
    *pool = (struct pool_ref){who->pool.user, found->space};
    return OK;
}

str pools_text(struct ctx *ctx, struct pools pools)
{
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    for (size_t i = 0; i < pools.n; i++)
        buf_printf(&b, S_FMT "/" S_FMT " ", S_ARG(pools.v[i].user), S_ARG(pools.v[i].space));
    return buf_str(&b);
}
