/* collection.h - the collection that holds our points. */
#pragma once

#include "store/qdrant.h"

struct qdrant_collection {
    bool exists;
    bool is_named; /* its vectors have a name */
    str vector;    /* that name */
    int64_t dimensions;
};
/* exists is false when the server has no such collection. */
MUST_USE enum status qdrant_look(struct ctx *ctx, const struct qdrant_settings *q,
                                 struct qdrant_collection *out);
/* The same for vectors of this length. A missing collection is made, or NOT_FOUND. */
MUST_USE enum status qdrant_ensure(struct ctx *ctx, const struct qdrant_settings *q,
                                   size_t dimensions, bool may_make, struct qdrant_collection *out);
/* Fails when vectors of this length do not fit into it. */
MUST_USE enum status qdrant_fits(struct ctx *ctx, const struct qdrant_settings *q,
                                 const struct qdrant_collection *c, size_t dimensions);
