/* llm.c - a model's answer and a model's order, and every way in which they fail to come. */
#include "llm/llm.h"

#include <math.h>
#include <pthread.h>

#include "core/tokens.h"
#include "lib/clock.h"
#include "lib/model.h"

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
    MODEL(m);
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
}

TEST(an_anthropic_server_is_asked_in_its_own_words)
{
    MODEL(m);
    struct llm_ask ask = ask_of(m);
    struct llm_answer answer;
    m->up.dialect = S("anthropic");
    for (int is_cut = 0; is_cut < 2; is_cut++) {
        m->app.mode = is_cut ? IS_CUT : ANSWERS;
        CHECK_OK(llm_ask(ctx, &ask, &answer));
        CHECK_STR(answer.text, S("said"));
        CHECK(answer.tokens_in == 12 && answer.tokens_out == 3 && answer.is_cut == is_cut);
    }
    CHECK_STR(str_of(m->app.user), ask.user);
    ask.system = S("");
    CHECK_OK(llm_ask(ctx, &ask, &answer));
}

TEST(what_an_anthropic_server_refuses_is_said)
{
    static const struct scripted script[] = {
        {529, .body = "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
                      "\"message\":\"Overloaded\"}}"},
        {401, .body = "{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\","
                      "\"message\":\"invalid x-api-key\"}}"},
        {200, .body = "{\"type\":\"error\",\"error\":{\"type\":\"api_error\","
                      "\"message\":\"broken inside\"}}"},
        {0}};
    static const enum status statuses[] = {UPSTREAM, NO_AUTH, UPSTREAM};
    static const char *const words[] = {"529: Overloaded", "401: invalid", "broken inside"};
    MODEL(m);
    struct llm_ask ask = ask_of(m);
    struct llm_answer answer;
    m->up.dialect = S("anthropic");
    m->app.script = script;
    for (size_t i = 0; i < 3; i++) {
        CHECK_STATUS(llm_ask(ctx, &ask, &answer), statuses[i]);
        CHECK(says(ctx, words[i]));
        ctx_clear_failure(ctx);
    }
    CHECK_INT(m->app.calls, 3);
}

TEST(what_a_server_does_not_count_is_estimated)
{
    static const struct scripted script[] = {{.text = "What? </think> 12345",
                                              .counts_nothing = true},
                                             {0}};
    MODEL(m);
    struct llm_ask ask = ask_of(m);
    struct llm_answer answer;
    m->app.script = script;
    CHECK_OK(llm_ask(ctx, &ask, &answer));
    CHECK_STR(answer.text, S("12345"));
    CHECK_INT(answer.tokens_in, tokens_of(ask.system) + tokens_of(ask.user));
    CHECK_INT(answer.tokens_out, 5); /* the thought is paid for, too */
    static const struct scripted odd[] = {
        {.body = "{\"choices\":[{\"message\":{\"content\":\"12345\"}}],\"usage\":"
                 "{\"prompt_tokens\":9223372036854775807,\"completion_tokens\":-3}}"},
        {0}};
    m->app.script = odd;
    m->app.said = 0;
    CHECK_OK(llm_ask(ctx, &ask, &answer));
    CHECK_INT(answer.tokens_in, tokens_of(ask.system) + tokens_of(ask.user));
    CHECK_INT(answer.tokens_out, tokens_of(answer.text));
}

TEST(a_thought_in_front_of_an_answer_is_left_out)
{
    static const char *const rows[][2] = {{"<think>a\nb</think>\n\nc ", "c"},
                                          {"a\n</think>\n\nc", "c"},
                                          {"<think>cut off", ""},
                                          {"</think>", ""},
                                          {"", ""},
                                          {" c ", " c "},
                                          {"say <think> and </think> so",
                                           "say <think> and </think> so"},
                                          {"r\"</think>\\s*\" ends it",
                                           "r\"</think>\\s*\" ends it"},
                                          {"**</think>** ends it", "**</think>** ends it"},
                                          {"„</think>“ beendet es", "„</think>“ beendet es"},
                                          {"say \"yes\"</think>yes", "yes"},
                                          {"a</think>{\"b\":1}", "{\"b\":1}"},
                                          {"`</think>` ends it", "`</think>` ends it"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_STR(llm_without_thought(str_of(rows[i][0])), str_of(rows[i][1]));
}

TEST(a_limit_goes_by_the_name_that_the_model_knows)
{
    MODEL(m);
    struct llm_ask ask = ask_of(m);
    struct llm_answer answer;
    m->app.mode = WANTS_NEWER;
    CHECK_OK(llm_ask(ctx, &ask, &answer));
    CHECK_STR(answer.text, S("said"));
    CHECK_INT(m->app.calls, 2);
    CHECK_STR(str_of(ctx->why), S(""));
}

static const struct {
    enum model_mode mode;
    enum status status;
    const char *says;
} failures[] = {
    {REFUSES_KEY, NO_AUTH, "401: not today"}, {BREAKS, UPSTREAM, "503: not today"},
    {SPEAKS_NO_JSON, UPSTREAM, "not JSON"},   {SAYS_NOTHING, UPSTREAM, ""},
    {STALLS, TIMED_OUT, "in time"},
};

TEST(each_failure_of_an_answer_is_said)
{
    MODEL(m);
    struct llm_ask ask = ask_of(m);
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        struct llm_answer answer = {.tokens_in = 77};
        m->app.mode = failures[i].mode;
        ask.timeout_ms = m->app.mode == STALLS ? 50 : 5000;
        CHECK_STATUS(llm_ask(ctx, &ask, &answer), failures[i].status);
        CHECK(says(ctx, failures[i].says) && ctx->why[0]);
        /* A server bills an answer without text, too, and a prompt that nobody waits for. */
        CHECK_INT(answer.tokens_in, m->app.mode == SAYS_NOTHING ? 12
                                    : m->app.mode == STALLS
                                        ? tokens_of(ask.system) + tokens_of(ask.user)
                                        : 0);
        ctx_clear_failure(ctx);
    }
    m->app.mode = ANSWERS;
    ask.model = S("other");
    struct llm_answer answer;
    CHECK_STATUS(llm_ask(ctx, &ask, &answer), UPSTREAM);
    CHECK(says(ctx, "400"));
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
    MODEL(m);
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
}

TEST(each_failure_of_an_order_is_said)
{
    MODEL(m);
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
}

/* --- the core model --- */

TEST(the_core_model_is_found_by_its_name)
{
    struct settings s = {.upstreams = {{.name = S("x"), .url = S("http://x")},
                                       {.name = S(""), .url = S("http://any")}},
                         .n_upstreams = 1};
    const struct upstream *up = NULL;
    str model = S("");
    CHECK_STATUS(llm_core(ctx, &s, &up, &model), UNSUPPORTED);
    CHECK_STR(str_of(ctx->why), S("core_model_unset"));
    ctx_clear_failure(ctx);
    s.core_model = S("y/small");
    CHECK_STATUS(llm_core(ctx, &s, &up, &model), UNSUPPORTED);
    CHECK(says(ctx, "no upstream") && !up && !model.n);
    ctx_clear_failure(ctx);
    s.core_model = S("x/small/er");
    CHECK_OK(llm_core(ctx, &s, &up, &model));
    CHECK_STR(model, S("small/er"));
    CHECK(up == &s.upstreams[0]);
    s.n_upstreams = 2;
    s.core_model = S("y/small");
    CHECK_OK(llm_core(ctx, &s, &up, &model));
    CHECK_STR(model, S("y/small"));
    CHECK(up == &s.upstreams[1]);
}

TEST(an_hour_has_its_tokens)
{
    enum { MINUTE = 60000 };
    const int64_t noon = 1800000000000;
    struct llm_meter meter = {0};
    fake_clock_set(noon);
    CHECK(llm_meter_may(&meter, 100, 5000)); /* alone it may be greater */
    llm_meter_add(&meter, 60);
    CHECK(llm_meter_may(&meter, 100, 40) && !llm_meter_may(&meter, 100, 41));
    CHECK(llm_meter_may(&meter, 0, 1000000));
    fake_clock_set(noon + 30 * MINUTE);
    llm_meter_add(&meter, 40);
    llm_meter_add(&meter, -5);
    CHECK_INT(llm_meter_spent(&meter), 100);
    CHECK(!llm_meter_may(&meter, 100, 1));
    fake_clock_set(noon + 59 * MINUTE);
    CHECK_INT(llm_meter_spent(&meter), 100);
    fake_clock_set(noon + 60 * MINUTE);
    CHECK_INT(llm_meter_spent(&meter), 40);
    llm_meter_add(&meter, 1);
    CHECK_INT(llm_meter_spent(&meter), 41);
    fake_clock_set(noon + 95 * MINUTE);
    CHECK_INT(llm_meter_spent(&meter), 1);
    llm_meter_add(&meter, INT64_MAX);
    llm_meter_add(&meter, INT64_MAX);
    CHECK(llm_meter_spent(&meter) > 1000000000000 && !llm_meter_may(&meter, 1000000000000, 0));
    fake_clock_set(noon);
    CHECK(llm_meter_spent(&meter) == 0);
}

struct spender {
    struct llm_meter meter;
    pthread_t threads[4];
};

static void *spend(void *arg)
{
    for (int i = 0; i < 10000; i++)
        llm_meter_add(arg, 3);
    return NULL;
}

TEST(what_many_spend_at_once_is_counted)
{
    struct spender s = {0};
    fake_clock_set(1800000000000);
    for (size_t i = 0; i < 4; i++)
        CHECK(pthread_create(&s.threads[i], NULL, spend, &s.meter) == 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(s.threads[i], NULL);
    CHECK_INT(llm_meter_spent(&s.meter), 120000);
}
