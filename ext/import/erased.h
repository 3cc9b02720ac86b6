/* erased.h - rows of a copy that were erased here are left out, or brought back on purpose. */
#pragma once

#include "base/ctx.h"
#include "store/store.h"

struct engine;

/* out[i]: leave it out. With again none is, and those that were erased count so no more. Adds to
 * *erased. */
MUST_USE enum status import_erased(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                   const struct erased_ask *v, size_t n, bool again, bool *out,
                                   int64_t *erased);
