/* ask_order.h - how well each text answers a question, by a model that the settings name. */
#pragma once

#include "base/ctx.h"

struct engine;

/* scores[i] belongs to texts[i], NAN when the model did not name it. Within half of the time left.
 * False: the setting is off (*why is ""), or *why says what is wrong; rerank_status reports it. */
bool rerank_scores(struct ctx *ctx, struct engine *e, str query, const str *texts, size_t n,
                   double *scores, str *why);

struct reranked {
    double score; /* NAN: the model did not name it */
    size_t was;   /* its place before */
};
/* Best first, in the arena. Texts without a score come last, in their earlier order. */
const struct reranked *reranked_of(struct arena *a, const double *scores, size_t n);
