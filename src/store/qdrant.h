/* qdrant.h - Qdrant, a vector server beside the store: health, points, search. */
#pragma once

#include "store/vectors.h"

struct qdrant_settings {
    str url;          /* scheme, host and port; "" is not configured */
    str key;          /* sent as api-key; or "" */
    str collection;   /* made at the first write */
    str quantization; /* none, int8, binary */
    int64_t timeout_ms;
};
struct qdrant_point {
    struct pool_ref pool;
    const struct memory *memory;
    const float *v;
    size_t dimensions;
};
struct qdrant_find {
    struct pool_ref pool; /* space "": every space of the user */
    str session;          /* or "" */
    const float *v;
    size_t dimensions;
    size_t limit;
};
/* A memory that was erased: what is left of it. */
struct qdrant_ref {
    struct pool_ref pool;
    str id; /* of the memory */
};
/* The URL of a host that may lack the scheme (http) and the port; "" without a host. */
str qdrant_url(struct arena *a, str host, int64_t port);
/* Each call waits for the server. UPSTREAM or TIMED_OUT when it cannot be reached or refuses, with
 * its message (at most 300 characters) in ctx->why; UNSUPPORTED "not_configured" without a URL. */
MUST_USE enum status qdrant_health(struct ctx *ctx, const struct qdrant_settings *q,
                                   int64_t *took_us);
/* At least one. A missing collection is made, or NOT_FOUND. BAD_INPUT: the server works and refuses
 * one of these points. */
MUST_USE enum status qdrant_put(struct ctx *ctx, const struct qdrant_settings *q,
                                const struct qdrant_point *points, size_t n, bool may_make);
/* NOT_FOUND: there is no collection. */
MUST_USE enum status qdrant_search(struct ctx *ctx, const struct qdrant_settings *q,
                                   const struct qdrant_find *f, struct qdrant_hit **out, size_t *n);
MUST_USE enum status qdrant_delete(struct ctx *ctx, const struct qdrant_settings *q,
                                   const struct qdrant_ref *refs, size_t n);
/* Deletes points that have expired or were created before (unix ms); *deleted counts them. */
MUST_USE enum status qdrant_cleanup(struct ctx *ctx, const struct qdrant_settings *q, str user,
                                    int64_t before, int64_t *deleted);
