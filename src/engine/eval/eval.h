/* eval.h - what an evaluation of recall counts, and its report. */
#pragma once

#include "engine/state/state.h"

enum { EVAL_K_MAX = 8, EVAL_CATEGORIES = 6, EVAL_LEVELS = 10 };

/* Sums over questions; a mean is sum / n. */
struct tally {
    int64_t n;
    double any[EVAL_K_MAX], all[EVAL_K_MAX], frac[EVAL_K_MAX], ndcg, mrr;
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
    struct tally by_category[EVAL_CATEGORIES], overall;
    int64_t conversations, turns, left_out;
    double ingest_seconds, embed_seconds;
    str vectors, without; /* what made those that took part; "" for none, and why */
    struct silence_level silence[EVAL_LEVELS], as_set; /* as_set: trigger phrases and all */
    int64_t other_asked, tokens, answers_with_tokens;
    int64_t p50_us, p99_us;
};

void eval_write(struct buf *out, const struct eval_report *r, bool as_json);
