/* llm.c - a model's answer and a model's order, and every way in which they fail to come. */
#include "llm/llm.h"

#include <math.h>

#include "unit/model.h"

static struct llm_ask ask_of(const struct model *m)
{
    return (struct llm_ask){.up = &m->up,
                            .model = S("tiny/chat"),
                            .system = S("Be brief."),
                            .user = S("What is \"it\"?\n"),
                            .max_tokens = 50,
                            .timeout_ms = 5000};
}

static bool says(const struct ctx *ctx, const char *what)
{
    return str_find(str_of(ctx->why), str_of(what)) < strlen(ctx->why);
}

TEST(a_question_gets_its_answer)
{
    struct model *m = model_open(ctx);
    struct llm_ask ask = ask_of(m);
    struct llm_answer answer;
    static const enum model_mode modes[] = {ANSWERS, ANSWERS_IN_PARTS, THINKS_ALOUD, IS_CUT};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        m->app.mode = modes[i];
        CHECK_OK(llm_ask(ctx, &ask, &answer));
        CHECK_STR(answer.text, S("said"));
        CHECK(answer.tokens_in == 12 && answer.tokens_out == 3);
        CHECK(answer.is_cut == (modes[i] == IS_CUT));
    }
    CHECK_STR(str_of(m->app.user), ask.user);
    ask.system = S("");
    CHECK_OK(llm_ask(ctx, &ask, &answer));
    model_close(m);
}

TEST(a_limit_goes_by_the_name_that_the_model_knows)
{
    struct model *m = model_open(ctx);
    struct llm_ask ask = ask_of(m);
    struct llm_answer answer;
    m->app.mode = WANTS_NEWER;
    CHECK_OK(llm_ask(ctx, &ask, &answer));
    CHECK_STR(answer.text, S("said"));
    CHECK_INT(m->app.calls, 2);
    CHECK_STR(str_of(ctx->why), S(""));
    model_close(m);
}

static const struct {
    enum model_mode mode;
    enum status status;
    const char *says;
} failures[] = {
    {REFUSES_KEY, NO_AUTH, "401: not today"}, {BREAKS, UPSTREAM, "503: not today"},
    {SPEAKS_NO_JSON, UPSTREAM, "no JSON"},    {SAYS_NOTHING, UPSTREAM, ""},
    {STALLS, TIMED_OUT, "in time"},
};

TEST(each_failure_of_an_answer_is_said)
{
    struct model *m = model_open(ctx);
    struct llm_ask ask = ask_of(m);
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        struct llm_answer answer = {.tokens_in = 77};
        m->app.mode = failures[i].mode;
        ask.timeout_ms = m->app.mode == STALLS ? 50 : 5000;
        CHECK_STATUS(llm_ask(ctx, &ask, &answer), failures[i].status);
        CHECK(says(ctx, failures[i].says) && ctx->why[0]);
        CHECK_INT(answer.tokens_in, 77);
        ctx_clear_failure(ctx);
    }
    m->app.mode = ANSWERS;
    ask.model = S("other");
    struct llm_answer answer;
    CHECK_STATUS(llm_ask(ctx, &ask, &answer), UPSTREAM);
    CHECK(says(ctx, "400"));
    model_close(m);
}

TEST(a_server_that_is_not_there_is_said)
{
    struct upstream up = {.url = S("http://127.0.0.1:1")};
    struct llm_ask ask = {.up = &up, .model = S("m"), .user = S("u"), .timeout_ms = 2000};
    struct llm_answer answer;
    CHECK_STATUS(llm_ask(ctx, &ask, &answer), UPSTREAM);
    CHECK(ctx->why[0]);
}

/* --- orders --- */

static const str documents[] = {S("short"), S("a longer one"), S("the longest \"one\" of all"),
                                S("")};

static struct llm_order order_of(const struct model *m)
{
    return (struct llm_order){.up = &m->up,
                              .model = S("tiny/order"),
                              .query = S("which?"),
                              .documents = documents,
                              .n = 4,
                              .timeout_ms = 5000};
}

TEST(documents_get_their_scores)
{
    struct model *m = model_open(ctx);
    struct llm_order order = order_of(m);
    double scores[4];
    CHECK_OK(llm_rerank(ctx, &order, scores));
    CHECK(fabs(scores[2] - 1) < 1e-9 && fabs(scores[1] - 0.5) < 1e-9);
    CHECK(fabs(scores[0] - 1.0 / 3) < 1e-9 && fabs(scores[3] - 0.25) < 1e-9);
    m->app.mode = NAMES_ONE;
    CHECK_OK(llm_rerank(ctx, &order, scores));
    CHECK(isnan(scores[0]) && isnan(scores[1]) && isnan(scores[2]));
    CHECK(fabs(scores[3] - 0.5) < 1e-9);
    m->app.mode = NAMES_ODD;
    CHECK_OK(llm_rerank(ctx, &order, scores));
    CHECK(isnan(scores[0]) && isnan(scores[2]) && isnan(scores[3]));
    CHECK(fabs(scores[1] - 0.4) < 1e-9);
    model_close(m);
}

TEST(each_failure_of_an_order_is_said)
{
    struct model *m = model_open(ctx);
    struct llm_order order = order_of(m);
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        double scores[4] = {7, 7, 7, 7};
        m->app.mode = failures[i].mode;
        order.timeout_ms = m->app.mode == STALLS ? 50 : 5000;
        CHECK_STATUS(llm_rerank(ctx, &order, scores), failures[i].status);
        CHECK(says(ctx, failures[i].says) && ctx->why[0]);
        CHECK(scores[0] > 6 && scores[3] > 6);
        ctx_clear_failure(ctx);
    }
    model_close(m);
}
