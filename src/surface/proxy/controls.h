/* controls.h - a request's wishes about memory besides its messages: alike at every model API. */
#pragma once

#include "surface/common/without_memory.h"

enum { SESSION_NAME_MAX = 256 };
/* BAD_INPUT, with the field: the name is too long, or a header of the answer cannot hold it. */
MUST_USE enum status session_name_check(struct ctx *ctx, str name, const char *field);

/* Headers that are read of every chat, those of a completion, and what is added to answers. */
extern const struct field chat_header_fields[], completion_header_fields[];
extern const struct field completion_shown_fields[];

/* What headers say; read before the body, since they decide whether the body has to be read. */
MUST_USE enum status controls_read(struct ctx *ctx, const struct request *in, struct turn_in *out);
/* The session that the body names, unless a header has named one. */
MUST_USE enum status controls_name_session(struct ctx *ctx, const struct json *root,
                                           struct turn_in *out);
/* The receipt's id and the session, for clients that ask for them later, and whether memory took
 * part. turn is NULL without one. */
void controls_add_headers(struct ctx *ctx, struct app *app, const struct turn_in *in,
                          const struct turn *turn, enum without_memory without, struct reply *out);
