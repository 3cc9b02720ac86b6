/* known_tokens.h - tokens that were valid a moment ago, for chats while the store is away. */
#pragma once

#include "core/account.h"

struct engine;

void known_tokens_open(struct engine *e);
void known_tokens_close(struct engine *e);
/* What the store said of the token with that hash: it, or NULL when it is not valid. */
void known_tokens_note(struct engine *e, str hash, const struct token *t);
/* A token of the user was made or revoked: theirs are known again when they are seen again. */
void known_tokens_forget(struct engine *e, str user);
/* The store is away: the token, if it was valid shortly before. */
bool known_tokens_find(struct ctx *ctx, struct engine *e, str hash, struct token *out);
