/* users.c - Cortex's users: registering, who one is, the model key, tokens. */
#include "base/clock.h"

#include "ext/dialects/cortex/common.h"
#include "surface/common/list_page.h"

/*
 * Users register themselves, get tokens and may leave the key of their model server here.
 * Registering (POST /v1/users) is the only open route that writes: the setting registration decides
 * who may, and someone who is registered already needs one of its own tokens, or an owner's, to
 * change anything. A token's secret is in the answer that creates it and nowhere else; only its
 * hash is stored. The model key is stored encrypted and never shown again but for its ends.
 */

enum { REGISTER_MAX = 256 << 10 }; /* bytes of a body that is read without a token */

SHAPE(token_made, (STR, access_token, .help = "shown once"), (STR, token_type, .help = "Bearer"));

static enum status give_token(struct reply *out, str secret)
{
    out->code = 201;
    return reply_fields(out, token_made_fields, &(struct token_made){secret, S("Bearer")});
}

/* --- registering --- */

/* The id is the client's choice, so registering again with it is a change of the same user. */
SHAPE(register_in, (STR, id, .required = true, .help = "a UUID of your choice"),
      (STR, email, .required = true, .help = "address"), (STR, first_name), (STR, last_name),
      (STR, switch_ai_api_key,
       .help = "key of the model server, stored encrypted; \"\" deletes it"),
      (JSON, custom_attributes, .help = "an object"),
      (STR, token_name, .help = "name of the token; default: Initial Token"));

/* auto means: as long as only this machine can reach the server and nobody here needs a token,
 * anyone here may register. Otherwise a program without a token would give itself one. */
static enum status check_open(struct ctx *ctx, struct app *app, const struct request *in)
{
    const struct settings *s = app->settings;
    bool is_open = s->registration == REGISTRATION_OPEN, needs_token = true;
    if (s->registration == REGISTRATION_AUTO && in->is_loopback && listens_locally(s->listen)) {
        TRY(auth_needs_token(ctx, app, &needs_token));
        is_open = !needs_token;
    }
    if (is_open)
        return OK;
    return fail(ctx, FORBIDDEN,
                "registration is closed: a token of an admin or of this user is needed "
                "(setting registration)");
}

/* Whether the caller may change the user with that id: with a token of that user or of the
 * owner, which the new token then comes from. A server that needs no token proves nothing about
 * the caller. */
static enum status prove_owner(struct ctx *ctx, struct app *app, const struct request *in,
                               struct registration *r)
{
    struct token token;
    struct identity who;
    if (!auth_shows_token(request_header(in, "Authorization")))
        return OK;
    TRY(auth_token(ctx, app, in, &token));
    TRY(auth_identity(ctx, &token, &who));
    r->may_change = auth_has(&who, MANAGES_PEOPLE) ||
                    str_eq(token.pool.user, str_lower(&ctx->arena, r->user.id));
    r->token.pool.space = S(DEFAULT_SPACE);
    return r->may_change ? auth_inherit(ctx, app, &who, &r->token) : OK;
}

/* Whether the key is to be changed depends on the member being there, not on its value: "" deletes
 * it, and leaving it out keeps it. */
static HANDLER(add_user)
{
    const struct register_in *a = in->in;
    const struct json *key = json_get(in->json, "switch_ai_api_key"),
                      *attributes = a->custom_attributes;
    struct registration r = {
        .user = {.id = a->id,
                 .email = a->email,
                 .first_name = a->first_name,
                 .last_name = a->last_name,
                 .attributes = attributes ? attributes->source : S("")},
        .sets_key = key && key->type == JSON_STRING,
        .key = a->switch_ai_api_key,
        .token.name = a->token_name,
    };
    str secret;
    TRY(prove_owner(ctx, app, in, &r));
    if (!r.may_change)
        TRY(check_open(ctx, app, in));
    TRY(engine_register(ctx, app->engine, &r, &secret));
    return give_token(out, secret);
}

/* --- who one is --- */

SHAPE(user_out, (STR, id), (STR, email, .empty = EMPTY_NULL, .help = "null: has not registered"),
      (STR, first_name, .empty = EMPTY_NULL), (STR, last_name, .empty = EMPTY_NULL),
      (BOOL, is_active), (TIME, created_at, .empty = EMPTY_NULL), (BOOL, has_api_key),
      (STR, api_key_preview, .empty = EMPTY_NULL, .help = "its first and last characters"));

/* A user need not have registered, and has an id only then. */
static HANDLER(show_me)
{
    str id = in->who.pool.user;
    struct user u = {.id = id};
    TRY(soft_or(ctx, engine_user(ctx, app->engine, id, &u), NOT_FOUND));
    struct user_out shape = {.id = u.id,
                             .email = u.email,
                             .first_name = u.first_name,
                             .last_name = u.last_name,
                             .is_active = true,
                             .created_at = u.created,
                             .has_api_key = u.sealed_key.n > 0,
                             .api_key_preview = u.key_preview};
    return reply_fields(out, user_out_fields, &shape);
}

SHAPE(key_in, (STR, api_key, .help = "key of the model server; null or \"\" deletes it"));

SHAPE(key_out, (STR, message), (BOOL, has_api_key), (STR, api_key_preview, .empty = EMPTY_NULL));

/* null and "" both delete, so the absent member must be told from them: the table reads all three
 * as "". */
static HANDLER(put_key)
{
    const struct key_in *a = in->in;
    struct user u;
    if (!json_get(in->json, "api_key"))
        return fail_field(ctx, "api_key", "is required; null deletes the key");
    TRY(engine_put_model_key(ctx, app->engine, in->who.pool.user, a->api_key, &u));
    struct key_out shape = {.has_api_key = u.sealed_key.n > 0, .api_key_preview = u.key_preview};
    shape.message =
        shape.has_api_key ? S("API key updated successfully") : S("API key cleared successfully");
    return reply_fields(out, key_out_fields, &shape);
}

/* --- tokens --- */

SHAPE(name_in, (STR, name, .otherwise_str = "API Token", .max = 200,
                .help = "name of the token in the list"));

/* The new token has the caller's space and expiry, and is never an admin token. */
static HANDLER(add_token)
{
    const struct name_in *a = in->in;
    struct token made = {.name = a->name, .pool = in->who.pool, .prefix = S("ctx_")};
    str secret;
    TRY(auth_inherit(ctx, app, &in->who, &made));
    TRY(engine_make_token(ctx, app->engine, &made, &secret));
    return give_token(out, secret);
}

static FIELDS_OF(token, token_row, (STR, id), (STR, name),
                 (AS_STR, prefix, "token_prefix", .help = "first characters of the token"),
                 (AS_TIME, last_used, "last_used_at", .empty = EMPTY_NULL,
                  .help = "to a minute; null: never"),
                 (AS_TIME, created, "created_at", .required = true));

static FIELDS_OF(list_page, tokens_out, LIST_ITEMS_AS("tokens", token_row_fields, "newest first"));

/* Those that still work. */
static enum status tokens_shown(struct ctx *ctx, struct app *app, const struct identity *who,
                                struct token **out, size_t *n)
{
    size_t kept = 0;
    TRY(auth_tokens_seen(ctx, app, who, out, n));
    for (size_t i = 0; i < *n; i++)
        if (token_is_valid(&(*out)[i], clock_ms()))
            (*out)[kept++] = (*out)[i];
    *n = kept;
    return OK;
}

/* The prefix is enough to recognise a token in one's own configuration, and too little to use
 * it. */
static HANDLER(list_tokens)
{
    struct token *v;
    size_t n;
    TRY(tokens_shown(ctx, app, &in->who, &v, &n));
    for (size_t i = 0; i < n; i++)
        v[i].prefix = str_printf(&ctx->arena, S_FMT "...", S_ARG(v[i].prefix));
    return list_reply(ctx, tokens_out_fields, &(struct list_page){0}, v, n, sizeof *v, out);
}

/* A token that is not theirs is answered like one that does not exist, so ids cannot be tried. */
static HANDLER(revoke_token)
{
    struct token *v;
    size_t n, at = 0;
    TRY(tokens_shown(ctx, app, &in->who, &v, &n));
    while (at < n && !str_eq(v[at].id, in->params[0]))
        at++;
    enum status s =
        at < n ? engine_revoke_token(ctx, app->engine, in->who.pool.user, v[at].id) : NOT_FOUND;
    out->code = 204;
    return found_as(ctx, s, "token");
}

static const struct route routes[] = {
    {ROUTE("POST", "/v1/users", add_user), .words.code = 201, READS(register_in),
     .access = ACCESS_OPEN, .body_max = REGISTER_MAX, ANSWERS(token_made),
     .help = "register, or change your data with one of your tokens; creates a token"},
    {ROUTE("GET", "/v1/users/me", show_me), ANSWERS(user_out), .help = "your account"},
    {ROUTE("PUT", "/v1/users/me/api-key", put_key), .scope = MAY_MANAGE, READS(key_in),
     ANSWERS(key_out), .help = "store or delete your key of the model server"},
    {ROUTE("POST", "/v1/users/me/tokens", add_token), .scope = MAY_MANAGE, .words.code = 201,
     READS(name_in), ANSWERS(token_made), .help = "create a token"},
    {ROUTE("GET", "/v1/users/me/tokens", list_tokens), .scope = MAY_MANAGE, ANSWERS(tokens_out),
     .help = "your tokens, masked"},
    {ROUTE("DELETE", "/v1/users/me/tokens/{id}", revoke_token), .scope = MAY_MANAGE,
     .words.code = 204, .help = "revoke a token and all that it made, at once"},
    {0},
};

const struct surface surface_cortex_users = CORTEX_SURFACE(routes);
