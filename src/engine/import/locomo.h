/* locomo.h - LoCoMo's JSON: conversations with dated sessions, and questions with their evidence.
 */
#pragma once

#include "base/ctx.h"
#include "base/fields.h"
#include "core/memory.h"

struct locomo_session {
    str id; /* "conv-26/session_1" */
    struct message *messages;
    size_t n;
};

struct locomo_question {
    str text;
    str answer; /* "" when it has none */
    int64_t category;
    struct strs evidence; /* refs of turns ("D1:3"), each once, only those of the conversation */
};

struct locomo {
    str id;
    struct locomo_session *sessions; /* by number */
    size_t n_sessions;
    struct locomo_question *questions; /* only those with evidence */
    size_t n_questions, left_out;
    str speakers[2];
    int64_t until; /* when the last session was */
};

/* Texts live in the ctx's arena and point into text. */
MUST_USE enum status locomo_read(struct ctx *ctx, str text, struct locomo **out, size_t *n);

/* Leaves only the first sessions, and the questions that they answer. */
void locomo_cut(struct locomo *c, size_t sessions);

/* A file's bytes, mapped into memory until the scope is left. */
struct mapped {
    str text;
};
MUST_USE enum status map_file(struct ctx *ctx, str path, struct mapped *out);
void unmap_file(struct mapped *m);
