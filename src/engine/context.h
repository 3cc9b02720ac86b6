/* context.h - a part of the engine's face: memory for an agent's chat: one section, one layer. */
#pragma once

#include "engine/recall.h"

enum plan_scope { PLAN_PINNED, PLAN_EPISODES, PLAN_TRANSCRIPT };
extern const char *const plan_scope_names[]; /* pinned, episodes, transcript */

struct plan_in {
    struct pool_ref pool;
    str question;
    int64_t budget_tokens; /* 100 to 4000 */
    struct recall_seen seen;
    bool is_preview; /* what is held back is not noted for review */
};
struct plan_out {
    str decision, reason; /* the section, and what fired */
    str block;            /* with its marks, or "" */
    struct recalled *v;   /* what it shows, in its order; each injected */
    size_t n;
    int64_t took_us;
};
/* By the gate mode and the embedding backend of the runtime settings. Never fails because a model
 * does not answer: with the mode llm it is given half of what is left, at most 1.5 s, and then
 * phrases decide, as the reason says. What is shown is not counted as used: see engine_shown. */
MUST_USE enum status engine_plan(struct ctx *ctx, struct engine *e, const struct plan_in *in,
                                 struct plan_out *out);

/* Counts what is given as used, except what each chat is given. Nobody waits, and it may fail. */
void engine_shown(struct ctx *ctx, struct engine *e, struct pool_ref pool, const struct recalled *v,
                  size_t n);

struct scope_in {
    struct pool_ref pool;
    enum plan_scope scope;
    str query;
    int64_t days; /* of transcript: how far back; 0: 365 */
    size_t limit;
    struct recall_seen seen;
};
struct scope_out {
    struct recalled *v; /* best first */
    size_t n;
    bool is_cut; /* nothing was found, and not all of the transcript was looked through in time */
};
/* One layer: words and vectors, then variety. A query without words or result: as literal text. */
MUST_USE enum status engine_search_scope(struct ctx *ctx, struct engine *e,
                                         const struct scope_in *in, struct scope_out *out);
