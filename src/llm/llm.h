/* llm.h - the face of the models: the built-in model, and requests to remote ones. */
#pragma once

#include <stdatomic.h>

#include "core/settings.h"

/* What is remembered, older lines first. */
struct demo_line {
    str text;
    bool is_outdated; /* a later line replaces it, or a part of it */
};

/*
 * The answer of rememberd/demo: says that the model is a stand-in, and quotes the remembered lines
 * that match the question best, an outdated one with what came later. Deterministic. noted: a
 * sentence that it gives instead, or "".
 */
str llm_demo_answer(struct arena *a, str question, const struct demo_line *remembered, size_t n,
                    str noted);

/* What such an answer quotes, as it says nothing else of its own; another answer as it is. */
str llm_without_demo(str answer);

/* The answer of a reasoning model without its thoughts, which stand in front. */
str llm_without_thought(str answer);

/* One request to a model, without streaming. */
struct llm_ask {
    const struct upstream *up;
    str model;
    str system, user; /* system may be "" */
    int64_t max_tokens;
    int64_t timeout_ms; /* of each call; the deadline of the ctx limits all calls */
};
struct llm_answer {
    str text;
    int64_t tokens_in, tokens_out; /* counted by the server, or else estimated */
    bool is_cut;                   /* the answer was cut at max_tokens, or its JSON breaks off */
};
/*
 * POST /v1/chat/completions, or /v1/messages when the upstream's dialect is anthropic. Thoughts of
 * a reasoning model are removed. NO_AUTH (the server rejects the key), UPSTREAM (another refusal,
 * or no text in the answer) or TIMED_OUT; of these two out holds the tokens that the server counts.
 */
MUST_USE enum status llm_ask(struct ctx *ctx, const struct llm_ask *ask, struct llm_answer *out);

/*
 * Requests one JSON object (the prompt must ask for it as well) and reads it by the table, not
 * strictly. Invalid JSON is repaired, and wrong types are converted where the meaning is clear: a
 * number in quotes, one text for a list of texts, the texts of a mixed list, one object for a list
 * of objects, a text for an object whose first member is a text, null and "unknown" as absent,
 * numbers clamped to their range, "high", "80 %" and 8 for a share of 1. A JSON row with
 * .inside becomes a list of such objects, converted but not checked: the caller reads each by its
 * table and drops bad ones.
 *
 * After an unusable answer the model is asked once more, with the reason; from the second answer
 * bad members are dropped unless required. Transient failures (408, 429, 5xx, no connection) are
 * retried up to twice, after a growing, random pause or the time in Retry-After, within the
 * deadline of the ctx, or timeout_ms without one. Cancelling the ctx ends the pause. BAD_INPUT: two
 * unusable answers; otherwise as llm_ask. answer holds the last text and the tokens of all answers,
 * also on failure; out may be half written then.
 */
MUST_USE enum status llm_json(struct ctx *ctx, const struct llm_ask *ask, const struct field *table,
                              void *out, struct llm_answer *answer);
/* Reads one such object of a list. leniently: members that do not fit are dropped unless required.
 */
MUST_USE enum status llm_read(struct ctx *ctx, const struct field *table, const struct json *object,
                              bool leniently, void *out);
/* Whether a text breaks off inside its JSON object. */
bool llm_breaks_off(str text);
/*
 * The first JSON object in a text: the whole text, the first fenced block, or from a brace on.
 * Valid JSON is used unchanged. Otherwise these are repaired: text around the object, trailing and
 * missing commas, comments, single, typographic and missing quotes, quotes inside strings, Python
 * literals, NaN (as null), control characters, doubled braces. A truncated text gets its closing
 * brackets, and a string or word that is cut is dropped. BAD_INPUT: no object.
 */
MUST_USE enum status llm_object(struct ctx *ctx, str text, struct json **out);

/* The model for background work, from the setting core_model. UNSUPPORTED: the setting is empty
 * (why is core_model_unset then), or no upstream serves the model. */
MUST_USE enum status llm_core(struct ctx *ctx, const struct settings *settings,
                              const struct upstream **up, str *model);

/* Tokens spent in the last hour, in slots of five minutes. All zero is a new meter. */
enum { METER_SLOTS = 12 };
struct llm_meter {
    atomic_uint_least64_t slots[METER_SLOTS];
};
/* Whether about tokens fit into the hourly budget; per_hour 0 = unlimited. A request larger than
 * the whole budget may go when nothing was spent in the hour, or it would wait forever. */
bool llm_meter_may(const struct llm_meter *meter, int64_t per_hour, int64_t about);
void llm_meter_add(struct llm_meter *meter, int64_t tokens);
int64_t llm_meter_spent(const struct llm_meter *meter);

/* Documents to score by how well they answer a query. */
struct llm_order {
    const struct upstream *up;
    str model, query;
    const str *documents;
    size_t n;
    int64_t timeout_ms;
};
/* POST /v1/rerank {model, query, documents, top_n}. scores[i] belongs to documents[i], NAN when the
 * server gave no score. NO_AUTH, UPSTREAM or TIMED_OUT. */
MUST_USE enum status llm_rerank(struct ctx *ctx, const struct llm_order *order, double *scores);
