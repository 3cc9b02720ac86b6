/* days.h - adding to what a pool did today. */
#pragma once

#include "core/days.h"
#include "store/sql/db/query.h"

/* Adds to a count of the pool's day, in the transaction of what is counted; 0 adds nothing. stat is
 * an enum day_stat, with what is added to it. */
MUST_USE enum status days_add(struct ctx *ctx, struct db *db, int64_t pool, int stat, int64_t n);
