/* credentials.h - Steps that users, tokens and the closing engine share. */
#pragma once

#include "engine/accounts.h"

/* Fills a new token: id, hash and the shown prefix; *secret is its text. prefix as for
 * engine_make_token. */
void token_make(struct arena *a, struct token *t, str *secret);

void seal_free(struct engine *e); /* wipes it */
