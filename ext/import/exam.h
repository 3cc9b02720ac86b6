/* exam.h - a conversation with dated sessions, and questions with the messages that answer them. */
#pragma once

#include "base/ctx.h"
#include "base/fields.h"
#include "core/memory.h"

struct exam_session {
    str id; /* "conv-26/session_1": begins with the conversation's id and a slash */
    struct message *messages;
    size_t n;
};

struct exam_question {
    str id; /* "7"; one of its conversation */
    str text;
    str answer;           /* "" when it has none */
    str kind;             /* "temporal" */
    int64_t category;     /* the number of the kind; reports have the kinds in this order */
    int64_t asked;        /* unix ms; 0: when the conversation ends */
    struct strs evidence; /* refs of messages ("D1:3"), each once, only those of the conversation */
    struct strs sessions; /* ids of the sessions that answer it, likewise */
    size_t evidence_room, sessions_room; /* of both, for ARENA_ADD */
};

struct exam {
    str id;
    struct exam_session *sessions; /* by date */
    size_t n_sessions;
    struct exam_question *questions; /* only those with evidence */
    size_t n_questions, left_out;
    str speakers[2]; /* names of the people; "" in a chat with an assistant */
    int64_t until;   /* when the last session was */
};

/* What was read of one file or folder. */
struct exams {
    struct exam *v;
    size_t n;
};

/* A date as the published benchmarks write it: ISO 8601, "1:56 pm on 8 May, 2023",
 * "2023/04/10 (Mon) 23:07", "March-15-2024"; names are whole or of three letters. False for another
 * form, or a day that is none. */
bool exam_date(str s, int64_t *out);

/* Adds the message with that ref to the evidence, and its session. No message has it: nothing. */
void exam_add_evidence(struct arena *a, const struct exam *c, struct exam_question *q, str ref);
/* Adds a session's id, unless it is there. */
void exam_add_session(struct arena *a, struct exam_question *q, str session);
/* Keeps the question when it has evidence, else counts it as left out. There must be room. */
void exam_keep_question(struct exam *c, const struct exam_question *q);

/* Leaves only the first sessions, and the questions that they answer: for fitting the weights. */
void exam_cut(struct exam *c, size_t sessions);

/* --- locomo.c --- */

/* LoCoMo's JSON. Texts live in the ctx's arena and point into text. */
MUST_USE enum status locomo_read(struct ctx *ctx, str text, struct exams *out);

/* A file's bytes, mapped into memory until the scope is left. */
struct mapped {
    str text;
};
MUST_USE enum status map_file(struct ctx *ctx, str path, struct mapped *out);
void unmap_file(struct mapped *m);
