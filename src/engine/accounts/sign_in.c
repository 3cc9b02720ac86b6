/* sign_in.c - a browser that has shown a token once, and shows a secret of its own from then on. */
#include "base/clock.h"
#include "base/id.h"
#include "engine/state/state.h"

/*
 * The secret is 32 random bytes. The store keeps its hash, beside the hash of the token and the
 * time when the browser is signed out. So a token that is revoked or expires signs its browsers
 * out, a restart does not, and every server of one database knows them.
 */

enum { SECRET_BYTES = 32, SECRET_TEXT_MAX = 100 };

static str name_of(struct arena *a, str secret)
{
    return str_printf(a, "sign-in:" S_FMT, S_ARG(sha256_hex(a, secret)));
}

/* What is noted: the token's hash and the end, or "" for one that is over. */
static enum status note_sign_in(struct ctx *ctx, struct engine *e, str secret, str value,
                                int64_t until)
{
    str name = name_of(&ctx->arena, secret);
    TRY(store_note_owners(ctx, e->store, &name, 1, value, until));
    return store_flush(ctx, e->store);
}

enum status engine_sign_in(struct ctx *ctx, struct engine *e, str text, str address,
                           struct token *token, str *secret, int64_t *until)
{
    int64_t now = clock_ms();
    TRY(engine_token(ctx, e, text, address, token));
    *until = now + SIGN_IN_MS;
    if (token->expires && token->expires < *until)
        *until = token->expires;
    *secret = random_text(&ctx->arena, SECRET_BYTES);
    return note_sign_in(ctx, e, *secret,
                        str_printf(&ctx->arena, S_FMT " %lld", S_ARG(token->hash),
                                   (long long)*until),
                        *until);
}

/* The same words for every reason, as with tokens. */
enum status engine_signed_in(struct ctx *ctx, struct engine *e, str secret, struct token *out,
                             int64_t *until)
{
    str value = S("");
    *until = 0;
    *out = (struct token){0};
    if (secret.n && secret.n <= SECRET_TEXT_MAX)
        TRY(store_owner(ctx, e->store, name_of(&ctx->arena, secret), &value));
    str hash = str_cut(&value, ' ');
    if (hash.n && str_int(value, until) && *until > clock_ms()) {
        enum status s = store_find_token(ctx, e->store, hash, out);
        if (!soft_if(ctx, s, NOT_FOUND))
            return s;
    }
    return fail(ctx, NO_AUTH, "you are signed out: sign in again");
}

enum status engine_sign_out(struct ctx *ctx, struct engine *e, str secret)
{
    return note_sign_in(ctx, e, secret, S(""), 1);
}
