/* rest.h - one request to Qdrant's REST interface. */
#pragma once

#include "base/json.h"
#include "store/qdrant.h"

struct qdrant_answer {
    int code;
    const struct json *result; /* of the envelope; NULL when the body has none */
    str words;                 /* the error message of the envelope */
};

/* OK whenever an answer came, whatever its code. behind: of the collection's path, "" or from '/'
 * on; NULL: whether the server is ready. */
MUST_USE enum status qdrant_ask(struct ctx *ctx, const struct qdrant_settings *q,
                                const char *method, const char *behind, str body,
                                struct qdrant_answer *out);
/* UPSTREAM, with its code and words in ctx->why. */
enum status qdrant_refused(struct ctx *ctx, const struct qdrant_answer *answer);
/* Both: any code but 2xx is the failure. */
MUST_USE enum status qdrant_want(struct ctx *ctx, const struct qdrant_settings *q,
                                 const char *method, const char *behind, str body,
                                 const struct json **result);

/* Bytes of a request: the texts and vectors of a batch. */
enum { QDRANT_BODY_MAX = 64 << 20 };
