/* tokens.h - a token's row, and rights that were taken away, in the writer's transaction. */
#pragma once

#include "core/account.h"
#include "core/erasure_hash.h"
#include "store/sql/db/query.h"

/* Of what comes in. */
MUST_USE enum status token_check(struct ctx *ctx, const struct token *t);
/* CONFLICT when its id or secret exists. */
MUST_USE enum status token_add(struct ctx *ctx, struct db *db, const struct token *t);

/* Rows of erasure about tokens and roles, so that an older copy does not give them back. */
MUST_USE enum status rights_revoked(struct ctx *ctx, struct db *db, const str *tokens, size_t n);
/* The roles between the two count as taken, or, when the new one is the higher, no longer. */
MUST_USE enum status rights_changed(struct ctx *ctx, struct db *db, str user, enum role was,
                                    enum role now);

/* Takes them from an older database, as the rows behind a number say. *taken counts them. */
MUST_USE enum status rights_taken_again(struct ctx *ctx, struct db *db,
                                        const struct erasure_key *key, int64_t behind,
                                        int64_t *taken);
