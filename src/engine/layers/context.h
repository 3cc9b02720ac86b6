/* context.h - common parts of the planner's files: the gate's answer, the question to one layer. */
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

/* What of a layer answers a question. The caller sets what is seen, its age and the limits. */
struct recall_in plan_ask(struct engine *e, enum plan_scope scope, struct pool_ref pool,
                          str question);
