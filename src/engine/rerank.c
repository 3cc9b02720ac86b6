/* rerank.c - what was found, put in order by a model that the settings name. */
#include <math.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/retrieve.h"
#include "llm/llm.h"

/* Of the time that is left at most half goes here, so that there is some for what follows. */
enum { LEAST_MS = 20, PROBE_US = 60 * 1000 * 1000 };

/* The server of a "provider/model", or NULL with the reason in *why. */
static const struct upstream *server_of(const struct engine *e, const struct live_memory *l,
                                        str *model, const char **why)
{
    const struct settings *s = e->settings;
    str rest = l->rerank_model, provider = str_cut(&rest, '/');
    *model = rest;
    *why = NULL;
    if (!rest.n) {
        *why = l->rerank_model.n ? "the setting rerankProviderModel is not PROVIDER/MODEL"
                                 : "no model is named by the setting rerankProviderModel";
        return NULL;
    }
    for (size_t i = 0; i < s->n_upstreams; i++)
        if (str_eq(s->upstreams[i].name, provider))
            return &s->upstreams[i];
    *why = "no upstream has the name that rerankProviderModel begins with";
    return NULL;
}

static int64_t time_for(const struct ctx *ctx, const struct engine *e)
{
    int64_t most = e->settings->rerank_timeout_ms;
    int64_t half = ctx->deadline_us ? (ctx->deadline_us - clock_mono_us()) / 2000 : most;
    return half < most ? half : most;
}

/* --- how it is --- */

/* A failure is logged when it begins, not at each retrieval. */
static void keep_result(struct engine *e, enum status s)
{
    int before = atomic_exchange(&e->rerank_last, (int)s);
    if (s != OK)
        count(&e->rerank_failed, 1);
    if (s != OK && before == OK)
        log_event(LOG_WARN, "rerank.failed", "status=%s", status_name(s));
    if (s == OK && before != OK)
        log_event(LOG_INFO, "rerank.recovered", "failed=%llu",
                  (unsigned long long)e->rerank_failed);
}

static enum status call(struct ctx *ctx, struct engine *e, const struct llm_order *order,
                        double *scores)
{
    int64_t ticket;
    if (ctx->deadline_us && order->timeout_ms < LEAST_MS)
        return fail(ctx, TIMED_OUT, "there is no time left for it");
    if (!breaker_begin(&e->reranks, &ticket))
        return fail(ctx, UPSTREAM, "the server has failed and is left alone for %lld s",
                    (long long)breaker_seconds(&e->reranks));
    e->rerank_asked = clock_mono_us();
    enum status s = llm_rerank(ctx, order, scores);
    breaker_end(&e->reranks, ticket, s == OK);
    keep_result(e, s);
    return s;
}

/* In a ctx of its own: its failure is not the caller's. *why is "" when it is well. */
static enum status ask(struct ctx *ctx, struct engine *e, struct llm_order *order, double *scores,
                       str *why)
{
    const char *hindrance;
    struct ctx own = {.deadline_us = ctx->deadline_us};
    order->up = server_of(e, &engine_live(e)->memory, &order->model, &hindrance);
    order->timeout_ms = time_for(ctx, e);
    enum status s =
        order->up ? call(&own, e, order, scores) : fail(&own, UNSUPPORTED, "%s", hindrance);
    *why = str_dup(&ctx->arena, str_of(own.why));
    ctx_free(&own);
    return s;
}

void rerank_status(struct ctx *ctx, struct engine *e, bool probe, struct engine_status *out)
{
    const struct live_memory *l = &engine_live(e)->memory;
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
    int64_t asked = e->rerank_asked;
    bool is_due = !asked || clock_mono_us() - asked >= PROBE_US;
    enum status s = probe && is_due ? ask(ctx, e, &order, &score, &why)
                                    : (enum status)atomic_load(&e->rerank_last);
    if (s != OK && !why.n)
        why = str_printf(&ctx->arena, "the last call failed (%s), %llu since the start",
                         s == NO_AUTH     ? "the server refuses the key"
                         : s == TIMED_OUT ? "it took too long"
                                          : "the server refuses it or is not there",
                         (unsigned long long)e->rerank_failed);
    out->rerank.available = s == OK;
    out->rerank.reason = why;
}

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

/* What the model did not name comes behind, in the order it had. */
static void reorder(struct arena *a, struct ranking *v, const double *scores)
{
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
    str why;
    if (!r->live->memory.rerank_enabled || !v->n)
        return false;
    str *documents = NEW_N(a, str, v->n);
    double *scores = NEW_N(a, double, v->n);
    for (size_t i = 0; i < v->n; i++)
        documents[i] = v->v[i].memory.content;
    struct llm_order order = {.query = r->query, .documents = documents, .n = v->n};
    if (ask(r->ctx, r->e, &order, scores, &why) != OK) {
        retrieval_note(r, "rerank: " S_FMT, S_ARG(why));
        return false;
    }
    reorder(a, v, scores);
    return true;
}
