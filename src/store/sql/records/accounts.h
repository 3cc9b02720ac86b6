/* accounts.h - a user's role as the store has it; a user erased in the writer's transaction. */
#pragma once

#include "core/account.h"
#include "store/sql/db/query.h"

/* As the store has it; what is unknown is a member. */
enum role role_of(int64_t n);

MUST_USE enum status account_erase(struct ctx *ctx, struct db *db, str user);
