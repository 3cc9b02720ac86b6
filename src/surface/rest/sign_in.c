/* sign_in.c - /v1/sign-in and /v1/me: who the page's user is. */
#include "base/clock.h"
#include "surface/common/error_body.h"

/*
 * A browser cannot keep a token safely, so it is given a cookie that scripts cannot read, that is
 * sent to this server alone, and that counts only in requests of its own page (auth_cookie).
 */

SHAPE(sign_in, (STR, token, .required = true, .min = 1, .max = 256, .help = "an access token"));

struct me_out {
    str user, space, scopes, version;
    bool is_admin, is_local, needs_token;
    enum role role;
    int64_t signed_in_until;
    struct quota most;
};
static FIELDS(me_out, (STR, user, .help = "whose memory it is"),
              (STR, space, .help = "the space of requests that name none"),
              (BOOL, is_admin, .help = "may reach every space of the user"),
              (ENUM, role, .one_of = role_names,
               .help = "whose rights the token has, if it is an admin's"),
              (STR, scopes, .help = "what the token may do, as in a token; empty: everything"),
              (BOOL, is_local, .help = "is let in without a token, on this machine"),
              (BOOL, needs_token, .help = "whether requests need a token"),
              (TIME, signed_in_until, .help = "of a browser that has signed in; or null"),
              (AS_INT, most.memories, "memories_max",
               .help = "most open memories of the user; 0: unlimited"),
              (AS_INT, most.messages, "messages_max", .help = "most stored messages"),
              (AS_INT, most.bytes, "bytes_max", .help = "most bytes of text"),
              (AS_INT, most.spaces, "spaces_max", .help = "most spaces"),
              (AS_INT, most.tokens, "tokens_max", .help = "most valid tokens"),
              (STR, version, .help = "of rememberd"));

static HANDLER(show_me)
{
    struct token token;
    struct me_out me = {.user = in->who.pool.user,
                        .space = in->who.pool.space,
                        .version = S(REMEMBERD_VERSION),
                        .is_admin = in->who.is_admin,
                        .role = in->who.is_person ? ROLE_MEMBER : in->who.role,
                        .scopes = token_scopes_list(&ctx->arena, in->who.scopes),
                        .is_local = !in->who.token.n,
                        .most = engine_quota(app->engine, in->who.pool.user)};
    TRY(auth_needs_token(ctx, app, &me.needs_token));
    if (in->who.token.n && auth_cookie(in).n)
        soft(ctx, engine_signed_in(ctx, app->engine, auth_cookie(in), &token, &me.signed_in_until));
    return reply_fields(out, me_out_fields, &me);
}

/* A proxy that ends TLS says so. Whoever makes it up has a cookie that it cannot send itself. */
static void set_cookie(struct ctx *ctx, const struct request *in, str secret, int64_t seconds,
                       struct reply *out)
{
    bool is_secure = str_eq_nocase(request_header(in, "X-Forwarded-Proto"), S("https"));
    reply_header(out, "Set-Cookie",
                 str_printf(&ctx->arena,
                            COOKIE_NAME "=" S_FMT
                                        "; Path=/; HttpOnly; SameSite=Strict; Max-Age=%lld%s",
                            S_ARG(secret), (long long)seconds, is_secure ? "; Secure" : ""));
}

static HANDLER(sign_in)
{
    const struct sign_in *what = in->in;
    struct token token;
    str secret;
    int64_t until;
    TRY(auth_judge(in, &token,
                   engine_sign_in(ctx, app->engine, str_trim(what->token), in->address, &token,
                                  &secret, &until)));
    set_cookie(ctx, in, secret, (until - clock_ms()) / 1000, out);
    struct me_out me = {.user = token.pool.user,
                        .space = token.pool.space,
                        .version = S(REMEMBERD_VERSION),
                        .is_admin = token.is_admin,
                        .role = token.role,
                        .scopes = token.scopes,
                        .needs_token = true,
                        .signed_in_until = until,
                        .most = engine_quota(app->engine, token.pool.user)};
    return reply_fields(out, me_out_fields, &me);
}

/* Also of a browser whose token was revoked: there is nothing that it may not end. */
static HANDLER(sign_out)
{
    if (auth_cookie(in).n)
        TRY(engine_sign_out(ctx, app->engine, auth_cookie(in)));
    set_cookie(ctx, in, S(""), 0, out);
    out->code = 204;
    return OK;
}

static const struct route routes[] = {
    {ROUTE("POST", "/v1/sign-in", sign_in), READS(sign_in), ANSWERS(me_out), .access = ACCESS_OPEN,
     .checks_secret = true, .body_max = 4096,
     .help = "sign a browser in: the answer sets a cookie with the rights of the token"},
    {ROUTE("DELETE", "/v1/sign-in", sign_out), .access = ACCESS_OPEN, .words.code = 204,
     .help = "sign the browser out"},
    {ROUTE("GET", "/v1/me", show_me), ANSWERS(me_out), .help = "who the caller is"},
    {0},
};

const struct surface surface_sign_in = {"sign-in",        routes,
                                        word_problem,     auth_request,
                                        SURFACE_SETTLES,  .errors = &problem_errors,
                                        .is_strict = true};
