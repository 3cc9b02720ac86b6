/* erasures.c - past erasures, as signed certificates. */
#include "engine/erasures.h"

#include "engine/state/state.h"

enum status engine_erasures(struct ctx *ctx, struct engine *e, struct pool_ref pool, int64_t before,
                            size_t limit, struct certificate **out, size_t *n, int64_t *total)
{
    return store_erasures(ctx, e->store, pool, before, limit, out, n, total);
}

enum status engine_certificate(struct ctx *ctx, struct engine *e, struct pool_ref pool, str user,
                               str id, struct certificate *out)
{
    str key_file = str_printf(&ctx->arena, S_FMT "/erasure.key", S_ARG(e->settings->data));
    TRY(store_erasure(ctx, e->store, pool, user, id, out));
    return certificate_sign(ctx, key_file.p, out);
}
