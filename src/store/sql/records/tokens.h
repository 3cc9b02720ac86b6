/* tokens.h - a token's row, added in the writer's transaction. */
#pragma once

#include "core/account.h"
#include "store/sql/db/db.h"

/* CONFLICT when its id or secret exists. */
MUST_USE enum status token_add(struct ctx *ctx, struct db *db, const struct token *t);
