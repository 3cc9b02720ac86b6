/* accounts.h - a user's role as the store has it; a user erased in the writer's transaction. */
#pragma once

#include "core/account.h"
#include "store/sql/db/query.h"

/* As the store has it; what is unknown is a member. */
enum role role_of(int64_t n);

/* The row alone. */
MUST_USE enum status role_put(struct ctx *ctx, struct db *db, str user, enum role role);
/* Where nobody is an owner, the user of this machine becomes one: a backup is of its own time. */
MUST_USE enum status role_keep_owner(struct ctx *ctx, struct db *db);

MUST_USE enum status account_erase(struct ctx *ctx, struct db *db, str user);
