/* later.c - what is declared and not built yet; each goes when its file comes. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "engine/engine.h"

enum status engine_ingest_turns(struct ctx *ctx, struct engine *e, const struct ingest_turns_in *in,
                                struct ingest_turns_out *out)
{
    return fail(ctx, UNSUPPORTED, "engine_ingest_turns is not built yet");
}

enum status engine_distil_some(struct ctx *ctx, struct engine *e, bool *more)
{
    return fail(ctx, UNSUPPORTED, "engine_distil_some is not built yet");
}

enum status engine_sync(struct ctx *ctx, struct engine *e, struct pool_ref pool, int64_t *sessions)
{
    return fail(ctx, UNSUPPORTED, "engine_sync is not built yet");
}

enum status engine_distil_status(struct ctx *ctx, struct engine *e, const struct pool_ref *pool,
                                 struct distil_status *out)
{
    return fail(ctx, UNSUPPORTED, "engine_distil_status is not built yet");
}

enum status engine_change_osaurus_settings(struct ctx *ctx, struct engine *e,
                                           const struct json *object)
{
    return fail(ctx, UNSUPPORTED, "engine_change_osaurus_settings is not built yet");
}
