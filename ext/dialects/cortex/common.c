/* common.c - the common part of Cortex's endpoints: the app that is meant, and failures. */
#include "ext/dialects/cortex/common.h"

#include "surface/common/found.h"

/*
 * Cortex is a memory service with users, applications and sessions. Here a user is a user, and an
 * application (app_id) is a space of that user. Its clients branch on error.code, so each status
 * has the code that Cortex gives it; where one status has several, the field of the failure
 * chooses.
 */

/* --- failures --- */

/* A model that is late or away is 502 to Cortex's clients in both cases. */
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
    {STORAGE, .detail = STORAGE_AWAY, .name = "SERVICE_UNAVAILABLE"},
    {TOO_BUSY, .name = "SERVER_BUSY"},
    {TIMED_OUT, .code = 502, .name = "LLM_SERVICE_ERROR"},
    {UPSTREAM, .code = 502, .name = "LLM_SERVICE_ERROR"},
    {UNSUPPORTED, .name = "NOT_SUPPORTED"},
    {0},
};

static FIELDS_OF(error_body, details, (STR, field, .empty = EMPTY_OUT));
static const struct field error_shape[] = {
    {AS_STR(struct error_body, name, "code")},
    {STR(struct error_body, message)},
    {AS_STR(struct error_body, trace, "trace_id")},
    {.name = "details", .type = FIELD_OBJECT, .inside = details_fields},
    {0},
};
static const struct field body_shape[] = {
    {.name = "error", .type = FIELD_OBJECT, .inside = error_shape},
    {AS_STR(struct error_body, summary, "detail"), .empty = EMPTY_OUT},
    {0},
};

const struct error_shape cortex_errors = {"CortexError", "application/json", body_shape};

/* Only wrong input names a field in details: in the other cases the field is a word of ours that
 * chose the code. */
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

enum status cortex_app(struct ctx *ctx, const struct request *in, str named, str *out)
{
    str asked = request_query(ctx, in, "app_id");
    *out = named.n ? named : asked;
    return !asked.n || str_eq(str_trim(asked), str_trim(*out))
               ? OK
               : fail_field(ctx, "app_id", "differs from app_id in the query");
}

enum status cortex_pool(struct ctx *ctx, struct app *app, const struct request *in, str named,
                        struct pool_ref *out)
{
    TRY(cortex_app(ctx, in, named, &named));
    return auth_pool(ctx, app, &in->who, named, "app_id", out);
}

enum status session_of(struct ctx *ctx, struct app *app, const struct request *in, str id,
                       struct pool_ref *pool, struct session *out)
{
    struct identity who = in->who;
    TRY(auth_name_space(ctx, app, &who, request_query(ctx, in, "app_id"), "app_id"));
    enum status s = found_session(ctx, app, &who, id, "app_id, space or X-Memory-Space", out, pool);
    return found_as(ctx, s, "session");
}
