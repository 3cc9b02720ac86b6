/* ask_order.c - how well each text answers a question, by a model that the settings name. */
#include "engine/rerank/ask_order.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/state/state.h"
#include "llm/llm.h"

/*
 * A reranking model reads question and text together and so judges better than vectors, for the
 * price of a call while a chat waits. It is asked only where a setting names one; its failure never
 * fails a recall. Below LEAST_MS no call is begun. The status probes it at most once in PROBE_US
 * and else tells how the last call went.
 */

/* Of the time that is left at most half goes here, so that there is some for what follows. */
enum { LEAST_MS = 20, PROBE_US = 60 * 1000 * 1000 };

/* The server of a "provider/model", or NULL with the reason in *why. */
static const struct upstream *server_of(const struct engine *e, const struct runtime_memory *l,
                                        str *model, const char **why)
{
    const struct settings *s = e->settings;
    str rest = l->rerank_model, provider = str_cut(&rest, '/');
    *model = rest;
    *why = NULL;
    if (!rest.n) {
        *why = l->rerank_model.n ? "the setting rerankProviderModel is not UPSTREAM/MODEL"
                                 : "no model is named by the setting rerankProviderModel";
        return NULL;
    }
    for (size_t i = 0; i < s->n_upstreams; i++)
        if (str_eq(s->upstreams[i].name, provider))
            return &s->upstreams[i];
    *why = "no upstream has the name that rerankProviderModel begins with";
    return NULL;
}

/* At most rerank_timeout_ms, and half of what the request has left. */
static int64_t time_for(const struct ctx *ctx, const struct engine *e)
{
    int64_t most = e->settings->rerank_timeout_ms;
    int64_t half = ctx_half_ms(ctx);
    return half && half < most ? half : most;
}

/* --- how it is --- */

static enum status call(struct ctx *ctx, struct engine *e, const struct llm_order *order,
                        double *scores)
{
    int64_t ticket;
    assert(order->up && order->n);
    if (ctx->deadline_us && order->timeout_ms < LEAST_MS)
        return fail(ctx, TIMED_OUT, "no time was left for reranking");
    TRY(dependency_begin(ctx, &e->rerank, &ticket));
    enum status s = llm_rerank(ctx, order, scores);
    dependency_end(ctx, &e->rerank, ticket, s);
    return s;
}

/* In a ctx of its own: its failure is not the caller's. *why is "" when it is well. */
static enum status ask(struct ctx *ctx, struct engine *e, struct llm_order *order, double *scores,
                       str *why)
{
    const char *hindrance;
    struct ctx own = ctx_child(ctx, 0);
    order->up = server_of(e, &engine_runtime(e)->memory, &order->model, &hindrance);
    order->timeout_ms = time_for(ctx, e);
    enum status s =
        order->up ? call(&own, e, order, scores) : fail(&own, UNSUPPORTED, "%s", hindrance);
    *why = str_dup(&ctx->arena, str_of(own.why));
    ctx_free(&own);
    return s;
}

void rerank_status(struct ctx *ctx, struct engine *e, bool probe, struct engine_status *out)
{
    const struct runtime_memory *l = &engine_runtime(e)->memory;
    const char *hindrance;
    str model, why = S(""), document = S("probe");
    struct llm_order order = {.query = document, .documents = &document, .n = 1};
    double score;
    out->rerank.enabled = l->rerank_enabled;
    out->rerank.model = l->rerank_model;
    out->rerank.available = false;
    out->rerank.reason = S("");
    if (!l->rerank_enabled)
        return;
    if (!server_of(e, l, &model, &hindrance)) {
        out->rerank.reason = str_of(hindrance);
        return;
    }
    int64_t tried = e->rerank.tried_us;
    bool is_due = !tried || clock_mono_us() - tried >= PROBE_US;
    enum status s = probe && is_due ? ask(ctx, e, &order, &score, &why)
                                    : (enum status)atomic_load(&e->rerank.last);
    if (s != OK && !why.n) {
        str last = dependency_last(&ctx->arena, &e->rerank);
        why = str_printf(&ctx->arena, S_FMT "; %llu calls failed since the start", S_ARG(last),
                         (unsigned long long)e->rerank.failures);
    }
    out->rerank.available = s == OK;
    out->rerank.reason = why;
}

/* False with *why "" when reranking is off. scores are the server's and of any range; NAN where the
 * server gave none. */
bool rerank_scores(struct ctx *ctx, struct engine *e, str query, const str *texts, size_t n,
                   double *scores, str *why)
{
    struct llm_order order = {.query = query, .documents = texts, .n = n};
    *why = S("");
    return engine_runtime(e)->memory.rerank_enabled && n && ask(ctx, e, &order, scores, why) == OK;
}

static int best_first(const void *a, const void *b)
{
    const struct reranked *x = a, *y = b;
    if (isnan(x->score) != isnan(y->score))
        return isnan(x->score) ? 1 : -1;
    if (!isnan(x->score) && x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x->was > y->was) - (x->was < y->was);
}

/* The order: best first, those without a score last, equals as they were. */
const struct reranked *reranked_of(struct arena *a, const double *scores, size_t n)
{
    struct reranked *v = NEW_N(a, struct reranked, n + 1);
    for (size_t i = 0; i < n; i++)
        v[i] = (struct reranked){scores[i], i};
    if (n)
        qsort(v, n, sizeof *v, best_first);
    return v;
}
