/* inside.h - what the files of this room share: one call, one question, one answer that fits. */
#pragma once

#include "http/http.h"
#include "llm/llm.h"

enum { REQUEST_MAX = 64 << 20, ANSWER_MAX = 8 << 20 };

/* What came back of a call. */
struct heard {
    struct json *root; /* of a success */
    str body;          /* of a refusal */
    int64_t retry_ms;  /* how long the server asks to be left alone, or 0 */
    bool may_pass;     /* no connection, too busy, out of order: later it may go */
};
/* One POST; every code but 2xx is a failure that says what the server said. asked is the text that
 * those words may not repeat. heard is filled in also when it fails. NO_AUTH, UPSTREAM or
 * TIMED_OUT. */
MUST_USE enum status llm_post(struct ctx *ctx, const struct upstream *up, const char *path,
                              str body, int64_t timeout_ms, str asked, struct heard *heard);
/* Most that is told of a server's words. */
enum { SAID_MAX = 200 };
bool llm_is_anthropic(const struct upstream *up);

/* How a server wants to be asked; what it refuses is noted here. */
struct manner {
    bool as_json; /* it is told that the answer is to be JSON */
    bool newer;   /* it knows the limit as max_completion_tokens */
};
/* One question, put again only where the server refuses the manner. The text may be "". */
MUST_USE enum status llm_put(struct ctx *ctx, const struct llm_ask *ask, struct manner *how,
                             struct llm_answer *out, struct heard *heard);

/*
 * Reads an object of a model by the table, not strictly, and takes what can sensibly be taken: a
 * number in quotes, one text for a list of texts, the texts of a mixed list, one object for a list
 * of objects, a text for an object that begins with one; numbers are brought into their range; null
 * and "" are absent where they are no text. leniently: what still does not fit is left out where
 * the table does not require it.
 */
MUST_USE enum status llm_fit(struct ctx *ctx, const struct field *table, const struct json *object,
                             bool leniently, void *out);
