/* eval.h - a part of the engine's face: measuring recall. */
#pragma once

#include "core/memory.h"

struct engine;

struct eval_in {
    str file; /* LoCoMo's JSON */
    bool by_session, one_pool;
    bool follow_ups; /* measures these alone: made of pairs of questions, with and without what a
                        chat does to understand them */
    const int64_t *k;
    size_t n_k;
    int64_t sessions; /* of each conversation, the first; 0: all. Shows how a small pool does */
    str dump;         /* a file for the signals of every candidate (for training), or "" */
};
/* Writes the report: text, or JSON. The engine's store must be empty. */
MUST_USE enum status engine_eval(struct ctx *ctx, struct engine *e, const struct eval_in *in,
                                 bool as_json, struct buf *out);
