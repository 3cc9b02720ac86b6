/* credentials.h - Steps that users, tokens, sessions and the closing engine share. */
#pragma once

#include "engine/accounts.h"

/* Fills a new token: id, hash and the shown prefix; *secret is its text. prefix as for
 * engine_make_token. */
void token_make(struct arena *a, struct token *t, str *secret);

void seal_free(struct engine *e); /* wipes it */

/* What a client keeps beside a user or a session: a JSON object of at most METADATA_MAX bytes.
 * *out is NULL for "". BAD_INPUT names the field. */
MUST_USE enum status object_read(struct ctx *ctx, const char *field, str text, struct json **out);
