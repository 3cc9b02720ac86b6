/* sessions.c - the conversations of several pools as one list. */
#include "engine/inspect.h"
#include "engine/state/state.h"

ORDER(newest_first, struct session, DOWN(updated) ?: DOWN(no));

/* From each pool as many as the page may need, of which the newest are the page. */
enum status engine_sessions_page(struct ctx *ctx, struct engine *e, struct pools pools,
                                 const struct session_filter *f, struct sessions_out *out)
{
    struct session *all = NULL, *v;
    size_t have = 0, cap = 0, n;
    int64_t total;
    assert(f->limit && pools.n);
    *out = (struct sessions_out){0};
    for (size_t i = 0; i < pools.n; i++) {
        struct session_filter one = *f;
        one.pool = pools.v[i];
        engine_catch_up(ctx, e, one.pool);
        one.offset = 0;
        one.limit = f->offset + f->limit + 1;
        TRY(store_sessions(ctx, e->store, &one, &v, &n, &total));
        out->total += total;
        for (size_t k = 0; k < n; k++) {
            ARENA_ADD(&ctx->arena, all, have, cap) = v[k];
        }
    }
    if (have)
        qsort(all, have, sizeof *all, newest_first);
    out->v = have > f->offset ? all + f->offset : all;
    out->n = have > f->offset ? have - f->offset : 0;
    out->has_more = out->n > f->limit;
    out->n = out->has_more ? f->limit : out->n;
    return OK;
}
