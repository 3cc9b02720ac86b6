/* eval.h - counts of an evaluation of recall, and its report. */
#pragma once

#include "engine/state/state.h"
#include "ext/eval/formats.h"
#include "ext/eval/measure.h"

enum { EVAL_K_MAX = 8, EVAL_KINDS_MAX = 40, EVAL_LEVELS = 10 };

/* Sums over questions; a mean is sum / n. */
struct tally {
    int64_t n;
    double any[EVAL_K_MAX], all[EVAL_K_MAX], frac[EVAL_K_MAX], ndcg, mrr;
};

/* Of the questions of one kind. */
struct kind_tally {
    str name;
    int64_t category;
    struct tally tally;
};

/* What the gate would do at one least score. */
struct silence_level {
    double least;
    int64_t own_silent;    /* questions of a conversation against its own pool: nothing goes in */
    int64_t own_missed;    /* … or nothing of what answers them */
    int64_t other_spoken;  /* the same against another conversation's pool: something goes in */
    int64_t other_renamed; /* … with the names of the people there put in their place */
};

struct eval_report {
    const struct eval_in *in;
    struct kind_tally kinds[EVAL_KINDS_MAX]; /* by category */
    size_t n_kinds;
    struct tally overall;
    int64_t conversations, turns, left_out;
    double ingest_seconds, embed_seconds;
    str vectors, without; /* what made those that took part; "" for none, and why */
    struct silence_level silence[EVAL_LEVELS], as_set; /* as_set: trigger phrases and all */
    int64_t other_asked, tokens, answers_with_tokens;
    int64_t p50_us, p99_us;
};

void eval_write(struct buf *out, const struct eval_report *r, bool as_json);

/* --- what all measures share: setup.c --- */

/* The conversations of the file, as many sessions of each as asked for, in an empty store. */
MUST_USE enum status eval_begin(struct ctx *ctx, struct engine *e, const struct eval_in *in,
                                struct mapped *file, struct exams *out);
/* Every message gets its vector before the first question, as the background would do it. r gets
 * what made them, and how long it took. */
MUST_USE enum status eval_embed(struct ctx *ctx, struct engine *e, struct eval_report *r);
/* The question with each person's name replaced by that of a person of the other conversation. */
str eval_renamed(struct arena *a, str text, const struct exam *from, const struct exam *to);
/* Whether both conversations are of people with names. */
bool eval_can_rename(const struct exam *from, const struct exam *to);
/* When a question is asked. */
int64_t eval_asked(const struct exam *c, const struct exam_question *q);
double eval_percent(double sum, double n);
/* Sorts the values. */
int64_t eval_percentile(int64_t *v, size_t n, int percent);
