/* bundle_copy.h - a bundle that outlives the call that made it. */
#pragma once

#include "store/write.h"

/* A deep copy in another arena, without what write_later refuses. */
struct bundle *bundle_copy(struct arena *a, const struct bundle *b);
/* The memory that a copy takes, about. */
size_t bundle_bytes(const struct bundle *b);

/* The pool's names, copied. */
static inline struct pool_ref pool_copy(struct arena *a, struct pool_ref pool)
{
    return (struct pool_ref){str_dup(a, pool.user), str_dup(a, pool.space)};
}
