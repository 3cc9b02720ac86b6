/* receipts.c - the receipts of several pools as one list. */
#include "engine/state/state.h"

#include "engine/inspect.h"

ORDER(newest_first, struct receipt, DOWN(created) ?: DOWN(no));

/* One more than a page holds tells whether there is another. */
static enum status add_pool(struct ctx *ctx, struct engine *e, const struct receipts_in *in,
                            struct pool_ref pool, struct receipts_out *out)
{
    struct receipt_filter f = {.pool = pool,
                               .decision = in->decision,
                               .session = in->session,
                               .after = in->after,
                               .before = in->before,
                               .at = in->at,
                               .no = in->no,
                               .limit = in->limit + 1};
    struct receipt *v, *all;
    size_t n;
    int64_t total;
    if (in->of.n)
        TRY(store_doc_of(ctx, e->store, pool, in->of, &f.doc));
    if (in->of.n && !f.doc)
        return OK;
    TRY(store_receipts(ctx, e->store, &f, &v, &n, &total));
    all = DUP_N(&ctx->arena, out->v, out->n, out->n + n + 1);
    for (size_t i = 0; i < n; i++) {
        all[out->n + i] = v[i];
        all[out->n + i].space = pool.space;
    }
    out->v = all;
    out->n += n;
    out->total += total;
    return OK;
}

/* From each pool as many as a page holds; the newest are the page. A user has few spaces. */
enum status engine_receipts(struct ctx *ctx, struct engine *e, const struct receipts_in *in,
                            struct receipts_out *out)
{
    assert(in->limit && in->pools.n);
    *out = (struct receipts_out){0};
    for (size_t i = 0; i < in->pools.n; i++) {
        engine_catch_up(ctx, e, in->pools.v[i]);
        TRY(add_pool(ctx, e, in, in->pools.v[i], out));
    }
    if (out->n)
        qsort(out->v, out->n, sizeof *out->v, newest_first);
    out->has_more = out->n > in->limit;
    out->n = out->has_more ? in->limit : out->n;
    return OK;
}
