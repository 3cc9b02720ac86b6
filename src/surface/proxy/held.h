/* held.h - ids of what the model server keeps: a client goes on from its own only. */
#pragma once

#include "surface/proxy/model_chat.h"

/* Whether a body has to be read although memory takes no part: it may name what others have stored,
 * and a person. */
bool held_must_read(const struct app *app, const struct request *in);
/* model_is_quick for an API whose bodies may. */
bool held_is_quick(const struct app *app, const struct request *in);

/* Fills in whose the request is, also with memory off. True when it goes out with the server's key
 * for someone who may not reach what others have stored: then its answer is noted as theirs. */
bool held_is_guarded(struct ctx *ctx, struct app *app, const struct request *in,
                     struct model_request *m);

/* Whether a member has this name for a server that does not mind the case. */
bool held_is_named(const struct json *m, const char *name);
/* BAD_INPUT when a member is there twice, or in another spelling. */
MUST_USE enum status held_check_once(struct ctx *ctx, const struct json *object, const char *name);

/* NOT_FOUND, as the field that names it, unless the id is the user's; what: "Item with id". A
 * missing one or null is OK. */
MUST_USE enum status held_check(struct ctx *ctx, struct app *app, str user, enum held_kind kind,
                                const char *field, const char *what, const struct json *id);
