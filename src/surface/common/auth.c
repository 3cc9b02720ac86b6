/* auth.c - from a credential to a user and a space. */
#include "surface/common/auth.h"

#include <assert.h>

enum { SPACE_NAME_MAX = 200 };

/* The secret of "Authorization: Bearer …", or "". */
static str bearer_of(const struct request *in)
{
    str value = str_trim(request_header(in, "Authorization"));
    str scheme = str_cut(&value, ' ');
    return str_eq_nocase(scheme, S("Bearer")) ? str_trim(value) : S("");
}

bool auth_shows_token(str value)
{
    for (size_t i = 0; i < value.n; i++)
        if ((i == 0 || strchr(" \t=:,;\"'", value.p[i - 1])) &&
            engine_is_token(str_sub(value, i, value.n)))
            return true;
    return false;
}

static enum status accept_local(struct ctx *ctx, struct request *in)
{
    if (!in->is_loopback)
        return fail(ctx, NO_AUTH, "a token is needed; 'rememberd token create' makes one");
    in->who = (struct identity){
        .pool = {S(LOCAL_USER), S(DEFAULT_SPACE)},
        .is_admin = true,
        .credential = request_header(in, "Authorization"),
    };
    return OK;
}

enum status auth_token(struct ctx *ctx, struct app *app, const struct request *in,
                       struct token *out)
{
    str secret = bearer_of(in);
    if (!secret.n)
        return fail(ctx, NO_AUTH,
                    "an access token of this server is needed: send 'Authorization: Bearer TOKEN'");
    return engine_token(ctx, app->engine, secret, out);
}

/* A credential that looks like a token of this server must be valid. Any other credential is meant
 * for the upstream, unless a token is needed. */
enum status auth_request(struct ctx *ctx, struct app *app, enum route_access needs,
                         struct request *in)
{
    bool needs_token = true;
    struct token token;
    if (needs == ACCESS_OPEN)
        return OK;
    if (!auth_shows_token(request_header(in, "Authorization")))
        TRY(engine_needs_token(ctx, app->engine, &needs_token));
    if (!needs_token)
        return accept_local(ctx, in);
    TRY(auth_token(ctx, app, in, &token));
    if (needs == ACCESS_ADMIN && !token.is_admin)
        return fail(ctx, FORBIDDEN, "this needs an admin token");
    assert(token.pool.user.n);
    in->who = (struct identity){.pool = token.pool, .is_admin = token.is_admin};
    return OK;
}

enum status auth_agent_request(struct ctx *ctx, struct app *app, enum route_access needs,
                               struct request *in)
{
    str agent = str_trim(request_header(in, AGENT_HEADER));
    TRY(auth_request(ctx, app, needs, in));
    if (needs == ACCESS_OPEN || !agent.n)
        return OK;
    if (agent.n > SPACE_NAME_MAX)
        return fail_field(ctx, AGENT_HEADER, "must have at most %d bytes", SPACE_NAME_MAX);
    TRY(auth_space(ctx, app, &in->who, agent, AGENT_HEADER));
    in->who.pool.space = agent;
    return OK;
}

static enum status is_space(struct ctx *ctx, struct app *app, str user, str name, bool *out)
{
    struct pool_info *v;
    size_t n;
    bool needs_token = true;
    TRY(engine_needs_token(ctx, app->engine, &needs_token));
    *out = !needs_token;
    if (*out)
        return OK;
    TRY(engine_spaces(ctx, app->engine, user, &v, &n));
    for (size_t i = 0; i < n; i++)
        *out |= str_eq(v[i].pool.space, name);
    return OK;
}

enum status auth_key_space(struct ctx *ctx, struct app *app, const struct identity *who, str id,
                           str *out)
{
    struct token token;
    bool is_there = false;
    assert(who->pool.user.n);
    if (!id.n)
        return OK;
    enum status s = engine_token_named(ctx, app->engine, who->pool.user, id, &token);
    if (s != OK && s != NOT_FOUND)
        return s;
    str space = s == OK ? token.pool.space : id;
    if (s == OK || str_eq(space, who->pool.space))
        is_there = who->is_admin || str_eq(space, who->pool.space);
    else if (who->is_admin)
        TRY(is_space(ctx, app, who->pool.user, space, &is_there));
    if (!is_there)
        return fail(ctx, FORBIDDEN, "apiKeyId: not one of your keys; omit it to use your own");
    *out = space;
    return OK;
}

bool auth_reaches(const struct identity *who, const struct token *tokens, size_t n, str space)
{
    assert(who->pool.user.n);
    if (who->is_admin || str_eq(space, who->pool.space))
        return true;
    for (size_t i = 0; i < n; i++)
        if (str_eq(tokens[i].id, space) && str_eq(tokens[i].pool.space, space))
            return false;
    return true;
}

enum status auth_space(struct ctx *ctx, struct app *app, const struct identity *who, str space,
                       const char *field)
{
    struct token *tokens;
    size_t n;
    if (who->is_admin || str_eq(space, who->pool.space))
        return OK;
    TRY(engine_tokens(ctx, app->engine, who->pool.user, &tokens, &n));
    if (!auth_reaches(who, tokens, n, space))
        return fail(ctx, FORBIDDEN, "%s: belongs to another token", field);
    return OK;
}
