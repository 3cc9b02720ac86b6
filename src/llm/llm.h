/* llm.h - the face of the models: the one that is built in, and those that are asked elsewhere. */
#pragma once

#include <stdatomic.h>

#include "core/settings.h"

/*
 * rememberd/demo: what a model that only reads its memory would say. It says that it is a stand-in,
 * and quotes the remembered lines that fit the question best. The same question and lines always
 * give the same answer.
 */
str llm_demo_answer(struct arena *a, str question, const str *remembered, size_t n);

/* What a model is asked for, once; no stream. */
struct llm_ask {
    const struct upstream *up;
    str model;
    str system, user; /* system may be "" */
    int64_t max_tokens;
    int64_t timeout_ms; /* of each call; the ctx's deadline is that of all */
};
struct llm_answer {
    str text;
    int64_t tokens_in, tokens_out; /* as the server counts; estimated when it does not say */
    bool is_cut;                   /* it ran into max_tokens */
};
/*
 * POST /v1/chat/completions, or /v1/messages where the upstream's dialect is anthropic. NO_AUTH
 * (the server refuses our key), UPSTREAM (it refuses otherwise, or there is no text in the answer)
 * or TIMED_OUT. What a model thinks aloud before its answer is left out.
 */
MUST_USE enum status llm_ask(struct ctx *ctx, const struct llm_ask *ask, struct llm_answer *out);

/*
 * Asks for one JSON object (the prompt says so, too) and reads it by the table, not strictly. What
 * is nearly JSON is repaired, and members of the wrong type are taken where they can be: a number
 * in quotes, one text for a list of texts, the texts of a mixed list, null and "unknown" as absent;
 * numbers are brought into their range. A JSON row with .inside becomes a list of such objects,
 * each brought into form, none checked: who reads one by its table leaves out what does not fit.
 *
 * What does not fit is asked for once more, with what is wrong; of that answer rows that do not fit
 * are left out where they are not required. Transient failures (408, 429, 5xx,
 * no connection) are tried again up to twice, after a growing, random pause or what Retry-After
 * says, while there is time: the ctx's deadline, or without one timeout_ms; what cuts the ctx cuts
 * the pause. BAD_INPUT: it answered twice with what does not fit; else as llm_ask. answer holds the
 * last text and the tokens of all answers, also when it failed. out may be half written then.
 */
MUST_USE enum status llm_json(struct ctx *ctx, const struct llm_ask *ask, const struct field *table,
                              void *out, struct llm_answer *answer);
/*
 * The first JSON object in a text: the whole of it, or in the first fenced block, or from a brace
 * on. Valid JSON is taken as it stands. What is not is mended: text around it, trailing and missing
 * commas, comments, single, typographic and no quotes, quotes inside, Python's literals, NaN (as
 * null), control characters, doubled braces. At an end that is cut off the brackets are closed, and
 * a text or word that the end cuts through is left out. BAD_INPUT when there is no object.
 */
MUST_USE enum status llm_object(struct ctx *ctx, str text, struct json **out);

/* The model that works for the memory itself, by the setting core_model. UNSUPPORTED with the words
 * core_model_unset when it names none, with others when no upstream serves it. */
MUST_USE enum status llm_core(struct ctx *ctx, const struct settings *settings,
                              const struct upstream **up, str *model);

/* What was spent in the last hour, five minutes by five minutes. All zero is a new one. */
enum { METER_SLOTS = 12 };
struct llm_meter {
    atomic_uint_least64_t slots[METER_SLOTS];
};
/* Whether about so many tokens may be spent now; per_hour 0 has no limit. What alone is over it may
 * go when nothing was spent in the hour, or it would wait for ever. */
bool llm_meter_may(const struct llm_meter *meter, int64_t per_hour, int64_t about);
void llm_meter_add(struct llm_meter *meter, int64_t tokens);
int64_t llm_meter_spent(const struct llm_meter *meter);

/* Texts to be put in order by how well they answer a query. */
struct llm_order {
    const struct upstream *up;
    str model, query;
    const str *documents;
    size_t n;
    int64_t timeout_ms;
};
/* POST /v1/rerank {model, query, documents, top_n}; scores[i] belongs to documents[i], NAN where
 * the server named none. NO_AUTH, UPSTREAM or TIMED_OUT, with its reason in words. */
MUST_USE enum status llm_rerank(struct ctx *ctx, const struct llm_order *order, double *scores);
