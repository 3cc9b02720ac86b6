/* prompt.h - counts of a measure of prompts, and its report. */
#pragma once

#include "ext/eval/eval.h"

enum { PROMPT_LEVELS = 16 };

/* The share of questions, in percent, that must be kept where silence is judged: a gate that speaks
 * less can always be had. */
#define KEPT_AT_LEAST 93.0

/* Sums over the questions of a kind, for eval_add. */
struct given_sum {
    double n, kept;                /* of these get anything */
    double any, frac;              /* some of the evidence is in the block; its share */
    double tokens;                 /* of a block */
    double worded, words;          /* the answer has words; the share that the block holds */
    double foreign_asked, foreign; /* of another conversation's pool: something goes in */
    double renamed_asked, renamed; /* … with the names of the people there */
};

struct prompt_report {
    int64_t conversations, messages, led, left_out;
    double threshold; /* as set */
    struct given_sum all;
    struct eval_kinds kinds;
    struct given_sum sums[EVAL_KINDS_MAX];
    struct given_sum curve[PROMPT_LEVELS];
    double levels[PROMPT_LEVELS];
    size_t n_levels;                /* 0: no curve */
    struct given_sum at_kept;       /* when asked for: where KEPT_AT_LEAST is just kept */
    double threshold_kept;          /* … and its threshold; 0: no threshold keeps that */
    int64_t tokens_p50, tokens_p95; /* of the blocks that are not empty */
    struct eval_report vectors;     /* only what it says of vectors */
};

void prompt_write(struct buf *out, const struct prompt_report *r, bool as_json);
