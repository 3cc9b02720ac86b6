/* found.h - sessions by their names, in every space in reach. */
#pragma once

#include "surface/common/auth.h"

/* NOT_FOUND is the same for one that is not there and one out of reach; *pool is where it is.
 * CONFLICT when several spaces have one of that name: how says by what the request names one. */
MUST_USE enum status found_session(struct ctx *ctx, struct app *app, const struct identity *who,
                                   str id, const char *how, struct session *out,
                                   struct pool_ref *pool);
/* The pools as text: what a cursor is of. */
str pools_text(struct ctx *ctx, struct pools pools);
