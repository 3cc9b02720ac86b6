/* rest.h - what the files of qdrant share: one request to its REST interface, and its collection.
 */
#pragma once

#include "base/json.h"
#include "store/store.h"

/* What it answered: result is the envelope's, words what it says is wrong. */
struct qdrant_answer {
    int code;
    const struct json *result; /* NULL when the body is no envelope */
    str words;
};

/* OK whenever an answer came, whatever its code. */
MUST_USE enum status qdrant_ask(struct ctx *ctx, const struct qdrant_settings *q,
                                const char *method, str path, str body, struct qdrant_answer *out);
/* UPSTREAM, with its code and words in ctx->why. */
enum status qdrant_refused(struct ctx *ctx, const struct qdrant_answer *answer);
/* Both: any code but 2xx is the failure. */
MUST_USE enum status qdrant_want(struct ctx *ctx, const struct qdrant_settings *q,
                                 const char *method, str path, str body,
                                 const struct json **result);

/* A path inside the collection; behind is "" or begins with '/'. */
str qdrant_path(struct arena *a, const struct qdrant_settings *q, const char *behind);

/* What a request may hold: the texts and vectors of a batch. */
enum { QDRANT_BODY_MAX = 64 << 20 };

/* --- collection.c --- */

struct qdrant_collection {
    bool exists;
    bool is_named; /* its vectors have a name */
    str vector;    /* that name */
    int64_t dimensions;
};
/* exists is false when it is not there. */
MUST_USE enum status qdrant_look(struct ctx *ctx, const struct qdrant_settings *q,
                                 struct qdrant_collection *out);
/* The same for vectors of this length; it is made when it is not there. */
MUST_USE enum status qdrant_ensure(struct ctx *ctx, const struct qdrant_settings *q,
                                   size_t dimensions, struct qdrant_collection *out, bool *made);
/* Fails when vectors of this length do not fit into it. */
MUST_USE enum status qdrant_fits(struct ctx *ctx, const struct qdrant_settings *q,
                                 const struct qdrant_collection *c, size_t dimensions);

/* --- points.c --- */

/* Whether its payload names this owner; space "": any space of the user. */
bool qdrant_is_of(const struct json *point, struct pool_ref pool);

/* The array of a vector. */
void qdrant_vector(struct json_out *w, const float *v, size_t dimensions);
