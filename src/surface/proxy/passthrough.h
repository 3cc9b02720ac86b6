/* passthrough.h - requests of /v1 that the upstream answers as they came; the list of models. */
#pragma once

#include "surface/surface.h"

/* A surface of model APIs: requests are for whoever may chat. */
#define MODEL_SURFACE(NAME, ROUTES, WORD_ERROR, ERRORS)                                            \
    {                                                                                              \
        NAME, ROUTES, WORD_ERROR, auth_agent_request, SURFACE_SETTLES, .errors = &(ERRORS),        \
                                                                       .scope = MAY_CHAT           \
    }

/* Whether the body can be passed on without a look into it. */
bool passes_unread(const struct settings *s, str body);

/* Whether the loop's thread may pass the request on: no store is asked, no long body is read. */
bool is_quick_to_pass(const struct app *app, const struct request *in);

/* To the upstream of the model that the body names, under this path. */
MUST_USE enum status pass_body(struct ctx *ctx, struct app *app, const struct request *in, str path,
                               struct reply *out);

/*
 * Handlers of requests that pass unchanged. pass_request and pass_conversation: for every client,
 * with the server's key when it has none of its own; the latter is for conversations, and says that
 * memory takes no part. pass_guarded: any path of /v1, for clients with a key of their own and for
 * the operator; NOT_FOUND for a path that begins like one of rememberd's.
 */
handler pass_request, pass_conversation, pass_guarded;
/* GET /v1/models; GET /v1/models/{id}. */
handler list_models, get_model;
