/* credentials.c - tokens: made once, shown once, known by their hash. */
#include "engine/engine_int.h"

#include "base/clock.h"
#include "base/id.h"

enum { SECRET_BYTES = 32, SECRET_TEXT_MAX = 256 };

enum status engine_make_token(struct ctx *ctx, struct engine *e, struct token *t, str *secret)
{
    struct arena *a = &ctx->arena;
    struct token made = *t;
    str text = random_text(a, SECRET_BYTES);
    text = str_printf(a, "rk_" S_FMT, S_ARG(text));
    made.id = id_random(a);
    made.hash = sha256_hex(a, text);
    made.created = clock_ms();
    made.revoked = 0;
    if (!made.pool.user.n)
        made.pool.user = S("local");
    /* A space of its own, unless several tokens are to share one. */
    if (!made.pool.space.n)
        made.pool.space = made.id;
    TRY(store_put_token(ctx, e->store, &made));
    *t = made;
    *secret = text;
    return OK;
}

enum status engine_token(struct ctx *ctx, struct engine *e, str secret, struct token *out)
{
    if (!secret.n || secret.n > SECRET_TEXT_MAX)
        return fail(ctx, NO_AUTH, "the token is not known");
    enum status s = store_find_token(ctx, e->store, sha256_hex(&ctx->arena, secret), out);
    if (s != NOT_FOUND)
        return s;
    ctx_clear_failure(ctx);
    return fail(ctx, NO_AUTH, "the token is not known, revoked or expired");
}

enum status engine_needs_token(struct ctx *ctx, struct engine *e, bool *out)
{
    return store_has_tokens(ctx, e->store, out);
}
