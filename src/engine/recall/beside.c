/* beside.c - the servers beside recall: Qdrant's nearest memories, and a model that orders. */
#include "engine/recall/beside.h"

#include <stdlib.h>

#include "engine/rerank/ask_order.h"
#include "engine/vectors/qdrant_sync.h"

static void add_reason(struct finder *f, const char *what, str why)
{
    f->beside = str_printf(&f->ctx->arena, S_FMT "%s%s: " S_FMT, S_ARG(f->beside),
                           f->beside.n ? "; " : "", what, S_ARG(why));
}

/* --- Qdrant --- */

static enum status ask_qdrant(struct ctx *own, struct finder *f, size_t most,
                              struct near_beside *out, size_t *n)
{
    struct embedding by;
    struct engine_hit *hits;
    size_t found;
    TRY(mirror_search(own, f->e, f->in->pool, S(""), f->in->question, most, &by, &hits, &found));
    for (size_t i = 0; i < found && *n < most; i++) {
        struct memory m;
        enum status s = store_memory(own, f->e->store, f->in->pool, hits[i].id, &m);
        if (soft_if(own, s, NOT_FOUND))
            continue;
        TRY(s);
        if (hits[i].score > 0)
            out[(*n)++] = (struct near_beside){m.doc, (float)hits[i].score};
    }
    return OK;
}

struct near_beside *nearest_beside(struct finder *f, size_t most, size_t *n)
{
    struct near_beside *out = NEW_N(&f->ctx->arena, struct near_beside, most + 1);
    *n = 0;
    if (f->in->turns_only || f->in->words_only || !mirror_is_used(f->e))
        return out;
    CLEANUP(ctx_free) struct ctx own = ctx_child(f->ctx, ctx_half_ms(f->ctx));
    if (ask_qdrant(&own, f, most, out, n) != OK) {
        *n = 0;
        add_reason(f, "Qdrant", str_of(own.why));
    }
    return out;
}

/* --- the order --- */

static int greatest_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void put_in_order(struct finder *f, const double *scores)
{
    struct arena *a = &f->ctx->arena;
    const struct reranked *places = reranked_of(a, scores, f->n);
    double *sure = NEW_N(a, double, f->n);
    struct recalled *found = NEW_N(a, struct recalled, f->n);
    const struct candidate **of = NEW_N(a, const struct candidate *, f->n);
    for (size_t i = 0; i < f->n; i++)
        sure[i] = f->found[i].score;
    qsort(sure, f->n, sizeof *sure, greatest_first);
    for (size_t i = 0; i < f->n; i++) {
        found[i] = f->found[places[i].was];
        of[i] = f->of[places[i].was];
        found[i].score = sure[i];
    }
    f->found = found;
    f->of = of;
}

void order_beside(struct finder *f)
{
    struct arena *a = &f->ctx->arena;
    if (!f->n || !engine_runtime(f->e)->memory.rerank_enabled)
        return;
    str why, *texts = NEW_N(a, str, f->n);
    double *scores = NEW_N(a, double, f->n);
    for (size_t i = 0; i < f->n; i++)
        texts[i] = found_text(&f->found[i]);
    if (rerank_scores(f->ctx, f->e, f->in->question, texts, f->n, scores, &why))
        put_in_order(f, scores);
    else if (why.n)
        add_reason(f, "rerank", why);
}
