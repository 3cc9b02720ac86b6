/* rerank.c - what a model's order does to what was found, and what happens without it. */
#include <math.h>

#include "engine/rerank/ask_order.h"
#include "engine/state/state.h"
#include "lib/engine.h"
#include "lib/model.h"

/* Longer ones are worse by words and better for the model. */
static const char *const texts[] = {"the dog barks at night", "the dog barks and sleeps a lot",
                                    "much more about something else and one dog"};

/* An engine that has the model as upstream "fake" and puts in order by it. */
#define WITH_MODEL(e, s, p, m)                                                                     \
    PLACE(p);                                                                                      \
    STORE(s, p);                                                                                   \
    struct settings settings = settings_for_test();                                                \
    MODEL(m);                                                                                      \
    model_be_upstream(m, &settings);                                                               \
    CLEANUP(engine_closep) struct engine *e = NULL;                                                \
    CHECK_OK(engine_open(ctx, s, &settings, &e));                                                  \
    change_runtime_settings(ctx, e,                                                                \
                            "{\"rerank_enabled\":true,\"rerank_model\":\"fake/tiny/order\"}");     \
    for (size_t i = 0; i < 3; i++) {                                                               \
        struct memory kept = {.content = str_of(texts[i]), .importance = 0.5};                     \
        CHECK_OK(engine_add(ctx, e, mine, &kept));                                                 \
    }

static struct recall_out look(struct ctx *ctx, struct engine *e, enum strategy strategy)
{
    struct recall_out out;
    struct recall_in in = {.pool = mine,
                           .question = S("dog barks at night"),
                           .by.strategy = strategy,
                           .gate = true,
                           .budget_tokens = -1};
    CHECK_OK(engine_recall(ctx, e, &in, &out));
    CHECK_INT(out.n, 3);
    return out;
}

static struct engine_status status_of(struct ctx *ctx, struct engine *e, bool probe)
{
    struct engine_status out = {0};
    rerank_status(ctx, e, probe, &out);
    return out;
}

TEST(the_models_order_stands)
{
    WITH_MODEL(e, s, p, m);
    struct recall_out out = look(ctx, e, STRATEGY_HYBRID);
    CHECK(out.steps.is_reranked && !holds(out.steps.fallback, "rerank"));
    CHECK_STR(out.v[0].memory.content, str_of(texts[2]));
    CHECK_STR(out.v[2].memory.content, str_of(texts[0]));
    CHECK(fabs(out.v[0].measured.ordered - 1) < 1e-9 &&
          fabs(out.v[1].measured.ordered - 0.5) < 1e-9);
    CHECK(out.v[0].score > out.v[1].score && out.v[0].score < 1);
    CHECK(status_of(ctx, e, false).rerank.available);
    CHECK(!look(ctx, e, STRATEGY_RECENT).steps.is_reranked);
    CHECK_INT(m->app.calls, 1);
    change_runtime_settings(ctx, e, "{\"rerank_enabled\":false}");
    CHECK(!look(ctx, e, STRATEGY_HYBRID).steps.is_reranked);
    CHECK_INT(m->app.calls, 1);
    CHECK(!status_of(ctx, e, true).rerank.enabled);
}

TEST(what_the_model_does_not_name_comes_behind_in_its_order)
{
    WITH_MODEL(e, s, p, m);
    change_runtime_settings(ctx, e, "{\"rerank_enabled\":false}");
    struct recall_out before = look(ctx, e, STRATEGY_HYBRID);
    change_runtime_settings(ctx, e, "{\"rerank_enabled\":true}");
    m->app.mode = NAMES_ONE;
    struct recall_out out = look(ctx, e, STRATEGY_HYBRID);
    CHECK(out.steps.is_reranked);
    CHECK_STR(out.v[0].memory.id, before.v[2].memory.id);
    CHECK_STR(out.v[1].memory.id, before.v[0].memory.id);
    CHECK_STR(out.v[2].memory.id, before.v[1].memory.id);
}

TEST(a_failure_leaves_the_order_and_is_seen)
{
    static const struct {
        enum model_mode mode;
        const char *says;
    } cases[] = {{REFUSES_KEY, "401"},
                 {BREAKS, "503"},
                 {SPEAKS_NO_JSON, "not JSON"},
                 {SAYS_NOTHING, "scores none"}};
    WITH_MODEL(e, s, p, m);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        m->app.mode = cases[i].mode;
        change_runtime_settings(ctx, e,
                                "{\"rerank_enabled\":true}"); /* a change tries anew at once */
        struct recall_out out = look(ctx, e, STRATEGY_HYBRID);
        CHECK(!out.steps.is_reranked && holds(out.steps.fallback, "rerank: "));
        CHECK(holds(out.steps.fallback, cases[i].says));
        CHECK_STR(out.v[0].memory.content, str_of(texts[0]));
        struct engine_stats stats;
        CHECK_OK(engine_stats(ctx, e, &stats));
        CHECK_INT(stats.rerank_failed, i + 1);
        struct engine_status status = status_of(ctx, e, false);
        CHECK(!status.rerank.available && holds(status.rerank.reason, "failed"));
    }
    /* The circuit is open for a moment. */
    int calls = m->app.calls;
    CHECK(holds(look(ctx, e, STRATEGY_HYBRID).steps.fallback, "circuit open"));
    CHECK_INT(m->app.calls, calls);
    change_runtime_settings(ctx, e, "{\"rerank_enabled\":true}");
    CHECK(holds(status_of(ctx, e, true).rerank.reason, "scores none"));
    m->app.mode = ANSWERS;
    change_runtime_settings(ctx, e, "{\"rerank_enabled\":true}");
    CHECK(status_of(ctx, e, true).rerank.available);
    CHECK(look(ctx, e, STRATEGY_HYBRID).steps.is_reranked);
}

TEST(a_slow_model_gets_half_of_the_time)
{
    WITH_MODEL(e, s, p, m);
    struct ctx hurried = {.deadline_us = clock_mono_us() + 2000000};
    struct recall_in in = {.pool = mine,
                           .question = S("dog barks at night"),
                           .gate = true,
                           .budget_tokens = -1};
    struct recall_out out;
    m->app.mode = STALLS;
    CHECK_OK(engine_recall(&hurried, e, &in, &out));
    CHECK(out.n == 3 && !out.steps.is_reranked && holds(out.steps.fallback, "rerank: "));
    ctx_free(&hurried);
}

TEST(a_model_without_a_server_is_said)
{
    static const struct {
        const char *change, *says;
    } cases[] = {
        {"{\"rerank_model\":\"cohere/rerank\"}", "no upstream"},
        {"{\"rerank_model\":\"order\"}", "UPSTREAM/MODEL"},
        {"{\"rerank_model\":null}", "no model"},
    };
    WITH_MODEL(e, s, p, m);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        change_runtime_settings(ctx, e, cases[i].change);
        struct recall_out out = look(ctx, e, STRATEGY_HYBRID);
        CHECK(!out.steps.is_reranked && holds(out.steps.fallback, cases[i].says));
        CHECK(holds(status_of(ctx, e, true).rerank.reason, cases[i].says));
    }
    CHECK_INT(m->app.calls, 0);
}
