/* rest.h - one request to Qdrant's REST interface. */
#pragma once

#include "base/json.h"
#include "store/qdrant.h"

struct qdrant_answer {
    int code;
    const struct json *result; /* of the envelope; NULL when the body has none */
    str words;                 /* the error message of the envelope */
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

/* Bytes of a request: the texts and vectors of a batch. */
enum { QDRANT_BODY_MAX = 64 << 20 };
