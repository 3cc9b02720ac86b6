/* error_body.h - failures in the words of each dialect: rules choose them, a table is the shape. */
#pragma once

#include "surface/common/auth.h"
#include "surface/common/dialects.h"

/* How a dialect words a kind of failure. The first row that fits wins; the last row is all zero. */
struct error_rule {
    enum status status;
    const char *field;   /* only when the failure is of this field; NULL: any */
    int detail;          /* only with this detail; 0: any */
    const char *path;    /* only at this path, once the caller is known; NULL: any */
    bool is_before_auth; /* only while the caller is not known */
    int code;            /* of HTTP; 0: the status's own */
    const char *name;    /* the dialect's code */
    const char *type;    /* the dialect's class of failures, where it has them */
};

/* What a body may show; a dialect's table picks and names the members. */
struct error_body {
    str message; /* "field: why" when the input breaks a rule */
    str name, type, field, trace;
    const struct json *details;
    str summary; /* a second, general message; or "" */
    const struct json *summary_details;
};

/* The first rule that fits picks the words and may set out->code. Without one the name is
 * otherwise. */
struct error_body error_body_of(struct ctx *ctx, enum status s, const struct request *in,
                                const struct error_rule *rules, const char *otherwise,
                                struct reply *out);
/* A struct of that shape: an error_body, or a dialect's own. */
void error_body_write(struct reply *out, const struct field *shape, const void *body);
/* s; NOT_FOUND, of the field `what`, in the same words for a thing that does not exist and for one
 * out of reach, so that ids cannot be probed. */
MUST_USE enum status found_as(struct ctx *ctx, enum status s, const char *what);

/* {"error": {message, type, param, code}}, as OpenAI's clients expect it. */
void word_openai_error(struct ctx *ctx, enum status s, const struct request *in, struct reply *out);
extern const struct error_shape openai_errors;
/* application/problem+json (RFC 9457), with field, code and request_id: our own endpoints. */
void word_problem(struct ctx *ctx, enum status s, const struct request *in, struct reply *out);
extern const struct error_shape problem_errors;
#define PROBLEM_SURFACE(NAME, ROUTES, ...)                                                         \
    {                                                                                              \
        NAME, ROUTES, word_problem, auth_agent_request, SURFACE_SETTLES,                           \
            .errors = &problem_errors, ##__VA_ARGS__                                               \
    }
#define STRICT_SURFACE(NAME, ROUTES) PROBLEM_SURFACE(NAME, ROUTES, .is_strict = true)
/* {"type": "error", "error": {type, message}, "request_id"}, as Anthropic's clients expect it. */
void word_anthropic_error(struct ctx *ctx, enum status s, const struct request *in,
                          struct reply *out);
extern const struct error_shape anthropic_errors;
