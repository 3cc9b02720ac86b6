/* later.c - what the face of the engine promises and is being built. */
#include "engine/engine.h"

enum status engine_register(struct ctx *ctx, struct engine *e, const struct registration *r,
                            str *secret)
{
    (void)e, (void)r, (void)secret;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status engine_user(struct ctx *ctx, struct engine *e, str id, struct user *out)
{
    (void)e, (void)id, (void)out;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status engine_put_model_key(struct ctx *ctx, struct engine *e, str user, str key,
                                 struct user *out)
{
    (void)e, (void)user, (void)key, (void)out;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status engine_model_key(struct ctx *ctx, struct engine *e, str user, str *out)
{
    (void)e, (void)user, (void)out;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status engine_revoke_token(struct ctx *ctx, struct engine *e, str user, str id)
{
    (void)e, (void)user, (void)id;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status engine_make_session(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                struct session *s)
{
    (void)e, (void)pool, (void)s;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status engine_session(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                           struct session *out)
{
    (void)e, (void)pool, (void)id, (void)out;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status engine_change_session(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                                  const struct session_change *change, struct session *out)
{
    (void)e, (void)pool, (void)id, (void)change, (void)out;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status engine_sessions(struct ctx *ctx, struct engine *e, const struct session_filter *f,
                            struct session **out, size_t *n, int64_t *total)
{
    (void)e, (void)f, (void)out, (void)n, (void)total;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status engine_session_messages(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                    str session, struct message **out, size_t *n)
{
    (void)e, (void)pool, (void)session, (void)out, (void)n;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

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

enum status engine_duplicates(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                              struct duplicates **out, size_t *n)
{
    (void)e, (void)pool, (void)out, (void)n;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status engine_deduplicate(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                               int64_t *groups, int64_t *closed)
{
    (void)e, (void)pool, (void)groups, (void)closed;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

void engine_take_seal(struct engine *e, const uint8_t *key)
{
    (void)e, (void)key;
}

bool engine_is_token(str secret)
{
    return str_starts(secret, S("rk_")) || str_starts(secret, S("ctx_"));
}

void engine_rewrite(struct ctx *ctx, struct engine *e, const struct rewrite_in *in,
                    struct rewritten *out)
{
    (void)ctx, (void)e;
    *out = (struct rewritten){in->question, S("none"), S("")};
}
