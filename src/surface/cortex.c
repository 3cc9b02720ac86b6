/* cortex.c - what Cortex's endpoints share: which app is meant, how a failure reads. */
#include "surface/cortex.h"

/* --- failures --- */

static const struct {
    enum status status;
    const char *field; /* NULL: any */
    int code;          /* of HTTP; 0: the status's own */
    const char *name;
} words[] = {
    {BAD_INPUT, "token_budget", 0, "TOKEN_BUDGET_EXCEEDED"},
    {BAD_INPUT, NULL, 0, "VALIDATION_ERROR"},
    {NO_AUTH, NULL, 0, "AUTHENTICATION_FAILED"},
    {FORBIDDEN, NULL, 0, "FORBIDDEN"},
    {NOT_FOUND, "session", 0, "SESSION_NOT_FOUND"},
    {NOT_FOUND, "memory", 0, "MEMORY_NOT_FOUND"},
    {NOT_FOUND, "token", 0, "TOKEN_NOT_FOUND"},
    {NOT_FOUND, "user", 0, "USER_NOT_FOUND"},
    {NOT_FOUND, NULL, 0, "NOT_FOUND"},
    {CONFLICT, NULL, 0, "CONFLICT"},
    {TOO_LARGE, NULL, 0, "REQUEST_TOO_LARGE"},
    {TOO_BUSY, NULL, 0, "SERVER_BUSY"},
    {TIMED_OUT, NULL, 502, "LLM_SERVICE_ERROR"},
    {UPSTREAM, NULL, 502, "LLM_SERVICE_ERROR"},
    {UNSUPPORTED, NULL, 0, "NOT_SUPPORTED"},
};

static void text(struct json_out *w, const char *name, str value)
{
    json_key(w, name);
    json_str(w, value);
}

void word_cortex_error(struct ctx *ctx, enum status s, const struct request *in, struct reply *out)
{
    str why = str_of(ctx->why[0] ? ctx->why : status_name(s)), field = str_of(ctx->field);
    const char *name = "INTERNAL_ERROR";
    for (size_t i = sizeof words / sizeof *words; i-- > 0;) {
        if (words[i].status != s || (words[i].field && !str_is(field, words[i].field)))
            continue;
        name = words[i].name;
        out->code = words[i].code ? words[i].code : out->code;
    }
    bool is_of_field = s == BAD_INPUT && field.n;
    buf_clear(&out->body);
    struct json_out w = json_to(&out->body);
    json_open(&w, '{');
    json_key(&w, "error");
    json_open(&w, '{');
    text(&w, "code", str_of(name));
    text(&w, "message",
         is_of_field ? str_printf(&ctx->arena, S_FMT ": " S_FMT, S_ARG(field), S_ARG(why)) : why);
    text(&w, "trace_id", request_trace(ctx, in, TRACE_HEADER));
    json_key(&w, "details");
    json_open(&w, '{');
    if (is_of_field)
        text(&w, "field", field);
    json_close(&w, '}');
    json_close(&w, '}');
    if (s == NOT_FOUND && str_is(field, "token")) /* the seed words this one as FastAPI does */
        text(&w, "detail", why);
    json_close(&w, '}');
}

enum status cortex_missing(struct ctx *ctx, const char *what)
{
    ctx_clear_failure(ctx);
    fail(ctx, NOT_FOUND, "%c%s not found", what[0] - 32, what + 1);
    snprintf(ctx->field, sizeof ctx->field, "%s", what);
    return NOT_FOUND;
}

/* --- apps --- */

enum status app_pool(struct ctx *ctx, struct app *app, const struct request *in, str app_id,
                     struct pool_ref *out)
{
    struct pool_ref pool = in->who.pool;
    str wanted = str_trim(app_id);
    if (wanted.n > APP_ID_MAX)
        return fail_field(ctx, "app_id", "must have at most %d bytes", APP_ID_MAX);
    if (wanted.n)
        pool.space = wanted;
    TRY(reach_space(ctx, app, &in->who, pool.space, "app_id"));
    *out = pool;
    return OK;
}

enum status all_apps(struct ctx *ctx, struct app *app, const struct request *in,
                     struct pool_ref *out)
{
    struct token *tokens = NULL;
    size_t n = 0;
    *out = in->who.pool;
    if (!in->who.is_admin && !str_is(in->who.pool.space, DEFAULT_SPACE))
        return OK;
    if (!in->who.is_admin)
        TRY(engine_tokens(ctx, app->engine, in->who.pool.user, &tokens, &n));
    for (size_t i = 0; i < n; i++)
        if (!reaches_space(&in->who, tokens, n, tokens[i].pool.space))
            return OK;
    out->space = S("");
    return OK;
}

enum status session_of(struct ctx *ctx, struct app *app, const struct request *in, str id,
                       struct pool_ref *pool, struct session *out)
{
    struct pool_ref own = in->who.pool, all = {own.user, S("")};
    bool sees_all = in->who.is_admin || str_is(own.space, DEFAULT_SPACE);
    enum status s = engine_session(ctx, app->engine, sees_all ? all : own, id, out);
    if (s == OK)
        s = reach_space(ctx, app, &in->who, out->space, "app_id");
    if (s == FORBIDDEN) { /* one of the same id may be in an app that is not another token's own */
        ctx_clear_failure(ctx);
        s = engine_session(ctx, app->engine, own, id, out);
    }
    if (s == NOT_FOUND)
        return cortex_missing(ctx, "session");
    TRY(s);
    *pool = (struct pool_ref){own.user, out->space};
    return OK;
}
