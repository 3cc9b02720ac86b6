/* prompt.h - counts of a measure of prompts, and its report. */
#pragma once

#include "ext/eval/eval.h"

enum { PROMPT_LEVELS = 16 };

/* The share of questions, in percent, that must be kept where silence is judged: a gate that speaks
 * less can always be had. */
#define KEPT_AT_LEAST 93.0

/* Sums over the questions of a kind. */
struct given_sum {
    int64_t n;
    int64_t kept; /* questions that get anything */
    double any;   /* some of the evidence is in the block */
    double frac;  /* the share of the evidence that is */
    int64_t tokens;
    int64_t worded; /* questions whose answer has words */
    double words;   /* the share of them that the block holds */
    int64_t foreign_asked,
        foreign; /* of another conversation's pool: asked, and something goes in */
    int64_t renamed_asked, renamed; /* … with the names of the people there */
};

struct given_kind {
    str name;
    int64_t category;
    struct given_sum sum;
};

struct prompt_report {
    int64_t conversations, messages, led, left_out;
    double threshold; /* as set */
    struct given_sum all;
    struct given_kind kinds[EVAL_KINDS_MAX];
    size_t n_kinds;
    struct given_sum curve[PROMPT_LEVELS];
    double levels[PROMPT_LEVELS];
    size_t n_levels;                /* 0: no curve */
    struct given_sum at_kept;       /* with a curve: where KEPT_AT_LEAST is just kept */
    double threshold_kept;          /* … and its threshold; 0: no threshold keeps that */
    int64_t tokens_p50, tokens_p95; /* of the blocks that are not empty */
    struct eval_report vectors;     /* only what it says of vectors */
};

/* The share of questions that get anything, in percent. */
double prompt_kept(const struct given_sum *s);

void prompt_write(struct buf *out, const struct prompt_report *r, bool as_json);
