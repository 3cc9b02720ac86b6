/* tokens.c - /v1/tokens: access tokens, listed, made and revoked. */
#include "base/clock.h"
#include "base/utf8.h"

#include "surface/common/error_body.h"
#include "surface/common/list_page.h"

/*
 * An owner manages the tokens of everyone; any other caller those of the user that it is, and a
 * token can never do more than the one that made it. Tokens that an owner makes begin with rk_:
 * from the first one on, every request needs a token. Those that a user makes begin with ctx_ and
 * change nothing for others. The secret is in the answer to the request that made it, and nowhere
 * else.
 */

struct token_out {
    struct token t;
    str state, secret;
};
#define TOKEN_SHOWN                                                                                \
    (AS_STR, t.id, "id"), (AS_STR, t.name, "name"), (AS_STR, t.pool.user, "user"),                 \
        (AS_STR, t.pool.space, "space"), (AS_BOOL, t.is_admin, "admin"),                           \
        (AS_STR, t.acts_for, "acts_for", .help = "people it may speak for: any, or names"),        \
        (AS_STR, t.scopes, "scopes", .help = "what it may do; \"\" for all"),                      \
        (AS_STR, t.spaces, "spaces", .help = "those it is bound to; \"\" for none"),               \
        (AS_STR, t.parent, "parent",                                                               \
         .help = "id of the token that made it, and is revoked with it; \"\" for none"),           \
        (AS_STR, t.prefix, "prefix", .help = "its first characters"),                              \
        (STR, state, .help = "valid, expired or revoked"), (AS_TIME, t.created, "created"),        \
        (AS_TIME, t.expires, "expires"), (AS_TIME, t.revoked, "revoked"),                          \
        (AS_TIME, t.last_used, "last_used", .help = "to a minute"),                                \
        (AS_STR, t.last_address, "last_address", .help = "from where; \"\" for this machine")
static FIELDS(token_out, TOKEN_SHOWN);
static FIELDS_OF(token_out, token_made, TOKEN_SHOWN,
                 (AS_STR, secret, "token", .help = "the token itself, which is not shown again"));

static struct token_out shape_of(const struct token *t, str secret)
{
    str state = t->revoked                      ? S("revoked")
                : token_is_valid(t, clock_ms()) ? S("valid")
                                                : S("expired");
    return (struct token_out){*t, state, secret};
}

static enum status tokens_of(struct ctx *ctx, struct app *app, const struct identity *who,
                             struct token **out, size_t *n)
{
    if (auth_has(who, MANAGES_PEOPLE))
        return engine_tokens(ctx, app->engine, S(""), out, n);
    return auth_tokens_seen(ctx, app, who, out, n);
}

SHAPE(tokens_in, (STR, user, .max = 1000, .help = "only this user's"),
      (STR, contains, .max = 256, .help = "only with this text in the name or the user"),
      (BOOL, ended, .help = "include revoked and expired ones"), LIST_CURSOR, LIST_LIMIT);
LIST_PAGE(tokens_out, token_out_fields, "newest first");

static bool is_listed(struct arena *a, const struct tokens_in *in, const struct token *t)
{
    str text = str_printf(a, S_FMT "\n" S_FMT, S_ARG(t->name), S_ARG(t->pool.user));
    text = in->contains.n ? utf8_lower(a, text) : S("");
    return (!in->user.n || str_eq(in->user, t->pool.user)) &&
           (in->ended || token_is_valid(t, clock_ms())) &&
           (!in->contains.n || str_find(text, utf8_lower(a, in->contains)) < text.n);
}

/* Newest first, and of one moment by id: the order of the store. */
static HANDLER(token_list)
{
    const struct tokens_in *a = in->in;
    str of = str_printf(&ctx->arena, "tokens\n" S_FMT "\n" S_FMT "\n%d", S_ARG(a->user),
                        S_ARG(a->contains), a->ended);
    struct list_place place = {0};
    struct list_page page = {0};
    struct token *v, *last = NULL;
    size_t have, n = 0;
    TRY(cursor_read(ctx, of, a->cursor, &place));
    TRY(tokens_of(ctx, app, &in->who, &v, &have));
    struct token_out *items = NEW_N(&ctx->arena, struct token_out, (size_t)a->limit);
    for (size_t i = 0; i < have; i++) {
        if (!is_listed(&ctx->arena, a, &v[i]))
            continue;
        page.total++;
        double ahead = (double)v[i].created - place.value;
        if (a->cursor.n && (ahead > 0 || (!ahead && str_cmp(v[i].id, place.name) <= 0)))
            continue;
        if (n < (size_t)a->limit) {
            items[n++] = shape_of(&v[i], S(""));
            last = &v[i];
        } else if (!page.next.n) {
            assert(last && n == (size_t)a->limit);
            const struct list_place end = {.value = (double)last->created, .name = last->id};
            page.next = cursor_write(ctx, of, &end);
        }
    }
    return list_reply(ctx, tokens_out_fields, &page, items, n, sizeof *items, out);
}

/* The member space is read with the request, as everywhere. */
SHAPE(
    make_in,
    (STR, user, .max = 1000, .is_name = true,
     .help = "whose token; default: your own. Another user's only for owners"),
    (STR, name, .otherwise_str = "API token", .max = 200, .help = "name of the token in the list"),
    (BOOL, own_space,
     .help = "a new space that no other token uses; default: the space that the request names, or "
             "your own, and for another user the space default"),
    (BOOL, admin, .help = "only admins may make admins"),
    (STR, acts_for, .max = 4000, .is_name = true,
     .help = "people that its client may name: any, or names between commas; only for admins"),
    (STR, scopes, .min = 1, .max = 100,
     .help =
         "what it may do, of chat, read, write, export and manage, between commas; default: all "
         "that the token may that makes it"),
    (STR, spaces, .min = 1, .max = 4000, .is_name = true,
     .help = "bind it to these spaces, between commas; its own is the first, unless the request "
             "names one. Default: as the token that makes it"),
    (TIME, expires, .help = "default: never, or with the token that makes it"));

/* What a caller that is no admin may not give. */
static enum status check_rights(struct ctx *ctx, const struct identity *who,
                                const struct make_in *a, str user)
{
    bool is_managing = who->is_admin && !who->is_person;
    if (!str_eq(user, who->pool.user) && !auth_has(who, MANAGES_PEOPLE))
        return fail_forbidden(ctx, "user",
                              "tokens of another user need an admin token of an owner");
    if (a->admin && !is_managing)
        return fail_forbidden(ctx, "admin", "only an admin token makes admin tokens");
    if (a->acts_for.n && !is_managing)
        return fail_forbidden(ctx, "acts_for",
                              "only an admin token makes one that acts for others");
    return OK;
}

static HANDLER(token_make)
{
    const struct make_in *a = in->in;
    const struct identity *who = &in->who;
    str user = a->user.n ? a->user : who->pool.user, secret;
    bool is_own = str_eq(user, who->pool.user);
    struct token t = {.prefix = auth_has(who, MANAGES_PEOPLE) ? S("rk_") : S("ctx_"),
                      .name = a->name,
                      .pool.user = user,
                      .acts_for = a->acts_for,
                      .is_admin = a->admin,
                      .scopes = a->scopes,
                      .spaces = a->spaces,
                      .expires = a->expires};
    TRY(check_rights(ctx, who, a, user));
    TRY(acts_for_check(ctx, a->acts_for));
    if (a->expires && a->expires <= clock_ms())
        return fail_field(ctx, "expires", "must be in the future");
    if (a->own_space && (who->space_from || a->spaces.n))
        return fail_field(ctx, "own_space", "must not be set when a space is named");
    t.pool.space = a->own_space                ? S("")
                   : is_own || who->space_from ? who->pool.space
                                               : S(DEFAULT_SPACE);
    if (a->spaces.n && !who->space_from) {
        str first = a->spaces;
        t.pool.space = str_trim(str_cut(&first, ','));
    }
    TRY(auth_inherit(ctx, app, who, &t));
    TRY(engine_make_token(ctx, app->engine, &t, &secret));
    const struct token_out shape = shape_of(&t, secret);
    out->code = 201;
    return reply_fields(out, token_made_fields, &shape);
}

/* A token that a caller may not see is answered like one that does not exist. */
static HANDLER(token_revoke)
{
    struct token *v;
    size_t n, at = 0;
    TRY(tokens_of(ctx, app, &in->who, &v, &n));
    while (at < n && !str_eq(v[at].id, in->params[0]))
        at++;
    enum status s =
        at < n ? engine_revoke_token(ctx, app->engine, v[at].pool.user, v[at].id) : NOT_FOUND;
    if (s == NOT_FOUND)
        return fail(ctx, NOT_FOUND, "there is no token '" S_FMT "' that works",
                    S_ARG(in->params[0]));
    out->code = 204;
    return s;
}

static const struct route routes[] = {
    {ROUTE("GET", "/v1/tokens", token_list), TAKES(tokens_in), .scope = MAY_MANAGE,
     ANSWERS(tokens_out), .help = "your access tokens; for owners everyone's"},
    {ROUTE("POST", "/v1/tokens", token_make), .words.code = 201, READS(make_in),
     .scope = MAY_MANAGE, ANSWERS(token_made), .help = "make an access token; it is shown once"},
    {ROUTE("DELETE", "/v1/tokens/{id}", token_revoke), .words.code = 204, .scope = MAY_MANAGE,
     .help = "revoke an access token and all that it made, at once"},
    {0},
};

const struct surface surface_tokens = STRICT_SURFACE("tokens", routes);
