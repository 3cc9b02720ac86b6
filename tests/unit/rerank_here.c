/* rerank_here.c - the reranking model of this machine in recall: its order, its state, its lack. */
#include <math.h>

#include "base/clock.h"
#include "engine/rerank/ask_order.h"
#include "engine/state/state.h"
#include "lib/engine.h"
#include "lib/model.h"
#include "lib/tiny_cross.h"

static const char *const texts[] = {"the dog barks at night", "the dog barks and sleeps a lot",
                                    "much more about something else and one dog"};
enum { TEXTS = sizeof texts / sizeof *texts };

static void remember_texts(struct ctx *ctx, struct engine *e)
{
    for (size_t i = 0; i < TEXTS; i++) {
        struct memory kept = {.content = str_of(texts[i]), .importance = 0.5};
        CHECK_OK(engine_add(ctx, e, mine, &kept));
    }
}

/* An engine with a folder of models, and the setting that names tiny in it. */
#define WITH_FOLDER(e, s, p)                                                                       \
    PLACE(p);                                                                                      \
    STORE(s, p);                                                                                   \
    struct settings settings = settings_for_test();                                                \
    settings.model_dir = folder_new(ctx);                                                          \
    CLEANUP(engine_closep) struct engine *e = NULL;                                                \
    CHECK_OK(engine_open(ctx, s, &settings, &e));                                                  \
    change_runtime_settings(ctx, e, "{\"rerank_enabled\":true,\"rerank_model\":\"local/tiny\"}");  \
    remember_texts(ctx, e)

/* A recall as in a chat: with a deadline, unless ms is 0. */
static struct recall_out look(struct ctx *ctx, struct engine *e, int64_t ms)
{
    struct recall_out out;
    struct recall_in in = {.pool = mine,
                           .question = S("dog barks at night"),
                           .gate = true,
                           .budget_tokens = -1};
    ctx->deadline_us = ms ? clock_mono_us() + ms * 1000 : 0;
    CHECK_OK(engine_recall(ctx, e, &in, &out));
    ctx->deadline_us = 0;
    CHECK_INT(out.n, TEXTS);
    return out;
}

static struct engine_status status_of(struct ctx *ctx, struct engine *e)
{
    struct engine_status out = {0};
    rerank_status(ctx, e, false, &out);
    return out;
}

/* The scores that the model gives each of them, best first. */
static void must_be_in_its_order(struct ctx *ctx, struct engine *e, const struct recall_out *out)
{
    for (size_t i = 0; i < out->n; i++) {
        double score;
        CHECK_OK(reranker_score(ctx, e->reranker, S("tiny"), S("dog barks at night"),
                                &out->v[i].memory.content, 1, &score));
        CHECK(fabs(out->v[i].measured.ordered - score) < 1e-4);
        CHECK(!i || out->v[i - 1].measured.ordered > out->v[i].measured.ordered);
        CHECK(!i || out->v[i - 1].score >= out->v[i].score);
    }
}

TEST_NEEDS(a_chat_is_put_in_order_once_the_model_is_loaded, no_onednn)
{
    WITH_FOLDER(e, s, p);
    tiny_cross(ctx, settings.model_dir, "tiny");
    struct recall_out out = look(ctx, e, 5000);
    CHECK(!out.steps.is_reranked && !out.steps.reranker.n);
    CHECK(holds(out.steps.fallback, "rerank: the model is not loaded yet"));
    CHECK(holds(out.reason, "rerank: the model is not loaded yet"));
    CHECK_STR(out.v[0].memory.content, str_of(texts[0]));
    CHECK(!status_of(ctx, e).rerank.available);
    CHECK(holds(status_of(ctx, e).rerank.reason, "not loaded yet"));

    CHECK_OK(engine_load_reranker(ctx, e));
    CHECK(status_of(ctx, e).rerank.available);
    CHECK_STR(status_of(ctx, e).rerank.model, S("local/tiny"));
    out = look(ctx, e, 5000);
    CHECK(out.steps.is_reranked && !holds(out.steps.fallback, "rerank"));
    CHECK_STR(out.steps.reranker, S("local/tiny"));
    CHECK_INT(out.steps.reranked, TEXTS);
    CHECK(holds(out.reason, "3 lines reranked by local/tiny"));
    must_be_in_its_order(ctx, e, &out);
    CHECK_STR(out.v[0].memory.content, str_of(texts[1]));
}

TEST_NEEDS(a_command_without_a_deadline_loads_it, no_onednn)
{
    WITH_FOLDER(e, s, p);
    tiny_cross(ctx, settings.model_dir, "tiny");
    struct recall_out out = look(ctx, e, 0);
    CHECK(out.steps.is_reranked);
    must_be_in_its_order(ctx, e, &out);
}

TEST_NEEDS(a_missing_model_leaves_the_order_and_is_no_failed_call, no_onednn)
{
    WITH_FOLDER(e, s, p);
    struct engine_stats stats;
    CHECK_STATUS(engine_load_reranker(ctx, e), UNSUPPORTED);
    CHECK(holds(ctx_take_why(ctx), "tiny/config.json"));
    for (int i = 0; i < 3; i++) {
        struct recall_out out = look(ctx, e, 5000);
        CHECK(!out.steps.is_reranked && holds(out.steps.fallback, "tiny/config.json"));
        CHECK_STR(out.v[0].memory.content, str_of(texts[0]));
    }
    CHECK(holds(status_of(ctx, e).rerank.reason, "tiny/config.json"));
    CHECK_OK(engine_stats(ctx, e, &stats));
    CHECK_INT(stats.rerank_failed, 0);
    /* Once the files are there, the next change tries at once. */
    tiny_cross(ctx, settings.model_dir, "tiny");
    change_runtime_settings(ctx, e, "{\"rerank_enabled\":true}");
    CHECK_OK(engine_load_reranker(ctx, e));
    CHECK(look(ctx, e, 5000).steps.is_reranked);
}

TEST_NEEDS(a_model_that_is_not_chosen_any_more_is_dropped, no_onednn)
{
    WITH_FOLDER(e, s, p);
    tiny_cross(ctx, settings.model_dir, "tiny");
    CHECK_OK(engine_load_reranker(ctx, e));
    CHECK_OK(reranker_ready(ctx, e->reranker, S("tiny")));
    change_runtime_settings(ctx, e, "{\"rerank_enabled\":false}");
    CHECK_OK(engine_load_reranker(ctx, e));
    CHECK(!look(ctx, e, 5000).steps.is_reranked);
    CHECK_STATUS(reranker_ready(ctx, e->reranker, S("tiny")), UNSUPPORTED);
}

TEST_NEEDS(too_little_time_for_one_text_is_said, no_onednn)
{
    WITH_FOLDER(e, s, p);
    tiny_cross(ctx, settings.model_dir, "tiny");
    CHECK_OK(engine_load_reranker(ctx, e));
    struct ctx hurried = {.deadline_us = clock_mono_us() + 10000};
    struct rerank_out by;
    double score;
    str text = S("the dog");
    CHECK(!rerank_scores(&hurried, e, text, &text, 1, &score, &by));
    CHECK(holds(by.why, "no time was left"));
    CHECK_STR(by.model, S("local/tiny"));
    ctx_free(&hurried);
}

/* As it was before there were models of this machine. */
TEST(an_upstream_called_local_is_meant_first)
{
    PLACE(p);
    STORE(s, p);
    struct settings settings = settings_for_test();
    MODEL(m);
    model_be_upstream(m, &settings);
    settings.upstreams[0].name = S("local");
    CLEANUP(engine_closep) struct engine *e = NULL;
    CHECK_OK(engine_open(ctx, s, &settings, &e));
    change_runtime_settings(ctx, e,
                            "{\"rerank_enabled\":true,\"rerank_model\":\"local/tiny/order\"}");
    remember_texts(ctx, e);
    CHECK_OK(engine_load_reranker(ctx, e));
    struct recall_out out = look(ctx, e, 5000);
    CHECK(out.steps.is_reranked);
    CHECK_STR(out.steps.reranker, S("local/tiny/order"));
    CHECK_STR(out.v[0].memory.content, str_of(texts[2]));
    CHECK_INT(m->app.calls, 1);
}

/* The beginning, which the whole text would be judged by, is about other things. */
TEST_NEEDS(of_a_long_text_the_part_that_is_shown_is_judged, no_onednn)
{
    WITH_FOLDER(e, s, p);
    tiny_cross(ctx, settings.model_dir, "tiny");
    CHECK_OK(engine_load_reranker(ctx, e));
    struct buf b = buf_make(&ctx->arena, 1 << 16);
    for (int i = 0; i < 300; i++)
        buf_printf(&b, "a green door near paris and ");
    buf_printf(&b, "the dog barks at night");
    struct memory kept = {.content = buf_str(&b), .importance = 0.5};
    CHECK_OK(engine_add(ctx, e, mine, &kept));
    struct recall_in in = {.pool = mine,
                           .question = S("dog barks at night"),
                           .gate = true,
                           .budget_tokens = -1};
    struct recall_out out;
    size_t seen = 0;
    CHECK_OK(engine_recall(ctx, e, &in, &out));
    for (size_t i = 0; i < out.n; i++) {
        double shown, whole;
        if (out.v[i].memory.content.n < 1000)
            continue;
        CHECK_OK(
            reranker_score(ctx, e->reranker, S("tiny"), in.question, &out.v[i].text, 1, &shown));
        CHECK_OK(reranker_score(ctx, e->reranker, S("tiny"), in.question, &out.v[i].memory.content,
                                1, &whole));
        CHECK(fabs(out.v[i].measured.ordered - shown) < 1e-4 && fabs(shown - whole) > 1e-3);
        seen++;
    }
    CHECK_INT(seen, 1);
}
