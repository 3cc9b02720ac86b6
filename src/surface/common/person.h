/* person.h - the person behind a credential: named by headers, or by the body of a chat. */
#pragma once

#include "surface/surface.h"

/* Names a person to rememberd itself; it comes first, whatever other programs name. */
#define PERSON_HEADER "X-Memory-User"

/*
 * Finds who speaks, by the sources of the setting user_from in their order, and makes who->pool
 * that person's. body is a chat's, or NULL: then its members are no sources. Nothing changes when
 * nobody is named. FORBIDDEN: the credential may not speak for this person. BAD_INPUT names the
 * source whose name cannot be used: nobody gets another's memory because a name was unclear.
 */
MUST_USE enum status person_find(struct ctx *ctx, struct app *app, const struct request *in,
                                 const struct json *body, struct identity *who);

/* The same for a name that an API has in a place of its own, called source. Where the request has
 * named somebody already it must be the same one, or it is FORBIDDEN. */
MUST_USE enum status person_named(struct ctx *ctx, str source, str name, struct identity *who);

/* The conversation that the body of a chat names, or "": Claude Code's is in metadata.user_id. */
str person_session(struct ctx *ctx, const struct json *body);

/* For an owner who looks at another user's memory, by a header: makes who->pool that user's for
 * this request, and notes it in the log. FORBIDDEN for everybody else, and for requests that could
 * change something; NOT_FOUND when there is no such user. */
MUST_USE enum status look_as(struct ctx *ctx, struct app *app, const struct request *in,
                             struct identity *who);
