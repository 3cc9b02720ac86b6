/* accounts.h - a user's registration and tokens, erased in the writer's transaction. */
#pragma once

#include "store/sqlite/db/query.h"

MUST_USE enum status account_erase(struct ctx *ctx, struct db *db, str user);
