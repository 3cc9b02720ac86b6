/* users.c - registered users, and the model keys that they leave here, sealed. */
#include <sodium.h>

#include "base/audit.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/seal.h"
#include "engine/accounts/credentials.h"
#include "engine/state/state.h"

enum {
    EMAIL_MAX = 254,
    NAME_MAX_BYTES = 200,
    MODEL_KEY_MAX = 4000,
    SHOWN_FIRST = 3,
    SHOWN_LAST = 6,
};

/* --- the key of the seal --- */

/* One that was there before is wiped. */
void engine_take_seal(struct engine *e, const uint8_t *key)
{
    assert(key);
    uint8_t *seal = sodium_malloc(SEAL_KEY_BYTES); /* locked in memory, never swapped out */
    if (!seal)
        die_of_limits("out of memory");
    memcpy(seal, key, SEAL_KEY_BYTES);
    sodium_mprotect_readonly(seal);
    seal_free(e);
    e->accounts.seal = seal;
}

void seal_free(struct engine *e)
{
    sodium_free(e->accounts.seal);
    e->accounts.seal = NULL;
}

/* --- checks of input --- */

/* One '@' between two parts that are not empty, and only visible characters. Whether an address is
 * right, only a message to it can show. */
static enum status check_email(struct ctx *ctx, str email)
{
    size_t at = str_find(email, S("@"));
    str domain = at < email.n ? str_sub(email, at + 1, email.n) : S("");
    bool is_well = at > 0 && domain.n && email.n <= EMAIL_MAX &&
                   str_find(domain, S("@")) == domain.n &&
                   EVERY(i, email.n, (unsigned char)email.p[i] > ' ' && email.p[i] != 0x7f);
    return is_well ? OK
                   : fail_field(ctx, "email", "must be an e-mail address of at most %d bytes",
                                EMAIL_MAX);
}

static enum status check_name(struct ctx *ctx, const char *field, str name)
{
    if (name.n <= NAME_MAX_BYTES)
        return OK;
    return fail_field(ctx, field, "must have at most %d bytes", NAME_MAX_BYTES);
}

static enum status check_registration(struct ctx *ctx, const struct registration *r)
{
    struct json *attributes;
    if (!id_is_uuid(r->user.id))
        return fail_field(ctx, "id", "must be a UUID");
    if (r->user.email.n)
        TRY(check_email(ctx, r->user.email));
    TRY(check_name(ctx, "first_name", r->user.first_name));
    TRY(check_name(ctx, "last_name", r->user.last_name));
    TRY(check_name(ctx, "token_name", r->token.name));
    return object_read(ctx, "custom_attributes", r->user.attributes, &attributes);
}

/* --- model keys --- */

/* The key becomes a header of a request to a model server, so it must not hold a line end. A token
 * of this server is refused, as the model server could use it. */
enum status engine_check_model_key(struct ctx *ctx, const char *field, str key)
{
    bool is_well = key.n <= MODEL_KEY_MAX && EVERY(i, key.n, key.p[i] > ' ' && key.p[i] < 0x7f);
    if (!is_well)
        return fail_field(ctx, field, "must be at most %d visible ASCII characters", MODEL_KEY_MAX);
    if (engine_is_token(key))
        return fail_field(ctx, field,
                          "is an access token of this server, not an API key of a model server");
    return OK;
}

/* At most half of the key and nine characters, so that short keys are not shown whole. */
static str preview_of(struct arena *a, str key)
{
    size_t shown = key.n / 2 < SHOWN_FIRST + SHOWN_LAST ? key.n / 2 : SHOWN_FIRST + SHOWN_LAST;
    size_t first = shown / 2 < SHOWN_FIRST ? shown / 2 : SHOWN_FIRST, last = shown - first;
    assert(first + last <= key.n);
    return str_printf(a, S_FMT "..." S_FMT, S_ARG(str_sub(key, 0, first)),
                      S_ARG(str_sub(key, key.n - last, key.n)));
}

/* "" removes the stored key. The seal is bound to the user's id: a row that is copied to another
 * user cannot be opened there. */
static enum status take_key(struct ctx *ctx, struct engine *e, const char *field, str key,
                            struct user *u)
{
    struct arena *a = &ctx->arena;
    assert(u->id.n); /* the seal is bound to it */
    key = str_trim(key);
    TRY(engine_check_model_key(ctx, field, key));
    if (key.n && !e->accounts.seal)
        return fail(ctx, UNSUPPORTED,
                    "API keys cannot be stored: the server has no key to encrypt them with");
    u->sealed_key = key.n ? seal(a, e->accounts.seal, u->id, key) : S("");
    u->key_preview = key.n ? preview_of(a, key) : S("");
    return OK;
}

enum status engine_put_model_key(struct ctx *ctx, struct engine *e, str user, str key,
                                 struct user *out)
{
    int64_t now = clock_ms();
    struct user u = {.id = user, .created = now};
    assert(user.n);
    TRY(soft_or(ctx, store_user(ctx, e->store, user, &u), NOT_FOUND));
    TRY(take_key(ctx, e, "api_key", key, &u));
    u.updated = now;
    TRY(store_put_user(ctx, e->store, &u, true, NULL));
    *out = u;
    return OK;
}

enum status engine_model_key(struct ctx *ctx, struct engine *e, str user, str *out)
{
    struct user u = {0};
    str key = S("");
    TRY(soft_or(ctx, store_user(ctx, e->store, user, &u), NOT_FOUND));
    if (u.sealed_key.n &&
        (!e->accounts.seal || !unseal(&ctx->arena, e->accounts.seal, user, u.sealed_key, &key)))
        return fail(ctx, STORAGE,
                    "your stored API key cannot be decrypted: it was encrypted with another key of "
                    "the server; store it again");
    *out = key;
    return OK;
}

enum status engine_lost_keys(struct ctx *ctx, struct engine *e, size_t *out)
{
    struct user *v;
    size_t n, lost = 0;
    str key;
    TRY(store_sealed_users(ctx, e->store, &v, &n));
    for (size_t i = 0; i < n; i++)
        lost += !e->accounts.seal ||
                !unseal(&ctx->arena, e->accounts.seal, v[i].id, v[i].sealed_key, &key);
    *out = lost;
    return OK;
}

/* --- registering --- */

enum status engine_user(struct ctx *ctx, struct engine *e, str id, struct user *out)
{
    return store_user(ctx, e->store, id, out);
}

/* One message for id and address, so that nobody learns which addresses are registered. */
static enum status is_taken(struct ctx *ctx)
{
    ctx_clear_failure(ctx);
    return fail(ctx, CONFLICT,
                "this id or e-mail address is registered already; its owner can change it with a "
                "token of that user");
}

static void take_given(str *to, str from)
{
    if (from.n)
        *to = from;
}

/* The stored user with the members that the registration gives. Both lookups are always made, so
 * that the time of an answer does not show which of the two exists. */
static enum status merge_user(struct ctx *ctx, struct engine *e, const struct registration *r,
                              str id, struct user *out)
{
    struct user u, other;
    enum status by_id = store_user(ctx, e->store, id, &u);
    enum status by_email = store_user_by_email(ctx, e->store, r->user.email, &other);
    if (by_id != OK && by_id != NOT_FOUND)
        return by_id;
    if (by_email != OK && by_email != NOT_FOUND)
        return by_email;
    if ((by_id == OK && !r->may_change) || (by_email == OK && !str_eq(other.id, id)))
        return is_taken(ctx);
    if (by_id != OK)
        u = (struct user){.id = id, .created = clock_ms()};
    take_given(&u.email, r->user.email);
    take_given(&u.first_name, r->user.first_name);
    take_given(&u.last_name, r->user.last_name);
    take_given(&u.attributes, r->user.attributes);
    u.updated = clock_ms();
    *out = u;
    return u.email.n ? OK : fail_missing(ctx, "email");
}

enum status engine_people(struct ctx *ctx, struct engine *e, str owner, str memory,
                          struct strs *out)
{
    struct strs users, people = {0};
    engine_catch_up(ctx, e, (struct pool_ref){0});
    TRY(store_users(ctx, e->store, memory, &users));
    people.v = NEW_N(&ctx->arena, str, users.n + 1);
    for (size_t i = 0; i < users.n; i++) {
        str name = person_name(&ctx->arena, owner, users.v[i]);
        if (name.n)
            people.v[people.n++] = name;
    }
    *out = people;
    return OK;
}

/* User and first token are one write. may_change is only set for a caller who has shown a token of
 * that user. */
enum status engine_register(struct ctx *ctx, struct engine *e, const struct registration *r,
                            str *secret)
{
    struct arena *a = &ctx->arena;
    struct user u;
    str text;
    TRY(check_registration(ctx, r));
    TRY(merge_user(ctx, e, r, str_lower(a, r->user.id), &u));
    assert(id_is_uuid(u.id));
    if (r->sets_key)
        TRY(take_key(ctx, e, "switch_ai_api_key", r->key, &u));
    struct token t = r->token;
    t.pool = (struct pool_ref){u.id, S(DEFAULT_SPACE)};
    t.prefix = S("ctx_");
    if (!t.name.n)
        t.name = S("Initial Token");
    TRY(quota_check_token(ctx, e, u.id));
    token_make(a, &t, &text);
    enum status s = store_put_user(ctx, e->store, &u, r->may_change, &t);
    if (s == CONFLICT)
        return is_taken(ctx);
    TRY(s);
    *secret = text;
    audit_note(ctx, "user.registered", u.id, "token=" S_FMT, S_ARG(t.id));
    return OK;
}
