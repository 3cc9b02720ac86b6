/* common.h - the common part of Cortex's endpoints: the app that is meant, and failures. */
#pragma once

#include "surface/common/error_body.h"

#define TRACE_HEADER "X-Trace-ID"

/* A session of the caller in the app that the request names, else in any in reach, and its pool.
 * CONFLICT lists the apps when more than one has the id. Another user's session is missing like one
 * that does not exist: found_as. */
MUST_USE enum status session_of(struct ctx *ctx, struct app *app, const struct request *in, str id,
                                struct pool_ref *pool, struct session *out);

/* The app that the body names, or else the query, since Cortex's clients do both. Two different
 * ones are refused, as a write must not go to a guess. */
MUST_USE enum status cortex_app(struct ctx *ctx, const struct request *in, str named, str *out);
/* Its pool. */
MUST_USE enum status cortex_pool(struct ctx *ctx, struct app *app, const struct request *in,
                                 str named, struct pool_ref *out);

/*
 * {"error": {code, message, trace_id, details}}. ctx->field chooses among the codes of a status:
 * NOT_FOUND of "session", "memory" or "token" (found_as), BAD_INPUT of "token_budget".
 */
void word_cortex_error(struct ctx *ctx, enum status s, const struct request *in, struct reply *out);
extern const struct error_shape cortex_errors;
#define CORTEX_SURFACE(ROUTES)                                                                     \
    {                                                                                              \
        "cortex", ROUTES, word_cortex_error, auth_request, TRACE_HEADER, SURFACE_SETTLES,          \
            .errors = &cortex_errors                                                               \
    }
