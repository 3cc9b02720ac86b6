/* eval.h - counts of an evaluation of recall, and its report. */
#pragma once

#include "engine/state/state.h"
#include "ext/eval/measure.h"
#include "ext/eval/readers.h"

enum { EVAL_KINDS_MAX = 40, EVAL_LEVELS = 10 };

/* What is counted of the first k that recall gives: some evidence is there, all of it, its share.
 */
enum rank_figure { RANK_ANY, RANK_ALL, RANK_FRAC, RANK_FIGURES };
extern const char *const rank_names[RANK_FIGURES]; /* any, all, frac */

/* Sums over questions; a mean is sum / n. eval_add takes them for an array. */
struct tally {
    double n, at[RANK_FIGURES][EVAL_K_MAX], ndcg, mrr;
};

/* The kinds of questions, in the order of their numbers, and those of one number as they came. */
struct eval_kinds {
    struct eval_kind {
        str name;
        int64_t category;
        size_t place; /* of its sums, which stand as the kinds came */
    } v[EVAL_KINDS_MAX];
    size_t n;
};
/* The place of the sums of a question's kind. The last kind takes all that there is no room for. */
size_t eval_kind_place(struct eval_kinds *kinds, const struct exam_question *q);

/* What the gate would do at one least score. */
struct silence_level {
    double least;
    int64_t own_silent; /* questions of a conversation against its own pool: nothing goes in */
    int64_t own_missed; /* … or nothing of what answers them */
    int64_t other[2];   /* the same against another conversation's pool: something goes in; and
                           with the names of the people there put in their place */
};

struct eval_report {
    const struct eval_in *in;
    struct eval_kinds kinds;
    struct tally tallies[EVAL_KINDS_MAX], overall;
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
double eval_percent(double sum, double n);
/* Adds to a struct of sums another one; both hold nothing but doubles. */
void eval_add(void *to, const void *from, size_t bytes);
/* Sorts the values. */
int64_t eval_percentile(int64_t *v, size_t n, int percent);

/*
 * The share, 0 to 1, of the answer's words that stand in the block's lines, compared by stem; stop
 * words do not count. Without an answer it is the share of the question's words that the evidence
 * says. Negative when there are no such words.
 */
double answer_words_share(struct arena *a, const struct exam *c, const struct exam_question *q,
                          str block);
