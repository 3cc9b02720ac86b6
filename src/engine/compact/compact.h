/* compact.h - old memories that may be replaced, and the summaries that replace them. */
#pragma once

#include "engine/recall/tombstones.h"
#include "engine/state/state.h"

/* What a run over several spaces goes through: the pool, of which only the name is set, or with the
 * space "" each of the user's. */
MUST_USE enum status run_pools(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                               struct pool_info **out, size_t *n);

/* A summary may have this many tokens and members: a longer one is found worse than its parts. */
enum { SUMMARY_TOKENS = 300, SUMMARY_MEMBERS = 64 };

/* Why a memory must stay as it is, one of skip_names; SKIP_COUNT: it may be replaced. */
enum condense_skip skip_of(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                           const struct tombstones *tombstones, const struct memory *m);

/* Members of a summary share type and category, of which it has one. */
bool are_alike(const struct memory *x, const struct memory *y);

/* Memories and the shorter text that says all that they say. */
struct condensed {
    const struct memory **v;
    size_t n;
    str text;
    str by, why; /* model that wrote it or "rule"; why not the model of the settings, or "" */
    int64_t before, after; /* tokens */
};

/* By rule: memories that repeat each other's sentences, or their own, joined without the
 * repetitions. No other sentence goes. Only groups that save tokens; a memory is in one at most. */
void condense_repeats(struct arena *a, const struct memory *v, size_t n, struct condensed **out,
                      size_t *n_out);

/* How a question to the core model ended. */
enum by_model {
    MODEL_WROTE,
    MODEL_FAILED, /* this time, or its summary saves nothing or lacks a name or number */
    MODEL_ABSENT  /* it need not be asked again in this run */
};
/* c->v, c->n and c->before are given; fills the rest, or c->why. */
enum by_model condense_by_model(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                struct condensed *c);
