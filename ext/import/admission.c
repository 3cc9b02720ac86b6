/* admission.c - rows of a copy that may come in: not erased here, and within the quota. */
#include "ext/import/admission.h"

#include "engine/state/state.h"

enum status import_erased(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                          const struct erased_ask *v, size_t n, bool again, bool *out,
                          int64_t *erased)
{
    struct erased_ask *back = NEW_N(&ctx->arena, struct erased_ask, n + 1);
    size_t n_back = 0;
    TRY(store_was_erased(ctx, e->store, pool, v, n, out));
    for (size_t i = 0; i < n; i++)
        if (out[i])
            back[n_back++] = v[i];
    *erased += again ? 0 : (int64_t)n_back;
    for (size_t i = 0; i < n && again; i++)
        out[i] = false;
    return again ? store_bring_again(ctx, e->store, pool, back, n_back) : OK;
}

enum status import_quota(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                         const struct memory *v, size_t n)
{
    struct quota more = {0};
    for (size_t i = 0; i < n; i++) {
        struct memory there = {0};
        enum status s = store_memory(ctx, e->store, pool, v[i].id, &there);
        TRY(soft_or(ctx, s, NOT_FOUND));
        more.memories += s == NOT_FOUND && !v[i].valid_to;
        more.bytes += quota_bytes(NULL, 0, &v[i], 1) - quota_bytes(NULL, 0, &there, 1);
    }
    return engine_check_quota(ctx, e, pool, more);
}
