/* ask_order.c - scores of texts for a question, by a model that the settings name. */
#include "engine/rerank/ask_order.h"

#include "base/clock.h"
#include "engine/state/state.h"
#include "llm/llm.h"

/*
 * A reranking model reads question and text together and so judges better than vectors, for the
 * price of a call while a chat waits: a call of a server, or time of a core here. It is asked only
 * where a setting names one; its failure never fails a recall. Below LEAST_MS no call is begun. The
 * status probes a server at most once in PROBE_US and else tells how the last call went.
 *
 * A model of this machine is loaded by the background. A call with a deadline does not wait for
 * that; the order stays until then.
 */

/* Of the time that is left at most half goes here, so that there is some for what follows. */
enum { LEAST_MS = 20, PROBE_US = 60 * 1000 * 1000 };

/* Who puts in order, of a "provider/model": a server, or (up is NULL) a model of this machine. An
 * upstream may be called local; then it is meant, as without models here. Gives why there is
 * nobody, or NULL. */
static const char *find_orderer(const struct engine *e, str setting, struct llm_order *out)
{
    const struct settings *s = e->settings;
    str rest = setting, provider = str_cut(&rest, '/');
    out->model = rest;
    if (!rest.n)
        return setting.n ? "the setting rerankProviderModel is not UPSTREAM/MODEL or local/MODEL"
                         : "no model is named by the setting rerankProviderModel";
    for (size_t i = 0; i < s->n_upstreams; i++)
        if (str_eq(s->upstreams[i].name, provider))
            out->up = &s->upstreams[i];
    return out->up || str_is(provider, "local")
               ? NULL
               : "no upstream has the name that rerankProviderModel begins with";
}

/* --- a model of this machine --- */

/* "" when the settings choose none. */
static str model_here(struct engine *e)
{
    struct llm_order o = {0};
    const struct settings *l = engine_runtime(e);
    bool is_here = l->rerank_enabled && !find_orderer(e, l->rerank_model, &o) && !o.up;
    return is_here ? o.model : S("");
}

bool rerank_is_here(struct engine *e)
{
    return model_here(e).n > 0;
}

enum status engine_load_reranker(struct ctx *ctx, struct engine *e)
{
    return reranker_load(ctx, e->reranker, model_here(e));
}

/* --- how it is --- */

static enum status ask_here(struct ctx *ctx, struct engine *e, const struct llm_order *o,
                            double *scores)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, o->timeout_ms);
    return ctx_pass(ctx, &own,
                    reranker_score(&own, e->reranker, o->model, o->query, o->documents, o->n,
                                   scores));
}

/* A model that is not loaded yet has not failed, so the circuit stays closed. */
static enum status call(struct ctx *ctx, struct engine *e, struct llm_order *o, double *scores)
{
    int64_t ticket, half, most = e->settings->rerank_timeout_ms;
    assert(o->n);
    /* Without a deadline nobody minds the second of a load: a command may have no background. */
    if (!o->up)
        TRY((ctx->deadline_us ? reranker_ready : reranker_load)(ctx, e->reranker, o->model));
    half = ctx_half_ms(ctx);
    o->timeout_ms = half && half < most ? half : most;
    if (ctx->deadline_us && o->timeout_ms < LEAST_MS)
        return fail(ctx, TIMED_OUT, "no time was left for reranking");
    TRY(dependency_begin(ctx, &e->rerank, &ticket));
    enum status s = o->up ? llm_rerank(ctx, o, scores) : ask_here(ctx, e, o, scores);
    dependency_end(ctx, &e->rerank, ticket, s);
    return s;
}

/* In a ctx of its own: its failure is not the caller's. *why is "" when it is well. */
static enum status ask(struct ctx *ctx, struct engine *e, struct llm_order *o, double *scores,
                       str *why)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    enum status s = call(&own, e, o, scores);
    *why = str_dup(&ctx->arena, str_of(own.why));
    return s;
}

/* How the last call went; of a model here also whether it is loaded. */
static enum status last_outcome(struct ctx *ctx, struct engine *e, str here, str *why)
{
    CLEANUP(ctx_free) struct ctx own = ctx_detached(ctx);
    enum status s = here.n ? reranker_ready(&own, e->reranker, here) : OK;
    *why = str_dup(&ctx->arena, str_of(own.why));
    return s == OK ? (enum status)atomic_load(&e->rerank.last) : s;
}

void rerank_status(struct ctx *ctx, struct engine *e, bool probe, struct engine_status *out)
{
    const struct settings *l = engine_runtime(e);
    str why = S(""), document = S("probe");
    double score;
    struct llm_order o = {.query = document, .documents = &document, .n = 1};
    const char *hindrance = find_orderer(e, l->rerank_model, &o);
    out->rerank.enabled = l->rerank_enabled;
    out->rerank.model = l->rerank_model;
    out->rerank.available = false;
    out->rerank.reason = str_of(l->rerank_enabled && hindrance ? hindrance : "");
    if (!l->rerank_enabled || hindrance)
        return;
    int64_t tried = e->rerank.tried_us;
    bool is_due = !tried || clock_mono_us() - tried >= PROBE_US;
    enum status s = probe && is_due ? ask(ctx, e, &o, &score, &why)
                                    : last_outcome(ctx, e, o.up ? S("") : o.model, &why);
    if (s != OK && !why.n) {
        str last = dependency_last(&ctx->arena, &e->rerank);
        why = str_printf(&ctx->arena, S_FMT "; %llu calls failed since the start", S_ARG(last),
                         (unsigned long long)e->rerank.failures);
    }
    out->rerank.available = s == OK;
    out->rerank.reason = why;
}

bool rerank_scores(struct ctx *ctx, struct engine *e, str query, const str *texts, size_t n,
                   double *scores, struct rerank_out *out)
{
    const struct settings *l = engine_runtime(e);
    struct llm_order o = {.query = query, .documents = texts, .n = n};
    *out = (struct rerank_out){.model = str_dup(&ctx->arena, l->rerank_model), .why = S("")};
    if (!l->rerank_enabled || !n)
        return false;
    const char *hindrance = find_orderer(e, out->model, &o);
    if (hindrance)
        out->why = str_of(hindrance);
    return !hindrance && ask(ctx, e, &o, scores, &out->why) == OK;
}
