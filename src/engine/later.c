/* later.c - what the face of the engine promises and is being built. */
#include "engine/engine.h"

enum status engine_profile(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                           struct profile *out)
{
    (void)e, (void)pool, (void)out;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status engine_change_profile(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                  const struct json *facts, struct profile *out)
{
    (void)e, (void)pool, (void)facts, (void)out;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status engine_forget_profile(struct ctx *ctx, struct engine *e, struct pool_ref pool)
{
    (void)e, (void)pool;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status engine_read_profile(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                const struct profile_source *in, struct json **out, str *how)
{
    (void)e, (void)pool, (void)in, (void)out, (void)how;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

void engine_rewrite(struct ctx *ctx, struct engine *e, const struct rewrite_in *in,
                    struct rewritten *out)
{
    (void)ctx, (void)e;
    *out = (struct rewritten){in->question, S("none"), S("")};
}
