/* checks.h - inputs, looked at before anything is done with them. */
#pragma once

#include "store/sql/state/reader.h"

/*
 * A check costs nothing but comparisons and never asks the database, so that a wrong input fails in
 * the same words on each.
 */

/* A pool has both names; or its space is "", for every space of the user. */
MUST_USE enum status pool_check(struct ctx *ctx, struct pool_ref pool);
MUST_USE enum status pool_check_reach(struct ctx *ctx, struct pool_ref pool);
/* As POOL_READER, behind a check of the pool. */
#define CHECKED_READER(r, row, ctx, s, pool)                                                       \
    TRY(pool_check((ctx), (pool)));                                                                \
    POOL_READER(r, row, ctx, s, pool)
/* The name of a type, or "" for any. */
MUST_USE enum status type_check(struct ctx *ctx, str type);
