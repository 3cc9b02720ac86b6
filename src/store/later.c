/* later.c - what the face of the store promises and is being built. */
#include "store/store.h"

enum status store_user(struct ctx *ctx, struct store *s, str id, struct user *out)
{
    (void)s, (void)id, (void)out;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status store_user_by_email(struct ctx *ctx, struct store *s, str email, struct user *out)
{
    (void)s, (void)email, (void)out;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status store_put_user(struct ctx *ctx, struct store *s, const struct user *u, bool may_change,
                           const struct token *token)
{
    (void)s, (void)u, (void)may_change, (void)token;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status store_token_used(struct ctx *ctx, struct store *s, str id, int64_t at)
{
    (void)s, (void)id, (void)at;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status store_session(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                          struct session *out)
{
    (void)s, (void)pool, (void)id, (void)out;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status store_put_session(struct ctx *ctx, struct store *s, struct pool_ref pool,
                              const struct session *session)
{
    (void)s, (void)pool, (void)session;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}

enum status store_change_session(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                 const struct session_change *change, struct session *out)
{
    (void)s, (void)pool, (void)id, (void)change, (void)out;
    return fail(ctx, UNSUPPORTED, "this is not built yet");
}
