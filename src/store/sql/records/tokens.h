/* tokens.h - a token's row, added and revoked in the writer's transaction. */
#pragma once

#include "core/account.h"
#include "store/sql/db/db.h"

/* CONFLICT when its id or secret exists. */
MUST_USE enum status token_add(struct ctx *ctx, struct db *db, const struct token *t);
/* NOT_FOUND without a note: it is not the user's, or was revoked before. */
MUST_USE enum status token_revoke(struct ctx *ctx, struct db *db, str user, str id);
