/* admission.h - rows of a copy that may come in: not erased here, and within the quota. */
#pragma once

#include "core/memory.h"
#include "store/store.h"

struct engine;

/* Which rows were erased here, out[i]: they are left out. With again none is, and those that were
 * erased count so no more. Adds to *erased. */
MUST_USE enum status import_erased(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                   const struct erased_ask *v, size_t n, bool again, bool *out,
                                   int64_t *erased);
/* FORBIDDEN as engine_check_quota of those that are not there, and of what others have more. */
MUST_USE enum status import_quota(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                  const struct memory *v, size_t n);
