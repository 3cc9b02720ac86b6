/* measure.h - measuring recall. */
#pragma once

#include "core/memory.h"

struct engine;

/* Names of the formats that files of conversations and questions may have, NULL-ended. */
extern const char *const eval_formats[];

/* Ranks that one call measures, and the largest. */
enum { EVAL_K_MAX = 8, EVAL_RANK_MAX = 100 };

struct eval_in {
    str file;         /* conversations with questions */
    const str *files; /* of engine_eval_junk, in place of it: conversations */
    size_t n_files;
    str format; /* one of eval_formats; "": by looking at the file */
    bool by_session, one_pool;
    bool follow_ups;  /* measures these alone: made of pairs of questions, with and without what a
                         chat does to understand them */
    const int64_t *k; /* ranks within these bounds */
    size_t n_k;
    int64_t sessions; /* of each conversation, the first; 0: all. Shows how a small pool does */
    str dump;         /* a file for the signals of every candidate (for training), or "" */
    str per_question; /* a file for the figures of every question, or "" */
    bool has_texts;   /* … with the questions' texts */
    bool curve;       /* of engine_eval_prompt: at each threshold, and as with kept */
    bool kept;        /* … where just enough is kept, too */
    bool is_loaded;   /* of engine_eval: the store holds the conversations of an earlier call */
    /* of engine_eval_junk: */
    str sample;     /* a file that is made: the facts to be judged, one JSON object a line; or "" */
    str judgements; /* such a file with judgements, or lines of hash and judgement; or "" */
};
/* Writes the report: text, or JSON. The engine's store must be empty, unless it is_loaded. */
MUST_USE enum status engine_eval(struct ctx *ctx, struct engine *e, const struct eval_in *in,
                                 bool as_json, struct buf *out);

/* The same for what enters the prompt: the conversations are run as chats with a scripted model,
 * and each question is then asked in a chat of its own. */
MUST_USE enum status engine_eval_prompt(struct ctx *ctx, struct engine *e, const struct eval_in *in,
                                        bool as_json, struct buf *out);

/* Facts are extracted from the users' words by pattern, and a sample of them is drawn, the same
 * each time. Writes the share of junk by the judgements. */
MUST_USE enum status engine_eval_junk(struct ctx *ctx, struct engine *e, const struct eval_in *in,
                                      bool as_json, struct buf *out);

/* Two files of figures per question (eval_in.per_question), question by question. */
MUST_USE enum status eval_compare(struct ctx *ctx, str before, str after, bool as_json,
                                  struct buf *out);
