/* controls.h - a request's wishes about memory besides its messages: alike at every model API. */
#pragma once

#include "surface/common/without_memory.h"
#include "surface/surface.h"

enum { SESSION_NAME_MAX = 256 };

/* What headers say; read before the body, since they decide whether the body has to be read. */
MUST_USE enum status controls_read(struct ctx *ctx, const struct request *in, struct turn_in *out);
/* Whose memory it is, and which space, by the body as well. *who is a copy of in->who. */
MUST_USE enum status controls_find_who(struct ctx *ctx, struct app *app, const struct request *in,
                                       const struct json *root, struct identity *who,
                                       struct turn_in *out);
/* The session that the body names, unless a header has named one. */
MUST_USE enum status controls_name_session(struct ctx *ctx, const struct json *root,
                                           struct turn_in *out);
/* Takes the member "space" out of the body, which is then parsed again. */
MUST_USE enum status controls_hide_space(struct ctx *ctx, struct json **root, str *body);

/* The receipt's id and the session, for clients that ask for them later, and whether memory took
 * part. turn is NULL without one. */
void controls_add_headers(struct ctx *ctx, struct app *app, const struct turn_in *in,
                          const struct turn *turn, enum without_memory without, struct reply *out);
