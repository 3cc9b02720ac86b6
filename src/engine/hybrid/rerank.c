/* rerank.c - reorders a ranking by the model that the settings name. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "engine/hybrid/hybrid.h"
#include "engine/rerank/ask_order.h"

/* --- the order --- */

struct judged {
    double score; /* NAN: not named */
    size_t was;
};

static int best_first(const void *a, const void *b)
{
    const struct judged *x = a, *y = b;
    if (isnan(x->score) != isnan(y->score))
        return isnan(x->score) ? 1 : -1;
    if (!isnan(x->score) && x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x->was > y->was) - (x->was < y->was);
}

/* Texts that the model did not score come last, in their earlier order. */
static void reorder_ranking(struct arena *a, struct ranking *v, const double *scores)
{
    assert(v->n);
    struct judged *judged = NEW_N(a, struct judged, v->n);
    struct retrieved *all = NEW_N(a, struct retrieved, v->n);
    for (size_t i = 0; i < v->n; i++)
        judged[i] = (struct judged){scores[i], i};
    qsort(judged, v->n, sizeof *judged, best_first);
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
