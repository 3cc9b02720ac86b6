/* rerank.c - reorders a ranking by the model that the settings name. */
#include <assert.h>
#include <math.h>

#include "engine/hybrid/hybrid.h"
#include "engine/rerank/ask_order.h"

/* --- the order --- */

static void reorder_ranking(struct arena *a, struct ranking *v, const double *scores)
{
    assert(v->n);
    struct retrieved *all = NEW_N(a, struct retrieved, v->n);
    const struct reranked *judged = reranked_of(a, scores, v->n);
    for (size_t i = 0; i < v->n; i++) {
        all[i] = v->v[judged[i].was];
        if (!isnan(judged[i].score))
            all[i].score = judged[i].score;
    }
    v->v = all;
}

bool rerank(struct retrieval *r, struct ranking *v)
{
    struct arena *a = &r->ctx->arena;
    str why, *documents = NEW_N(a, str, v->n + 1);
    double *scores = NEW_N(a, double, v->n + 1);
    for (size_t i = 0; i < v->n; i++)
        documents[i] = v->v[i].memory.content;
    if (rerank_scores(r->ctx, r->e, r->query, documents, v->n, scores, &why)) {
        reorder_ranking(a, v, scores);
        return true;
    }
    if (why.n)
        retrieval_note(r, "rerank: " S_FMT, S_ARG(why));
    return false;
}
