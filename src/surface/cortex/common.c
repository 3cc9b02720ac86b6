/* common.c - what Cortex's endpoints share: which app is meant, how a failure reads. */
#include "surface/cortex/common.h"

#include <assert.h>

/* --- failures --- */

static const struct error_rule rules[] = {
    {BAD_INPUT, .field = "token_budget", .name = "TOKEN_BUDGET_EXCEEDED"},
    {BAD_INPUT, .name = "VALIDATION_ERROR"},
    {NO_AUTH, .name = "AUTHENTICATION_FAILED"},
    {FORBIDDEN, .name = "FORBIDDEN"},
    {NOT_FOUND, .field = "session", .name = "SESSION_NOT_FOUND"},
    {NOT_FOUND, .field = "memory", .name = "MEMORY_NOT_FOUND"},
    {NOT_FOUND, .field = "token", .name = "TOKEN_NOT_FOUND"},
    {NOT_FOUND, .field = "user", .name = "USER_NOT_FOUND"},
    {NOT_FOUND, .name = "NOT_FOUND"},
    {CONFLICT, .name = "CONFLICT"},
    {TOO_LARGE, .name = "REQUEST_TOO_LARGE"},
    {TOO_BUSY, .name = "SERVER_BUSY"},
    {TIMED_OUT, .code = 502, .name = "LLM_SERVICE_ERROR"},
    {UPSTREAM, .code = 502, .name = "LLM_SERVICE_ERROR"},
    {UNSUPPORTED, .name = "NOT_SUPPORTED"},
    {0},
};

static const struct field details_shape[] = {
    {STR(struct error_body, field), .empty = EMPTY_OUT},
    {0},
};
static const struct field error_shape[] = {
    {AS_STR(struct error_body, name, "code")},
    {STR(struct error_body, message)},
    {AS_STR(struct error_body, trace, "trace_id")},
    {.name = "details", .type = FIELD_OBJECT, .inside = details_shape},
    {0},
};
static const struct field body_shape[] = {
    {.name = "error", .type = FIELD_OBJECT, .inside = error_shape},
    {AS_STR(struct error_body, summary, "detail"), .empty = EMPTY_OUT},
    {0},
};

void word_cortex_error(struct ctx *ctx, enum status s, const struct request *in, struct reply *out)
{
    struct error_body body = error_body_of(ctx, s, in, rules, "INTERNAL_ERROR", out);
    body.trace = request_trace(ctx, in, TRACE_HEADER);
    if (s == NOT_FOUND && str_is(body.field, "token")) /* also as FastAPI words it */
        body.summary = body.message;
    if (s != BAD_INPUT)
        body.field = S("");
    error_body_write(out, body_shape, &body);
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
    return auth_pool(ctx, app, &in->who, app_id, "app_id", out);
}

enum status all_apps(struct ctx *ctx, struct app *app, const struct request *in,
                     struct pool_ref *out)
{
    return auth_spaces(ctx, app, &in->who, out);
}

enum status session_of(struct ctx *ctx, struct app *app, const struct request *in, str id,
                       struct pool_ref *pool, struct session *out)
{
    struct pool_ref own = in->who.pool, all = {own.user, S("")};
    bool sees_all = in->who.is_admin || str_is(own.space, DEFAULT_SPACE);
    enum status s = engine_session(ctx, app->engine, sees_all ? all : own, id, out);
    if (s == OK)
        s = auth_space(ctx, app, &in->who, out->space, "app_id");
    /* A session of the same id may be in an app that is not another token's own. */
    if (soft_if(ctx, s, FORBIDDEN))
        s = engine_session(ctx, app->engine, own, id, out);
    if (s == NOT_FOUND)
        return cortex_missing(ctx, "session");
    TRY(s);
    assert(str_eq(out->id, id) && out->space.n);
    *pool = (struct pool_ref){own.user, out->space};
    return OK;
}
