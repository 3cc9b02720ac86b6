/* auth.c - from a credential to a user and a space. */
#include "surface/common/auth.h"

#include "base/clock.h"
#include "base/id.h"
#include "surface/common/person.h"

/*
 * Each request goes through the same steps, in this order: the credential gives a user and a space
 * (accept_credential), headers may name a person behind it (person.c), the route's access is
 * checked, and a header or the query may name another space. When the body is read, its member
 * "space" may do so, too (auth_body). All of them are asked, and two that name different spaces are
 * refused rather than ranked: a client that contradicts itself should not find its memories in
 * either.
 *
 * Everything runs on the thread of the handler and writes to in->who only. Tokens are looked up for
 * each request, so one that is revoked stops working without a restart.
 */

/* --- credentials --- */

/* The secret of "Authorization: Bearer …", or "". */
static str bearer_of(const struct request *in)
{
    str value = str_trim(request_header(in, "Authorization"));
    str scheme = str_cut(&value, ' ');
    return str_eq_nocase(scheme, S("Bearer")) ? str_trim(value) : S("");
}

/* Clients of Anthropic's API have a header of their own. Only a token of this server counts there:
 * everything else in it is for the upstream. */
static bool has_token_as_key(const struct request *in)
{
    return !auth_shows_token(request_header(in, "Authorization")) &&
           engine_is_token(str_trim(request_header(in, "x-api-key")));
}

/* At the beginning of the value or behind a separator, so that a token is found in "Bearer …", in a
 * cookie and in a list. The proxy asks before it passes a header on: an upstream must never learn a
 * token. */
bool auth_shows_token(str value)
{
    return SOME(i, value.n,
                (i == 0 || char_is_one_of(value.p[i - 1], " \t=:,;\"'")) &&
                    engine_is_token(str_sub(value, i, value.n)));
}

struct identity auth_local(struct pool_ref pool)
{
    return (struct identity){.pool = pool,
                             .own = pool,
                             .acts_for = S(ACTS_FOR_ANY),
                             .is_admin = true,
                             .role = ROLE_OWNER};
}

enum status auth_identity(struct ctx *ctx, const struct token *t, struct identity *out)
{
    assert(t->pool.user.n && t->pool.space.n);
    *out = (struct identity){.pool = t->pool,
                             .own = t->pool,
                             .acts_for = t->acts_for,
                             .token = t->id,
                             .expires = t->expires,
                             .spaces = t->spaces,
                             .is_admin = t->is_admin,
                             .role = t->role};
    return token_scopes_read(ctx, t->scopes, &out->scopes);
}

/* No token demands one yet, so whoever is on this machine may do everything; another machine may do
 * nothing. */
static enum status accept_local(struct ctx *ctx, struct request *in)
{
    if (!in->is_loopback)
        return fail(ctx, NO_AUTH,
                    "a token is needed; 'rememberd token create' makes one. Only programs on this "
                    "machine need none, by HTTP/1.1, under the name localhost, without a proxy");
    in->who = auth_local((struct pool_ref){S(LOCAL_USER), S(DEFAULT_SPACE)});
    in->who.credential = request_header(in, "Authorization");
    return OK;
}

/* A browser says of each request which page made it; one that does not say it names at least the
 * page's host where the request could change something. */
static bool is_of_own_page(const struct request *in)
{
    str site = request_header(in, "Sec-Fetch-Site"), origin = request_header(in, "Origin");
    if (site.n)
        return str_is(site, "same-origin");
    size_t scheme = str_find(origin, S("://"));
    return scheme < origin.n &&
           str_eq_nocase(str_sub(origin, scheme + 3, origin.n), request_header(in, "Host"));
}

str auth_cookie(const struct request *in)
{
    str all = request_header(in, "Cookie");
    while (all.n) {
        str one = str_trim(str_cut(&all, ';')), name = str_cut(&one, '=');
        if (str_is(name, COOKIE_NAME))
            return is_of_own_page(in) ? one : S("");
    }
    return S("");
}

enum status auth_judge(const struct request *in, const struct token *shown, enum status s)
{
    if (s == NO_AUTH && in->attempt)
        *in->attempt = (struct attempt){.is_wrong = true, .account = shown->pool.user};
    return s;
}

enum status auth_token(struct ctx *ctx, struct app *app, const struct request *in,
                       struct token *out)
{
    int64_t until;
    str secret = has_token_as_key(in) ? str_trim(request_header(in, "x-api-key")) : bearer_of(in);
    if (!engine_is_token(secret) && auth_cookie(in).n)
        return auth_judge(in, out,
                          engine_signed_in(ctx, app->engine, auth_cookie(in), out, &until));
    if (!secret.n)
        return fail(ctx, NO_AUTH,
                    "an access token of this server is needed: send 'Authorization: Bearer TOKEN'");
    return auth_judge(in, out, engine_token(ctx, app->engine, secret, in->address, out));
}

enum status auth_needs_token(struct ctx *ctx, struct app *app, bool *out)
{
    *out = true;
    return app->settings->require_token ? OK : engine_needs_token(ctx, app->engine, out);
}

/* A credential that looks like a token of this server must be valid. Any other credential is meant
 * for the upstream, unless a token is needed. */
static enum status accept_credential(struct ctx *ctx, struct app *app, struct request *in)
{
    bool needs_token = true, is_key = has_token_as_key(in);
    struct token token;
    if (!is_key && !auth_shows_token(request_header(in, "Authorization")))
        TRY(auth_needs_token(ctx, app, &needs_token));
    if (!needs_token)
        return accept_local(ctx, in);
    TRY(auth_token(ctx, app, in, &token));
    TRY(auth_identity(ctx, &token, &in->who));
    if (is_key)
        in->who.credential = request_header(in, "Authorization");
    return OK;
}

/* What concerns everyone is not for the people of a front end, though its token be an admin's. */
enum status auth_may(struct ctx *ctx, enum route_access needs, const struct identity *who)
{
    static const enum right rights[] = {
        [ACCESS_OPERATOR] = RUNS_SERVER, [ACCESS_OWNER] = MANAGES_PEOPLE};
    if (needs == ACCESS_USER || needs == ACCESS_OPEN)
        return OK;
    if (!who->is_admin)
        return fail_as(ctx, FORBIDDEN, AUTH_NEEDS_ADMIN, "this needs an admin token");
    if (who->is_person)
        return fail(ctx, FORBIDDEN, "this concerns all users and is not done in a person's name");
    if (needs == ACCESS_ADMIN || auth_has(who, rights[needs]))
        return OK;
    return fail(ctx, FORBIDDEN,
                "this concerns all users and needs an admin token of an %s; the role of this "
                "token's user is %s. 'rememberd token create --admin' makes a token of an owner",
                needs == ACCESS_OWNER ? "owner" : "operator or owner", role_names[who->role]);
}

str auth_own_key(const struct request *in)
{
    str given = request_header(in, "X-Upstream-Authorization");
    return given.n && !auth_shows_token(given) ? given : in->who.credential;
}

bool speaks_anthropic(const struct request *in)
{
    return request_header(in, "anthropic-version").n || str_is(in->path, "/v1/messages") ||
           str_starts(in->path, S("/v1/messages/"));
}

bool speaks_ollama(const struct request *in)
{
    return str_starts(in->path, S("/api/"));
}

bool auth_own_x_key(const struct request *in)
{
    str key = str_trim(request_header(in, "x-api-key"));
    return speaks_anthropic(in) && key.n && !auth_shows_token(key);
}

bool auth_has_own_key(const struct request *in)
{
    return auth_own_key(in).n || auth_own_x_key(in);
}

/* With the server's key all users are one account of the model server, so its stored things concern
 * all of them: the rule is that of ACCESS_OWNER. */
enum status auth_model_server(struct ctx *ctx, const struct request *in)
{
    if (auth_has_own_key(in) || auth_has(&in->who, MANAGES_PEOPLE))
        return OK;
    return fail(ctx, FORBIDDEN,
                S_FMT " %.80s is forwarded only with your key of the model server: send "
                      "'X-Upstream-Authorization: Bearer KEY', or use an admin token of an "
                      "owner",
                S_ARG(in->method), str_c(&ctx->arena, in->path));
}

bool auth_has(const struct identity *who, enum right right)
{
    return who->is_admin && !who->is_person && role_has(who->role, right);
}

/* The order is a rule: who it is must be known before access can be checked, and the space is last
 * because reach depends on the person. Routes with ACCESS_OPEN read no credential at all, so
 * in->who stays empty there. */
enum status auth_request(struct ctx *ctx, struct app *app, enum route_access needs,
                         struct request *in)
{
    if (needs == ACCESS_OPEN)
        return OK;
    ctx->asked = clock_ms();
    TRY(accept_credential(ctx, app, in));
    bool has_token = in->who.token.n > 0;
    snprintf(ctx->actor, sizeof ctx->actor, "%s:" S_FMT, has_token ? "token" : "user",
             S_ARG(has_token ? in->who.token : in->who.own.user));
    TRY(person_find(ctx, app, in, NULL, &in->who));
    TRY(look_as(ctx, app, in, &in->who));
    TRY(auth_may(ctx, needs, &in->who));
    TRY(auth_name_space(ctx, app, &in->who, request_header(in, SPACE_HEADER), SPACE_HEADER));
    bool reads = str_is(in->method, "GET") || str_is(in->method, "HEAD");
    str asked;
    TRY(request_query_once(ctx, in, SPACE_MEMBER, &asked));
    if (reads && str_is(asked, SPACE_ALL)) {
        if (in->who.space_from)
            return fail_field(ctx, SPACE_MEMBER, "names another space than %s", in->who.space_from);
        in->who.is_everywhere = true;
        return OK;
    }
    return auth_name_space(ctx, app, &in->who, asked, SPACE_MEMBER);
}

enum status auth_agent_request(struct ctx *ctx, struct app *app, enum route_access needs,
                               struct request *in)
{
    TRY(auth_request(ctx, app, needs, in));
    if (needs == ACCESS_OPEN)
        return OK;
    return auth_name_space(ctx, app, &in->who, request_header(in, AGENT_HEADER), AGENT_HEADER);
}

/* null is the same as an absent member, as everywhere in bodies. */
static enum status name_space_of(struct ctx *ctx, struct app *app, const struct json *v,
                                 struct identity *who)
{
    if (v && v->type != JSON_STRING && v->type != JSON_NULL)
        return fail_field(ctx, SPACE_MEMBER, "must be a string");
    return auth_name_space(ctx, app, who, json_string(v), SPACE_MEMBER);
}

enum status auth_body(struct ctx *ctx, struct app *app, struct request *in)
{
    return name_space_of(ctx, app, in->aside, &in->who);
}

enum status auth_chat(struct ctx *ctx, struct app *app, const struct request *in,
                      const struct json *body, struct identity *who)
{
    TRY(person_find(ctx, app, in, body, who));
    return name_space_of(ctx, app, json_get(body, SPACE_MEMBER), who);
}

/* --- reach: which spaces of its user a caller may use --- */

bool auth_reaches(const struct identity *who, const struct token *tokens, size_t n, str space)
{
    assert(who->own.user.n);
    if (who->spaces.n)
        return names_have(who->spaces, space);
    /* A token without a space of its choice gets one named like its id; that is how another token's
     * own space is told from one with a name, which may be there already or not. */
    return who->is_admin || str_eq(space, who->own.space) ||
           !SOME(i, n, str_eq(tokens[i].id, space) && str_eq(tokens[i].pool.space, space));
}

/* A person's spaces are called like those of the tokens that speak for it, and like those of its
 * own tokens. */
enum status auth_tokens(struct ctx *ctx, struct app *app, const struct identity *who,
                        struct token **out, size_t *n)
{
    struct token *more;
    size_t n_more;
    TRY(engine_tokens(ctx, app->engine, who->own.user, out, n));
    if (str_eq(who->pool.user, who->own.user))
        return OK;
    TRY(engine_tokens(ctx, app->engine, who->pool.user, &more, &n_more));
    *out = DUP_N(&ctx->arena, *out, *n, *n + n_more);
    for (size_t i = 0; i < n_more; i++)
        (*out)[(*n)++] = more[i];
    return OK;
}

enum status auth_tokens_seen(struct ctx *ctx, struct app *app, const struct identity *who,
                             struct token **out, size_t *n)
{
    struct token *v, *all;
    size_t have, n_all, kept = 0;
    TRY(engine_tokens(ctx, app->engine, who->pool.user, &v, &have));
    TRY(auth_tokens(ctx, app, who, &all, &n_all));
    for (size_t i = 0; i < have; i++)
        if (who->is_admin || (!v[i].is_admin && auth_reaches(who, all, n_all, v[i].pool.space)))
            v[kept++] = v[i];
    *out = v;
    *n = kept;
    return OK;
}

/* Only a space that is named like an id may be another token's. All else needs no look into the
 * store, so that chats go on while that is away. */
enum status auth_space(struct ctx *ctx, struct app *app, const struct identity *who, str space,
                       const char *field)
{
    struct token *tokens = NULL;
    size_t n = 0;
    if (who->is_admin || str_eq(space, who->own.space))
        return OK;
    if (!who->spaces.n && id_is_uuid(space))
        TRY(auth_tokens(ctx, app, who, &tokens, &n));
    if (!auth_reaches(who, tokens, n, space))
        return fail(ctx, FORBIDDEN,
                    who->spaces.n ? "%s: this token is bound to other spaces"
                                  : "%s: belongs to another token",
                    field);
    return OK;
}

enum status auth_is_private(struct ctx *ctx, struct app *app, const struct identity *who, bool *out)
{
    struct token t;
    enum status s = engine_token_named(ctx, app->engine, who->own.user, who->own.space, &t);
    *out = s == OK && str_eq(t.pool.space, t.id);
    return s == NOT_FOUND ? OK : s;
}

/* --- what a new token may --- */

static enum status inherit_scopes(struct ctx *ctx, const struct identity *who, struct token *made)
{
    unsigned wanted;
    TRY(token_scopes_read(ctx, made->scopes, &wanted));
    if (!who->scopes)
        return OK;
    if (wanted & ~who->scopes)
        return fail(ctx, FORBIDDEN, "scopes: the token that makes this one lacks '%s'",
                    token_scope_name(wanted & ~who->scopes));
    if (!wanted)
        made->scopes = token_scopes_list(&ctx->arena, who->scopes);
    return OK;
}

/* An owner's names are of another user's spaces. */
static enum status inherit_spaces(struct ctx *ctx, struct app *app, const struct identity *who,
                                  struct token *made)
{
    if (!made->spaces.n)
        made->spaces = who->spaces;
    if (made->spaces.n && made->is_admin)
        return fail_field(ctx, "spaces", "must not be set for an admin token");
    for (str list = made->spaces; list.n;) {
        str name = str_trim(str_cut(&list, ','));
        if (!name.n || name.n > SPACE_NAME_MAX || str_is(name, SPACE_ALL))
            return fail_field(ctx, "spaces", "must be names of at most %d bytes between commas",
                              SPACE_NAME_MAX);
        if (!auth_has(who, MANAGES_PEOPLE))
            TRY(auth_space(ctx, app, who, name, "spaces"));
    }
    if (made->spaces.n && !names_have(made->spaces, made->pool.space))
        return fail(ctx, FORBIDDEN, "space: the token is bound to other spaces");
    return OK;
}

enum status auth_inherit(struct ctx *ctx, struct app *app, const struct identity *who,
                         struct token *made)
{
    bool ends = who->expires && !auth_has(who, MANAGES_PEOPLE);
    made->parent = who->token;
    if (ends && (!made->expires || made->expires > who->expires))
        made->expires = who->expires;
    TRY(identity_may(ctx, who, MAY_MANAGE));
    TRY(inherit_scopes(ctx, who, made));
    return inherit_spaces(ctx, app, who, made);
}

/* --- which one a request names --- */

static enum status check_space(struct ctx *ctx, const struct identity *who, str name,
                               const char *field)
{
    if (name.n > SPACE_NAME_MAX)
        return fail_field(ctx, field, "must have at most %d bytes", SPACE_NAME_MAX);
    TRY(name_check(ctx, field, name));
    if (str_is(name, SPACE_ALL))
        return fail_field(ctx, field, "must name one space here");
    if (who->is_everywhere)
        return fail_field(ctx, field, "names one space, and the query all");
    if (who->space_from && !str_eq(name, who->pool.space))
        return fail_field(ctx, field, "names another space than %s", who->space_from);
    return OK;
}

/* Naming the same space twice is fine. The field that named it first is kept in space_from for the
 * words of a later contradiction. */
enum status auth_name_space(struct ctx *ctx, struct app *app, struct identity *who, str name,
                            const char *field)
{
    name = str_trim(name);
    if (!name.n)
        return OK;
    TRY(check_space(ctx, who, name, field));
    TRY(auth_space(ctx, app, who, name, field));
    who->pool.space = name;
    who->space_from = field;
    return OK;
}

enum status auth_pool(struct ctx *ctx, struct app *app, const struct identity *who, str name,
                      const char *field, struct pool_ref *out)
{
    struct identity asked = *who;
    TRY(auth_name_space(ctx, app, &asked, name, field));
    *out = asked.pool;
    return OK;
}

enum status auth_key_pool(struct ctx *ctx, struct app *app, const struct identity *who, str id,
                          struct pool_ref *out)
{
    struct token token;
    enum status s =
        id.n ? engine_token_named(ctx, app->engine, who->own.user, id, &token) : NOT_FOUND;
    if (s != OK && s != NOT_FOUND)
        return s;
    return auth_pool(ctx, app, who, s == OK ? token.pool.space : id, "apiKeyId", out);
}

/* --- all of them --- */

/* Every space at once is one query without a space, and allowed only when nothing is out of
 * reach: to an admin, or to a token of the default space whose user has no token with a space
 * of its own. */
enum status auth_spaces(struct ctx *ctx, struct app *app, const struct identity *who,
                        struct pool_ref *out)
{
    struct token *tokens;
    size_t n;
    *out = who->pool;
    if (who->space_from)
        return OK;
    if (!who->is_admin) {
        if (!str_is(who->own.space, DEFAULT_SPACE) || who->spaces.n)
            return OK;
        TRY(auth_tokens(ctx, app, who, &tokens, &n));
        if (SOME(i, n, !auth_reaches(who, tokens, n, tokens[i].pool.space)))
            return OK;
    }
    out->space = S("");
    return OK;
}

/* A list in place of one query, for what auth_spaces cannot express: some spaces, not all. */
enum status auth_pools(struct ctx *ctx, struct app *app, const struct identity *who,
                       struct pools *out)
{
    struct token *tokens;
    struct pool_info *v = NULL;
    size_t n_tokens, have = 0;
    if (!who->space_from) {
        TRY(engine_spaces(ctx, app->engine, who->pool.user, &v, &have));
        TRY(auth_tokens(ctx, app, who, &tokens, &n_tokens));
    }
    struct pool_ref *pools = DUP_N(&ctx->arena, &who->pool, 1, have + 1);
    *out = (struct pools){pools, 1};
    for (size_t i = 0; i < have; i++)
        if (!str_eq(v[i].pool.space, who->pool.space) &&
            auth_reaches(who, tokens, n_tokens, v[i].pool.space))
            pools[out->n++] = v[i].pool;
    return OK;
}

enum status auth_listed(struct ctx *ctx, struct app *app, const struct identity *who,
                        struct pools *out)
{
    if (who->is_everywhere)
        return auth_pools(ctx, app, who, out);
    *out = (struct pools){DUP_N(&ctx->arena, &who->pool, 1, 1), 1};
    return OK;
}

bool auth_tries_next(struct ctx *ctx, enum status s, size_t i, size_t n)
{
    if (s != NOT_FOUND || i == n)
        return false;
    ctx_clear_failure(ctx);
    return true;
}

enum status auth_find_memory(struct ctx *ctx, struct app *app, const struct identity *who, str id,
                             struct memory *out)
{
    struct pool_ref pool;
    return AUTH_FIND(ctx, app, who, pool, engine_get(ctx, app->engine, pool, id, out));
}

/* A name that a client gave may be that of something else in another space, also once it is erased
 * in this one: so it is erased there only for a request that names the space. */
enum status auth_forget(struct ctx *ctx, struct app *app, const struct identity *who,
                        struct forget *what, int64_t *erased)
{
    struct pools pools;
    enum status s = NOT_FOUND;
    TRY(auth_pools(ctx, app, who, &pools));
    size_t tried = id_is_uuid(what->id) ? pools.n : 1;
    for (size_t i = 0; auth_tries_next(ctx, s, i, tried); i++) {
        what->pool = pools.v[i];
        s = engine_forget(ctx, app->engine, what, erased);
    }
    if (!soft_if(ctx, s, NOT_FOUND))
        return s;
    struct memory m;
    s = tried < pools.n ? auth_find_memory(ctx, app, who, what->id, &m) : NOT_FOUND;
    if (s == OK)
        return fail(ctx, CONFLICT,
                    "the memory '" S_FMT "' is in the space '" S_FMT "'; name that space",
                    S_ARG(what->id), S_ARG(m.space));
    TRY(soft_or(ctx, s, NOT_FOUND));
    TRY(engine_whole_id(ctx, app->engine, pools.v, pools.n, what->id, &what->id));
    return auth_forget(ctx, app, who, what, erased);
}
