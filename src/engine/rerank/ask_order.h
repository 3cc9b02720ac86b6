/* ask_order.h - scores of texts for a question, by a model that the settings name. */
#pragma once

#include "base/ctx.h"

struct engine;
struct engine_status;

struct rerank_out {
    str model; /* as the setting names it */
    str why;   /* why there are no scores; "": the setting is off */
};
/* scores[i] belongs to texts[i], NAN when the model did not name it or had no time for it. Within
 * half of the time left. False: there are none, and rerank_status reports why, too. */
bool rerank_scores(struct ctx *ctx, struct engine *e, str query, const str *texts, size_t n,
                   double *scores, struct rerank_out *out);

/* Whether the settings choose a model of this machine. */
bool rerank_is_here(struct engine *e);

/* Fills out->rerank: how the last call went, or (probe) how one goes now; a call may cost money, so
 * that a status that is asked again and again makes one a minute. */
void rerank_status(struct ctx *ctx, struct engine *e, bool probe, struct engine_status *out);
