/* llm.h - the face of the models: the one that is built in, and those that are asked elsewhere. */
#pragma once

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
    int64_t max_tokens, timeout_ms;
};
struct llm_answer {
    str text;
    int64_t tokens_in, tokens_out; /* as the server counts; 0 when it does not say */
    bool is_cut;                   /* it ran into max_tokens */
};
/* POST /v1/chat/completions. NO_AUTH (the server refuses our key), UPSTREAM (it refuses otherwise,
 * or there is no text in the answer) or TIMED_OUT. What a model thinks aloud before its answer is
 * left out. */
MUST_USE enum status llm_ask(struct ctx *ctx, const struct llm_ask *ask, struct llm_answer *out);

/*
 * Asks for one JSON object and reads it by the table (not strict). What is nearly JSON is repaired
 * (fences, text around it, trailing commas, single quotes, unquoted keys, Python's literals, an end
 * that is cut off); what then does not fit is asked for once more, with what is wrong. Transient
 * failures (429, 5xx, no connection) are tried again up to twice, with a growing, random pause,
 * while there is time. BAD_INPUT: it answered twice with what does not fit. answer counts the
 * tokens of all calls, also when it failed.
 */
MUST_USE enum status llm_json(struct ctx *ctx, const struct llm_ask *ask, const struct field *table,
                              void *out, struct llm_answer *answer);
/* The repair alone: a JSON object in text, or BAD_INPUT. */
MUST_USE enum status llm_object(struct ctx *ctx, str text, struct json **out);

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
