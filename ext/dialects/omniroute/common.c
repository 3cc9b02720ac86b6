/* common.c - the common part of OmniRoute's endpoints: a memory, callers, failures. */
#include "ext/dialects/omniroute/common.h"

#include "surface/common/memory_json.h"

/*
 * OmniRoute is a gateway to model servers with a memory of its own. Its API keys are our tokens,
 * and apiKeyId is a space. What follows is common to its four surfaces (memory, engine, compact,
 * settings): the shape of a memory, the words of its failures, and who may ask.
 */

/* --- a memory --- */

FIELDS_OF(memory, memory_shown, (STR, id, .required = true, .help = "UUID"),
          (AS_STR, space, "apiKeyId", .required = true, .help = "owner"),
          (AS_STR, session, "sessionId", .required = true, .help = "or empty"),
          (ENUM, type, .required = true, .one_of = type_names, .help = "kind of knowledge"),
          (STR, key, .required = true, .help = "or empty"),
          (STR, content, .required = true, .help = "what is remembered"),
          (RAW, metadata, .required = true, .otherwise_str = "{}", .help = "an object"),
          (AS_TIME, created, "createdAt", .required = true),
          (AS_TIME, updated, "updatedAt", .required = true),
          (AS_TIME, expires, "expiresAt", .help = "null: never"));

/* --- who asks --- */

/* The sentences are OmniRoute's. STORAGE while asking for the token becomes 503 by the rules below,
 * since the caller is not known then. */
enum status auth_manager_request(struct ctx *ctx, struct app *app, enum route_access needs,
                                 struct request *in)
{
    enum status s = auth_request(ctx, app, needs, in);
    if (soft_if(ctx, s, NO_AUTH))
        return fail(ctx, s, "%s",
                    request_header(in, "Authorization").n ? "Invalid or expired access token"
                                                          : "Authentication required");
    if (ctx->detail == AUTH_NEEDS_ADMIN && soft_if(ctx, s, FORBIDDEN))
        return fail(ctx, s,
                    "API key lacks 'manage' scope. 'rememberd token create --admin' makes "
                    "one that has it.");
    if (soft_if(ctx, s, STORAGE))
        return fail(ctx, s, "Service temporarily unavailable");
    return s;
}

enum status managed_pool(struct ctx *ctx, struct app *app, const struct request *in, str key,
                         struct pool_ref *out)
{
    return key.n ? auth_key_pool(ctx, app, &in->who, key, out)
                 : auth_spaces(ctx, app, &in->who, out);
}

/* --- failures --- */

/* A context of its own: the text may be the reason of the failure that is being worded. */
static bool is_json(str text)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    struct json *v;
    return !text.n || json_parse(&ctx, text, &v) == OK;
}

SHAPE(error_detail, (STR, field), (STR, message));
static FIELDS_OF(error_body, error, (STR, message), (STR, type), (JSON, details));
static const struct field body_shape[] = {
    {.name = "error", .type = FIELD_OBJECT, .inside = error_fields},
    {AS_STR(struct error_body, summary, "message"), .empty = EMPTY_OUT},
    {AS_JSON(struct error_body, summary_details, "details"), .empty = EMPTY_OUT},
    {AS_STR(struct error_body, trace, "requestId")},
    {0},
};

const struct error_shape omniroute_errors = {"OmnirouteError", "application/json", body_shape};

static const struct error_rule rules[] = {{STORAGE, .is_before_auth = true, .code = 503}, {0}};

/*
 * OmniRoute has several shapes of a failure. Its API reference has {error: {message, type,
 * details}, requestId}, which stands in every body. Its server answers input that breaks a rule
 * with {message, details} and no error; both are in one body then, so that clients of either can
 * read it.
 */
void word_omniroute_error(struct ctx *ctx, enum status s, const struct request *in,
                          struct reply *out)
{
    struct error_detail detail = {str_of(ctx->field), str_of(ctx->why)};
    struct error_body body = error_body_of(ctx, s, in, rules, "", out);
    bool is_ours = s == TOO_BUSY || s == TIMED_OUT || s == UPSTREAM || s == STORAGE;
    bool is_json_body = s != BAD_INPUT || is_json(in->body);
    bool breaks_rule = s == BAD_INPUT && is_json_body;
    body.type = is_ours ? S("server_error") : S("invalid_request");
    if (!is_json_body)
        body.message = S("Invalid JSON body");
    str list = breaks_rule ? json_object_of(ctx, error_detail_fields, &detail)->source : S("");
    body.details = json_of(ctx, str_printf(&ctx->arena, "[" S_FMT "]", S_ARG(list)));
    if (breaks_rule) {
        body.summary = S("Invalid request");
        body.summary_details = body.details;
    }
    /* A UUID that contains the request id of the log; of one with a trace, the part behind it. */
    const char *end = strrchr(ctx->id, '-'), *id = end ? end + 1 : ctx->id;
    body.trace = str_printf(&ctx->arena, "%.8s-0000-8000-8000-0000%.8s", id, id + 8);
    error_body_write(out, body_shape, &body);
}
