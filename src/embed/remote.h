/* remote.h - vectors from a server that speaks OpenAI's /embeddings. */
#pragma once

#include "core/settings.h"

struct remote {
    const struct upstream *up;
    str model;
    int64_t timeout_ms;
    size_t dimensions; /* 0: learnt from the first vector; any other length is refused */
};

/*
 * n vectors of length 1, one after the other, in the arena; *dimensions is their length. ctx->why
 * begins with no_key, rate_limited, timeout or request_failed.
 */
MUST_USE enum status remote_embed(struct ctx *ctx, const struct remote *r, const str *texts,
                                  size_t n, float **out, size_t *dimensions);
