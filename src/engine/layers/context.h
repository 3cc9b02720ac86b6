/* context.h - common parts of the planner's files: the gate's answer, the search of one layer. */
#pragma once

#include "engine/state/state.h"
#include "engine/text/memory_intent.h"

/* How many lines a section may have, by its budget in tokens. */
size_t plan_count(enum plan_scope scope, int64_t budget_tokens);

/* Whether a section is put into the chat, and why. */
struct opening {
    enum gate_section section;
    bool is_weak; /* nothing was asked for, so only what fits well goes in */
    double bar;   /* for what is found: a share of the setting gate_threshold */
    str reason;
};

/* By the mode of the runtime settings. Never fails: without names and models the phrases decide. */
struct opening plan_gate(struct ctx *ctx, struct engine *e, const struct plan_in *in);

/* What of a layer answers a question. */
struct layer_search {
    struct pool_ref pool;
    enum plan_scope scope;
    str query;
    const str *exclude;
    size_t n_exclude;
    str session;
    int64_t after; /* unix ms; 0: any age */
    size_t limit;
    bool in_chat; /* someone waits: no vectors are made before */
};
/* What the search of a layer asks of layer_search.c. */
struct recall_in plan_ask(struct engine *e, const struct layer_search *in);

/* --- literal_search.c --- */

/* What holds the query as it stands, the newest first. */
MUST_USE enum status plan_find_literal(struct ctx *ctx, struct engine *e,
                                       const struct layer_search *in, struct scope_out *out);
