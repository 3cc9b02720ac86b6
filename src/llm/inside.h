/* inside.h - shared by the files of this room: the call, the request, and conversion. */
#pragma once

#include "http/http.h"
#include "llm/llm.h"

enum { REQUEST_MAX = 64 << 20, ANSWER_MAX = 8 << 20 };

/* The answer of a call. */
struct heard {
    struct json *root; /* on success */
    str body;          /* on refusal */
    int64_t retry_ms;  /* how long the server asks to wait, or 0 */
    bool may_pass;     /* a transient failure: a retry may help */
};
/* One POST. Any status but 2xx is a failure with the server's message, from which asked, the text
 * of the request, is removed. heard is also set on failure. NO_AUTH, UPSTREAM or TIMED_OUT. */
MUST_USE enum status llm_post(struct ctx *ctx, const struct upstream *up, const char *path,
                              str body, int64_t timeout_ms, str asked, struct heard *heard);
/* Longest message of a server that is passed on. */
enum { SAID_MAX = 200 };

/* Request parameters that not every server accepts. A refusal changes them. */
struct manner {
    bool as_json; /* send response_format json_object */
    bool newer;   /* send max_completion_tokens instead of max_tokens */
};
/* One request, repeated only when the server refuses a parameter. The text may be "". */
MUST_USE enum status llm_put(struct ctx *ctx, const struct llm_ask *ask, struct manner *how,
                             struct llm_answer *out, struct heard *heard);

/* Reads the object of a model by the table, and converts what llm_json says. leniently: a member
 * that still does not fit is dropped unless the table requires it. */
MUST_USE enum status llm_fit(struct ctx *ctx, const struct field *table, const struct json *object,
                             bool leniently, void *out);
