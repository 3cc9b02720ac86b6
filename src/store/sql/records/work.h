/* work.h - the log of background work, added to in the writer's transaction. */
#pragma once

#include "core/work.h"
#include "store/sql/db/db.h"

MUST_USE enum status work_add(struct ctx *ctx, struct db *db, const struct work *work);
