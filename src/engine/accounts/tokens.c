/* tokens.c - tokens: made once, shown once, known by their hash; and browsers signed in by one. */
#include "engine/accounts/credentials.h"
#include "engine/state/known_tokens.h"
#include "engine/state/state.h"

#include "base/audit.h"
#include "base/clock.h"
#include "base/id.h"

enum {
    SECRET_BYTES = 32,
    SECRET_TEXT_MAX = 256,
    SIGN_IN_TEXT_MAX = 100,
    SHOWN = 6,
    USED_EVERY_MS = 60000
};

/*
 * A token is 32 random bytes behind a prefix that tells its kind: "rk_" for this server's own API,
 * "ctx_" for users who registered. Only its SHA-256 is stored: a random secret of that length needs
 * no slow hash, and a copied database lets nobody in. SHOWN characters of it are kept so that
 * people can tell their tokens apart.
 */

static const str kinds[] = {S("rk_"), S("ctx_")};

void token_make(struct arena *a, struct token *t, str *secret)
{
    str kind = t->prefix.n ? t->prefix : kinds[0], random = random_text(a, SECRET_BYTES);
    str text = str_printf(a, S_FMT S_FMT, S_ARG(kind), S_ARG(random));
    assert(engine_is_token(text));
    t->id = id_random(a);
    t->hash = sha256_hex(a, text);
    t->prefix = str_sub(text, 0, kind.n + SHOWN);
    t->is_open = str_is(kind, "ctx_");
    t->created = clock_ms();
    t->revoked = t->last_used = 0;
    t->last_address = S("");
    if (!t->pool.user.n)
        t->pool.user = S(LOCAL_USER);
    /* A space of its own, unless several tokens are to share one. */
    if (!t->pool.space.n)
        t->pool.space = t->id;
    *secret = text;
}

enum status engine_make_token(struct ctx *ctx, struct engine *e, struct token *t, str *secret)
{
    struct token made = *t;
    str text;
    token_make(&ctx->arena, &made, &text);
    TRY(quota_check_token(ctx, e, made.pool.user));
    TRY(store_put_token(ctx, e->store, &made));
    if (!made.is_open)
        atomic_store(&e->accounts.needs_token, true);
    *t = made;
    *secret = text;
    audit_note(ctx, "token.made", t->pool.user, "id=" S_FMT " admin=%d", S_ARG(t->id), t->is_admin);
    return OK;
}

bool engine_is_token(str secret)
{
    return SOME(i, sizeof kinds / sizeof *kinds, str_starts(secret, kinds[i]));
}

/* The same words for unknown, revoked and expired: an answer must not tell which. */
enum status engine_token(struct ctx *ctx, struct engine *e, str secret, str address,
                         struct token *out)
{
    *out = (struct token){0};
    if (!secret.n || secret.n > SECRET_TEXT_MAX)
        return fail(ctx, NO_AUTH, "the token is not known");
    str hash = sha256_hex(&ctx->arena, secret);
    enum status s = store_find_token(ctx, e->store, hash, out);
    if (s == STORAGE && ctx->detail == STORAGE_AWAY && known_tokens_find(ctx, e, hash, out)) {
        ctx_clear_failure(ctx);
        return OK;
    }
    if (s == OK || s == NOT_FOUND)
        known_tokens_note(e, hash, s == OK ? out : NULL);
    if (s == OK && !out->is_open) /* also when the store is away before anybody looked */
        atomic_store(&e->accounts.needs_token, true);
    /* A token that cannot be marked works as well. Marking each request would be a write for each.
     */
    int64_t now = clock_ms();
    if (s == OK && now - out->last_used >= USED_EVERY_MS)
        soft(ctx, store_token_used(ctx, e->store, out->id, now, address));
    if (!soft_if(ctx, s, NOT_FOUND))
        return s;
    audit_failed_login();
    return fail(ctx, NO_AUTH, "the token is not known, revoked or expired");
}

enum status engine_revoke_token(struct ctx *ctx, struct engine *e, str user, str id)
{
    int64_t made = 0;
    enum status s = store_revoke_token(ctx, e->store, user, id, &made);
    known_tokens_forget(e, user);
    if (!soft_if(ctx, s, NOT_FOUND) && s == OK)
        audit_note(ctx, "token.revoked", user, "id=" S_FMT " made=%lld", S_ARG(id),
                   (long long)made);
    return s;
}

enum status engine_tokens(struct ctx *ctx, struct engine *e, str user, struct token **out,
                          size_t *n)
{
    return store_tokens(ctx, e->store, user, out, n);
}

enum status engine_token_named(struct ctx *ctx, struct engine *e, str user, str id,
                               struct token *out)
{
    struct token *v;
    size_t n, i = 0;
    TRY(store_tokens(ctx, e->store, user, &v, &n));
    while (i < n && !str_eq(v[i].id, id))
        i++;
    if (i == n)
        return NOT_FOUND;
    *out = v[i];
    return OK;
}

/* Every request asks, so the answer is kept for a while. A store that fails after it reported no
 * tokens is believed: a broken memory must not fail chats. Once a token exists, no request passes
 * without one, whatever the store does. */
enum status engine_needs_token(struct ctx *ctx, struct engine *e, bool *out)
{
    int64_t now = clock_mono_us(), looked = atomic_load(&e->accounts.token_look);
    bool any = atomic_load(&e->accounts.needs_token);
    if (any || (looked && now - looked < TOKEN_LOOK_MS * 1000)) {
        *out = any;
        return OK;
    }
    enum status s = store_has_tokens(ctx, e->store, &any);
    if (s != OK && !looked)
        return s;
    if (soft(ctx, s) && any)
        atomic_store(&e->accounts.needs_token, true);
    atomic_store(&e->accounts.token_look, now);
    *out = any;
    return OK;
}

/* --- signed in --- */

/*
 * The secret is 32 random bytes. The store keeps its hash, beside the hash of the token and the
 * time when the browser is signed out. So a token that is revoked or expires signs its browsers
 * out, a restart does not, and every server of one database knows them.
 */

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
    if (secret.n && secret.n <= SIGN_IN_TEXT_MAX)
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
