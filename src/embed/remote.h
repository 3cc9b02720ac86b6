/* remote.h - vectors from a server with OpenAI's /embeddings API. */
#pragma once

#include "core/settings.h"

struct remote {
    const struct upstream *up;
    str model;
    int64_t timeout_ms;
    size_t dimensions; /* 0: taken from the first vector. Other dimensions are refused */
};

/*
 * n vectors of length 1, one after the other, in the arena; *dimensions is their length. On failure
 * ctx->detail is an enum embed_failure.
 */
MUST_USE enum status remote_embed(struct ctx *ctx, const struct remote *r, const str *texts,
                                  size_t n, float **out, size_t *dimensions);
