/* outside_rankers.c - Asks servers beside recall: Qdrant's nearest memories, a model's order. */
#include "engine/recall/outside_rankers.h"

#include <math.h>

#include "engine/questions/snippet.h"
#include "engine/rerank/ask_order.h"
#include "engine/text/rank.h"
#include "engine/vectors/qdrant_sync.h"

enum {
    JUDGED_MAX = 600,   /* bytes of a text that a reranking model of this machine reads */
    WIDEN = 4,          /* times as many are read when too few of the nearest may be found */
    NEAREST_MAX = 10000 /* where widening ends */
};

static void add_reason(struct finder *f, const char *what, str why)
{
    f->how.beside = str_printf(&f->ctx->arena, S_FMT "%s%s: " S_FMT, S_ARG(f->how.beside),
                               f->how.beside.n ? "; " : "", what, S_ARG(why));
}

/* --- Qdrant --- */

/* As many as are wanted, or all that Qdrant has. The store decides which of them may be found, as
 * Qdrant follows it with a delay. */
static enum status ask_qdrant(struct ctx *own, struct finder *f, size_t most, struct embedding *by,
                              struct vector_hit *out, size_t *n)
{
    str session = f->in->scope == SCOPE_SESSION ? f->in->within : S("");
    for (size_t limit = most;; limit *= WIDEN) {
        struct qdrant_hit *hits;
        size_t found;
        TRY(mirror_search(own, f->e, f->in->pool, session, f->in->question, limit, by, &hits,
                          &found));
        *n = 0;
        for (size_t i = 0; i < found && *n < most; i++) {
            struct recalled r = {.is_memory = true}; /* without an id where it is gone */
            enum status s = store_memory(own, f->e->store, f->in->pool, hits[i].id, &r.memory);
            TRY(soft_or(own, s, NOT_FOUND));
            if (hits[i].score > 0 && find_wants(f, &r))
                out[(*n)++] = (struct vector_hit){r.memory.doc, (float)hits[i].score};
        }
        if (*n == most || found < limit || limit >= NEAREST_MAX)
            return OK;
    }
}

/* With the setting auto, Qdrant is not asked while its circuit is open or its settings are not
 * complete. */
static void say_why_unused(struct finder *f)
{
    const struct settings *r = engine_runtime(f->e);
    struct engine_status status = {0};
    if (!r->qdrant_enabled || r->vector_store != VECTORS_AUTO)
        return;
    mirror_status(f->ctx, f->e, false, &status);
    str why = status.qdrant.error;
    add_reason(f, "Qdrant", why.n ? why : S("it has failed a moment ago"));
}

struct vector_hit *nearest_beside(struct finder *f, size_t most, size_t *n)
{
    struct vector_hit *out = NEW_N(&f->ctx->arena, struct vector_hit, most + 1);
    struct embedding by = {0};
    *n = 0;
    if (f->in->only.turns || f->in->by.words_only)
        return out;
    if (!mirror_is_used(f->e)) {
        say_why_unused(f);
        return out;
    }
    store_view_rest(f->ctx, f->e->store);
    CLEANUP(ctx_free) struct ctx own = ctx_child(f->ctx, ctx_half_ms(f->ctx));
    if (ask_qdrant(&own, f, most, &by, out, n) != OK) {
        *n = 0;
        add_reason(f, "Qdrant", str_dup(&f->ctx->arena, str_of(own.why)));
    } else if (*n) {
        f->how.steps.source = str_of(embed_source_names[by.source]);
        f->how.steps.model = str_dup(&f->ctx->arena, by.model);
        f->how.steps.store = S("qdrant");
    } else {
        add_reason(f, "Qdrant", S("it found nothing that may be shown"));
    }
    return out;
}

/* A hit whose memory is gone or barred, even in part, is not shown: its payload is a copy. */
enum status engine_qdrant_search(struct ctx *ctx, struct engine *e, struct pool_ref pool, str query,
                                 size_t limit, struct qdrant_hit **out, size_t *n)
{
    const struct recall_in in = {.pool = pool,
                                 .scope = pool.space.n ? SCOPE_SPACE : SCOPE_USER,
                                 .question = query};
    struct qdrant_hit *hits;
    struct finder f;
    size_t found, shown = 0;
    TRY(mirror_search_now(ctx, e, pool, query, limit, &hits, &found));
    TRY(find_open(ctx, e, &in, &f));
    for (size_t i = 0; i < found; i++) {
        struct recalled r = {.is_memory = true};
        TRY(soft_or(ctx, store_memory(ctx, e->store, pool, hits[i].id, &r.memory), NOT_FOUND));
        size_t at = 0; /* its space */
        while (at < f.n_spaces && !str_eq(f.spaces[at].in->pool.space, r.memory.space))
            at++;
        if (at < f.n_spaces && find_shows(&f.spaces[at], &r) && !r.part.is_cut)
            hits[shown++] = hits[i];
    }
    *out = hits;
    *n = shown;
    return OK;
}

/* --- the order --- */

ORDER(greatest_first, double, (*x < *y) - (*x > *y));

void scores_by_place(struct arena *a, struct recalled *v, size_t n)
{
    double *sure = NEW_N(a, double, n + 1), *ranks = NEW_N(a, double, n + 1);
    for (size_t i = 0; i < n; i++) {
        sure[i] = v[i].score;
        ranks[i] = v[i].measured.rank;
    }
    qsort(sure, n, sizeof *sure, greatest_first);
    qsort(ranks, n, sizeof *ranks, greatest_first);
    for (size_t i = 0; i < n; i++) {
        v[i].score = sure[i];
        v[i].measured.rank = ranks[i];
    }
}

/* The model decides what goes in, recall how much (decisions/024). Texts without a score come last,
 * equals as they were. */
static void put_in_order(struct finder *f, const double *scores)
{
    struct arena *a = &f->ctx->arena;
    struct ranked *order = NEW_N(a, struct ranked, f->n);
    struct recalled *found = NEW_N(a, struct recalled, f->n);
    for (size_t i = 0; i < f->n; i++)
        order[i] = isnan(scores[i]) ? (struct ranked){-INFINITY, (int64_t)(f->n + i), i}
                                    : (struct ranked){scores[i], (int64_t)i, i};
    rank_sort(order, f->n);
    for (size_t i = 0; i < f->n; i++) {
        found[i] = f->found[order[i].at];
        found[i].measured.ordered = scores[order[i].at];
    }
    scores_by_place(a, found, f->n);
    f->found = found;
}

void order_beside(struct finder *f)
{
    struct arena *a = &f->ctx->arena;
    if (!f->n || !engine_runtime(f->e)->rerank_enabled)
        return;
    store_view_rest(f->ctx, f->e->store);
    bool is_here = rerank_is_here(f->e);
    struct rerank_out by;
    str *texts = NEW_N(a, str, f->n);
    double *scores = NEW_N(a, double, f->n);
    for (size_t i = 0; i < f->n; i++) {
        texts[i] = found_text(&f->found[i]);
        if (is_here) /* it takes time for every word, so it judges the part that answers */
            texts[i] = excerpt_of(a, texts[i], &f->asked.query, f->asked.weights, JUDGED_MAX);
    }
    f->how.steps.is_reranked =
        rerank_scores(f->ctx, f->e, f->in->question, texts, f->n, scores, &by);
    if (f->how.steps.is_reranked) {
        put_in_order(f, scores);
        f->how.steps.reranker = by.model;
        for (size_t i = 0; i < f->n; i++)
            f->how.steps.reranked += !isnan(scores[i]);
    } else if (by.why.n) {
        add_reason(f, "rerank", by.why);
    }
}
