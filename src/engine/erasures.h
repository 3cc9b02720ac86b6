/* erasures.h - past erasures, as signed certificates. */
#pragma once

#include "core/certificate.h"

struct engine;

/* As store_erasures. */
MUST_USE enum status engine_erasures(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                     int64_t before, size_t limit, struct certificate **out,
                                     size_t *n, int64_t *total);
/* As store_erasure, signed with the key in the data folder. */
MUST_USE enum status engine_certificate(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                        str user, str id, struct certificate *out);
