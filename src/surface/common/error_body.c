/* error_body.c - from a failure to the body that tells it, by a dialect's rules and shape. */
#include "surface/common/error_body.h"

#include "surface/common/memory_json.h"

/*
 * A failure is a status, a field and a sentence in ctx. A dialect adds two tables: rules, which
 * give the status its names in that dialect and where needed another HTTP code, and a shape, which
 * says where in the body they stand. So a surface words its errors without a function of its own
 * unless its clients expect something odd.
 */

/* The caller is known once admit has filled in->who. A rule for one path counts only from then on,
 * and one with is_before_auth only until then. */
static bool rule_fits(const struct error_rule *rule, const struct ctx *ctx, enum status s,
                      const struct request *in)
{
    bool is_known = in->who.pool.user.n > 0;
    return rule->status == s && (!rule->field || !strcmp(ctx->field, rule->field)) &&
           (!rule->path || (is_known && str_is(in->path, rule->path))) &&
           (!rule->detail || rule->detail == ctx->detail) && !(rule->is_before_auth && is_known);
}

struct error_body error_body_of(struct ctx *ctx, enum status s, const struct request *in,
                                const struct error_rule *rules, const char *otherwise,
                                struct reply *out)
{
    assert(s != OK);
    const struct error_rule *rule = rules;
    const char *why = ctx->why[0] ? ctx->why : status_name(s);
    bool names_field = (s == BAD_INPUT || s == FORBIDDEN) && ctx->field[0];
    while (rule->status && !rule_fits(rule, ctx, s, in))
        rule++;
    if (rule->code)
        out->code = rule->code;
    return (struct error_body){.message = names_field
                                              ? str_printf(&ctx->arena, "%s: %s", ctx->field, why)
                                              : str_of(why),
                               .name = str_of(rule->name ? rule->name : otherwise),
                               .type = str_of(rule->type ? rule->type : ""),
                               .field = str_of(ctx->field)};
}

/* Clears first: the handler may have written half of a success. */
void error_body_write(struct reply *out, const struct field *shape, const void *body)
{
    buf_clear(&out->body);
    struct json_out w = json_to(&out->body);
    fields_write(&w, shape, body);
}

/* The first letter becomes a capital by arithmetic; callers pass lower-case words of ASCII. */
enum status found_as(struct ctx *ctx, enum status s, const char *what)
{
    if (!soft_if(ctx, s, NOT_FOUND))
        return s;
    return fail_note(ctx, NOT_FOUND, 0, what, "%c%s not found", what[0] - 32, what + 1);
}

/* --- OpenAI's --- */

static const char invalid[] = "invalid_request_error", server[] = "server_error";

/* What OpenAI's own server says for each kind; clients branch on type and code. */
static const struct error_rule openai_rules[] = {
    {BAD_INPUT, .type = invalid},
    {NO_AUTH, .type = invalid, .name = "invalid_api_key"},
    {FORBIDDEN, .type = invalid, .name = "insufficient_permissions"},
    {NOT_FOUND, .field = "model", .type = invalid, .name = "model_not_found"},
    {NOT_FOUND, .field = "previous_response_id", .code = 400, .type = invalid,
     .name = "previous_response_not_found"},
    {NOT_FOUND, .type = invalid, .name = "not_found"},
    {CONFLICT, .type = invalid, .name = "conflict"},
    {TOO_LARGE, .type = invalid, .name = "request_too_large"},
    {TOO_BUSY, .type = server, .name = "server_busy"},
    {TIMED_OUT, .type = server, .name = "timeout"},
    {UPSTREAM, .type = server, .name = "upstream_unreachable"},
    {STORAGE, .detail = STORAGE_AWAY, .type = server, .name = "storage_unavailable"},
    {STORAGE, .detail = STORAGE_FULL, .type = server, .name = "storage_full"},
    {STORAGE, .type = server, .name = "storage_failed"},
    {UNSUPPORTED, .type = invalid, .name = "unsupported"},
    {0},
};

static FIELDS_OF(error_body, openai, (STR, message), (STR, type),
                 (AS_STR, field, "param", .empty = EMPTY_NULL),
                 (AS_STR, name, "code", .empty = EMPTY_NULL));
static const struct field openai_shape[] = {
    {.name = "error", .type = FIELD_OBJECT, .inside = openai_fields},
    {0},
};

const struct error_shape openai_errors = {"OpenaiError", "application/json", openai_shape};

static FIELDS_OF(error_body, oauth, (AS_STR, name, "error"),
                 (AS_STR, message, "error_description"));

/* After a 401 many clients of MCP register for OAuth here. They show an error of its shape. */
void word_openai_error(struct ctx *ctx, enum status s, const struct request *in, struct reply *out)
{
    struct error_body body = error_body_of(ctx, s, in, openai_rules, "", out);
    bool is_oauth = s == NOT_FOUND && str_is(in->path, "/register");
    if (is_oauth)
        body.message = S("there is no OAuth here: send 'Authorization: Bearer TOKEN' with an "
                         "access token of this server");
    error_body_write(out, is_oauth ? oauth_fields : openai_shape, &body);
}

/* --- rememberd's own: RFC 9457 --- */

SHAPE(problem, (STR, type), (STR, title), (INT, status), (STR, detail),
      (STR, field, .empty = EMPTY_NULL), (STR, code), (STR, request_id));

const struct error_shape problem_errors = {"Problem", "application/problem+json", problem_fields};

/* Section 4.2.1: a type of about:blank says no more than the status, whose words the title repeats.
 * Programs go by code, the name of the status, and by field. */
void word_problem(struct ctx *ctx, enum status s, const struct request *in, struct reply *out)
{
    static const struct error_rule rules[] = {{STORAGE, .detail = STORAGE_AWAY, .code = 503,
                                               .name = "storage_unavailable"},
                                              {STORAGE, .detail = STORAGE_FULL, .code = 507,
                                               .name = "storage_full"},
                                              {0}};
    struct error_body body = error_body_of(ctx, s, in, rules, status_name(s), out);
    int code = out->code ? out->code : http_code(s);
    const struct problem problem = {.type = S("about:blank"),
                                    .title = str_of(http_reason(code)),
                                    .status = code,
                                    .detail = body.message,
                                    .field = body.field,
                                    .code = body.name,
                                    .request_id = str_of(ctx->id)};
    out->type = S("application/problem+json");
    error_body_write(out, problem_fields, &problem);
}

/* --- Anthropic's --- */

/* Its clients choose the class of their exception by the code, and their users read the type. */
static const struct error_rule anthropic_rules[] = {
    {BAD_INPUT, .type = invalid},
    {NO_AUTH, .type = "authentication_error"},
    {FORBIDDEN, .type = "permission_error"},
    {NOT_FOUND, .type = "not_found_error"},
    {CONFLICT, .type = "conflict_error"},
    {TOO_LARGE, .type = "request_too_large"},
    {TOO_BUSY, .type = "rate_limit_error"},
    {TIMED_OUT, .type = "timeout_error"},
    {UPSTREAM, .type = "api_error"},
    {STORAGE, .type = "api_error"},
    {UNSUPPORTED, .type = invalid},
    {0},
};

static FIELDS_OF(error_body, anthropic, (STR, type), (STR, message),
                 (JSON, details, .empty = EMPTY_OUT));
static const struct field anthropic_shape[] = {
    {AS_STR(struct error_body, name, "type")},
    {.name = "error", .type = FIELD_OBJECT, .inside = anthropic_fields},
    {AS_STR(struct error_body, trace, "request_id")},
    {0},
};

const struct error_shape anthropic_errors = {"AnthropicError", "application/json", anthropic_shape};

void word_anthropic_error(struct ctx *ctx, enum status s, const struct request *in,
                          struct reply *out)
{
    struct error_body body = error_body_of(ctx, s, in, anthropic_rules, "error", out);
    body.trace = str_of(ctx->id);
    /* Then clients send the whole conversation, in a new thread. */
    if (s == NOT_FOUND && str_is(body.field, "previous_message_id"))
        body.details = json_of(ctx, S("{\"error_code\":\"thread_not_found\"}"));
    error_body_write(out, anthropic_shape, &body);
    reply_header(out, "request-id", body.trace); /* where its clients look for it */
}
