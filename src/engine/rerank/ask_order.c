/* ask_order.c - scores of texts for a question, by a model that the settings name. */
#include "engine/rerank/ask_order.h"

#include <math.h>

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

/* Who puts in order: a server, or a model of this machine. */
struct orderer {
    const struct upstream *up; /* NULL: here */
    str model;                 /* without the provider */
};

/* Of a "provider/model". An upstream may be called local; then it is meant, as without models here.
 * False: nobody, and *why says so. */
static bool find_orderer(const struct engine *e, str setting, struct orderer *out, const char **why)
{
    const struct settings *s = e->settings;
    str rest = setting, provider = str_cut(&rest, '/');
    *out = (struct orderer){.model = rest};
    *why = NULL;
    if (!rest.n)
        *why = setting.n ? "the setting rerankProviderModel is not UPSTREAM/MODEL or local/MODEL"
                         : "no model is named by the setting rerankProviderModel";
    for (size_t i = 0; i < s->n_upstreams && rest.n; i++)
        if (str_eq(s->upstreams[i].name, provider))
            out->up = &s->upstreams[i];
    if (rest.n && !out->up && !str_is(provider, "local"))
        *why = "no upstream has the name that rerankProviderModel begins with";
    return !*why;
}

/* At most rerank_timeout_ms, and half of what the request has left. */
static int64_t time_for(const struct ctx *ctx, const struct engine *e)
{
    int64_t most = e->settings->rerank_timeout_ms;
    int64_t half = ctx_half_ms(ctx);
    return half && half < most ? half : most;
}

/* --- a model of this machine --- */

/* "" when the settings choose none. */
static str model_here(const struct engine *e, const struct settings *l)
{
    struct orderer o;
    const char *why;
    bool is_here = l->rerank_enabled && find_orderer(e, l->rerank_model, &o, &why) && !o.up;
    return is_here ? o.model : S("");
}

bool rerank_is_here(struct engine *e)
{
    return model_here(e, engine_runtime(e)).n > 0;
}

enum status engine_load_reranker(struct ctx *ctx, struct engine *e)
{
    return reranker_load(ctx, e->reranker, model_here(e, engine_runtime(e)));
}

/* Without a deadline nobody minds the second of a load: a command may have no background. */
static enum status make_ready(struct ctx *ctx, struct engine *e, str model)
{
    return ctx->deadline_us ? reranker_ready(ctx, e->reranker, model)
                            : reranker_load(ctx, e->reranker, model);
}

/* --- how it is --- */

struct order_call {
    const struct orderer *by;
    str query;
    const str *texts;
    size_t n;
    double *scores;
};

static enum status ask_server(struct ctx *ctx, const struct order_call *c, int64_t timeout_ms)
{
    const struct llm_order order = {.up = c->by->up,
                                    .model = c->by->model,
                                    .query = c->query,
                                    .documents = c->texts,
                                    .n = c->n,
                                    .timeout_ms = timeout_ms};
    return llm_rerank(ctx, &order, c->scores);
}

static enum status ask_here(struct ctx *ctx, struct engine *e, const struct order_call *c,
                            int64_t timeout_ms)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, timeout_ms);
    return ctx_pass(ctx, &own,
                    reranker_score(&own, e->reranker, c->by->model, c->query, c->texts, c->n,
                                   c->scores));
}

/* A model that is not loaded yet has not failed, so the circuit stays closed. */
static enum status call(struct ctx *ctx, struct engine *e, const struct order_call *c)
{
    int64_t ticket, timeout_ms;
    assert(c->n);
    if (!c->by->up)
        TRY(make_ready(ctx, e, c->by->model));
    timeout_ms = time_for(ctx, e);
    if (ctx->deadline_us && timeout_ms < LEAST_MS)
        return fail(ctx, TIMED_OUT, "no time was left for reranking");
    TRY(dependency_begin(ctx, &e->rerank, &ticket));
    enum status s = c->by->up ? ask_server(ctx, c, timeout_ms) : ask_here(ctx, e, c, timeout_ms);
    dependency_end(ctx, &e->rerank, ticket, s);
    return s;
}

/* In a ctx of its own: its failure is not the caller's. *why is "" when it is well. */
static enum status ask(struct ctx *ctx, struct engine *e, str setting, struct order_call *c,
                       str *why)
{
    const char *hindrance;
    struct orderer by;
    struct ctx own = ctx_child(ctx, 0);
    c->by = &by;
    enum status s = find_orderer(e, setting, &by, &hindrance)
                        ? call(&own, e, c)
                        : fail(&own, UNSUPPORTED, "%s", hindrance);
    *why = str_dup(&ctx->arena, str_of(own.why));
    ctx_free(&own);
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
    struct orderer by;
    const char *hindrance;
    str why = S(""), document = S("probe");
    double score;
    struct order_call c = {.query = document, .texts = &document, .n = 1, .scores = &score};
    out->rerank.enabled = l->rerank_enabled;
    out->rerank.model = l->rerank_model;
    out->rerank.available = false;
    out->rerank.reason = S("");
    if (!l->rerank_enabled)
        return;
    if (!find_orderer(e, l->rerank_model, &by, &hindrance)) {
        out->rerank.reason = str_of(hindrance);
        return;
    }
    int64_t tried = e->rerank.tried_us;
    bool is_due = !tried || clock_mono_us() - tried >= PROBE_US;
    enum status s = probe && is_due ? ask(ctx, e, l->rerank_model, &c, &why)
                                    : last_outcome(ctx, e, by.up ? S("") : by.model, &why);
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
    struct order_call c = {.query = query, .texts = texts, .n = n, .scores = scores};
    *out = (struct rerank_out){.model = str_dup(&ctx->arena, l->rerank_model), .why = S("")};
    return l->rerank_enabled && n && ask(ctx, e, out->model, &c, &out->why) == OK;
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
