/* runtime.c - settings that change while the server runs: what is checked, kept, seen, and what
 * acts. */
#include <pthread.h>

#include "lib/clock.h"
#include "lib/talk.h"
#include "store/store.h"

static const struct json *object(struct ctx *ctx, const char *text)
{
    struct json *root;
    ctx_clear_failure(ctx);
    CHECK_OK(json_parse(ctx, str_of(text), &root));
    return root;
}

static enum status set(struct ctx *ctx, struct engine *e, const char *text)
{
    return engine_change_settings(ctx, e, object(ctx, text), NULL_EMPTIES);
}

/* All of them under their neutral names. */
static str shown(struct ctx *ctx, struct engine *e)
{
    struct buf b = buf_make(&ctx->arena, 1 << 12);
    struct json_out w = json_to(&b);
    fields_write(&w, live_fields, engine_runtime(e));
    return buf_str(&b);
}

/* --- what acts --- */

TEST(what_nobody_has_set_is_the_default_or_the_servers)
{
    ENGINE(e, s, p);
    CHECK_STR(shown(ctx, e),
              S("{\"memory\":true,\"budget_tokens\":800,\"coverage\":\"balanced\",\"embedding_"
                "source\":\"auto\","
                "\"embedding_model\":null,\"embedding_static\":false,"
                "\"embedding_transformers\":false,\"extraction_mode\":\"sessionEnd\","
                "\"summary_debounce_s\":60,\"gate_mode\":\"heuristic\",\"memory_budget\":800,"
                "\"embedding_backend\":\"mlx\",\"consolidation_hours\":24,"
                "\"salience_floor\":0.2,\"episode_days\":365,\"qdrant_host\":\"\","
                "\"qdrant_port\":6333,\"qdrant_api_key\":\"\","
                "\"qdrant_collection\":\"omniroute_memory\","
                "\"qdrant_embedding_model\":\"openai/text-embedding-3-small\","
                "\"retention_days\":30,\"strategy\":\"hybrid\",\"skills_enabled\":false,"
                "\"rerank_enabled\":false,\"rerank_model\":null,\"vector_store\":\"auto\","
                "\"qdrant_enabled\":false,\"qdrant_quantization\":\"none\","
                "\"agent_embedding_model\":\"nomic-embed-text-v1.5\"}"));
    CHECK(!setting_is_changed(engine_runtime(e), SETTING_budget_tokens));
    CHECK(!setting_is_changed(engine_runtime(e), SETTING_retention_days));
    struct settings own = settings;
    CLEANUP(engine_closep) struct engine *other = NULL;
    own.memory = false;
    own.embedding_static = true;
    own.embedding_source = EMBED_REMOTE;
    own.embedding_model = S("fake/tiny");
    own.qdrant_host = S("qdrant.example");
    CHECK_OK(engine_open(ctx, s, &own, &other));
    const struct settings *l = engine_runtime(other);
    CHECK(!l->memory && l->embedding_static && !engine_remembers(other));
    CHECK_INT(l->embedding_source, EMBED_REMOTE);
    CHECK_STR(l->embedding_model, S("fake/tiny"));
    CHECK_STR(l->qdrant_host, S("qdrant.example"));
    CHECK_INT(l->qdrant_port, 6333);
}

TEST(a_change_names_some_members_and_leaves_the_others)
{
    ENGINE(e, s, p);
    const struct settings *before = engine_runtime(e);
    CHECK_OK(set(ctx, e, "{\"budget_tokens\":100,\"strategy\":\"recent\"}"));
    CHECK_OK(set(ctx, e, "{\"budget_tokens\":300,\"memory\":false}"));
    CHECK_OK(set(ctx, e, "{}"));
    const struct settings *l = engine_runtime(e);
    CHECK(!l->memory && setting_is_changed(l, SETTING_budget_tokens) &&
          !setting_is_changed(l, SETTING_retention_days));
    CHECK_INT(l->budget_tokens, 300);
    CHECK_INT(l->strategy, STRATEGY_RECENT);
    CHECK_INT(before->budget_tokens, 800); /* as it was when its request began */
    struct settings own = settings;
    own.memory = true; /* what was stored wins */
    CLEANUP(engine_closep) struct engine *next = NULL;
    CHECK_OK(engine_open(ctx, s, &own, &next));
    CHECK_STR(shown(ctx, next), shown(ctx, e));
}

TEST(a_null_takes_a_model_away_also_one_that_a_flag_names)
{
    ENGINE(e, s, p);
    settings.embedding_model = S("fake/tiny");
    CLEANUP(engine_closep) struct engine *named = NULL;
    CHECK_OK(engine_open(ctx, s, &settings, &named));
    CHECK_STR(engine_runtime(named)->embedding_model, S("fake/tiny"));
    CHECK_OK(set(ctx, named, "{\"embedding_model\":null,\"rerank_model\":\"a/b\"}"));
    CHECK_STR(engine_runtime(named)->embedding_model, S(""));
    CHECK_STR(engine_runtime(named)->rerank_model, S("a/b"));
    CHECK_OK(set(ctx, named, "{\"rerank_model\":\"\"}"));
    CHECK_STR(engine_runtime(named)->rerank_model, S(""));
}

TEST(a_wrong_change_is_named_and_changes_nothing)
{
    ENGINE(e, s, p);
    static const struct {
        const char *change, *field;
    } cases[] = {
        {"{\"budget_tokens\":16001}", "budget_tokens"},
        {"{\"budget_tokens\":-1}", "budget_tokens"},
        {"{\"budget_tokens\":1.5}", "budget_tokens"},
        {"{\"retention_days\":0}", "retention_days"},
        {"{\"retention_days\":366}", "retention_days"},
        {"{\"retention_days\":\"30\"}", "retention_days"},
        {"{\"strategy\":\"exact\"}", "strategy"},
        {"{\"memory\":1}", "memory"},
        {"{\"memory\":null}", "memory"},
        {"{\"embedding_source\":\"none\"}", "embedding_source"},
        {"{\"vector_store\":\"faiss\"}", "vector_store"},
        {"{\"strategy\":\"recent\",\"autoSummarize\":true}", "autoSummarize"},
        {"{\"qdrant_port\":0}", "qdrant_port"},
        {"{\"qdrant_collection\":\"\"}", "qdrant_collection"},
        {"{\"qdrant_api_key\":null}", "qdrant_api_key"},
        {"{\"memory_budget\":99}", "memory_budget"},
        {"{\"summary_debounce_s\":9}", "summary_debounce_s"},
        {"{\"salience_floor\":1.1}", "salience_floor"},
        {"{\"gate_mode\":\"often\"}", "gate_mode"},
        {"{\"episode_days\":-1}", "episode_days"},
        {"{\"budget\":800}", "budget"},
        {"{\"memory\":false,\"extraction_mode\":\"never\"}", "extraction_mode"},
        {"[]", ""},
    };
    str before = shown(ctx, e), stored;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_STATUS(set(ctx, e, cases[i].change), BAD_INPUT);
        CHECK_STR(str_of(ctx->field), str_of(cases[i].field));
        CHECK_STR(shown(ctx, e), before);
    }
    CHECK_OK(store_setting(ctx, s, S("runtime"), &stored));
    CHECK_STR(stored, S(""));
}

TEST(what_is_stored_out_of_range_is_brought_into_it)
{
    ENGINE(e, s, p);
    CHECK_OK(store_put_setting(
        ctx, s, S("runtime"),
        S("{\"max_tokens\":99999,\"retention_days\":0.4,\"strategy\":\"exact\",\"enabled\":\"no\","
          "\"static_enabled\":true,\"vector_store\":7,\"rerank_model\":null,\"new\":[],"
          "\"salience_floor\":7,\"memory_budget\":1,\"extraction_mode\":\"odd\","
          "\"summary_debounce_s\":\"x\",\"qdrant_port\":\"80\"}")));
    CLEANUP(engine_closep) struct engine *next = NULL;
    CHECK_OK(engine_open(ctx, s, &settings, &next));
    const struct settings *l = engine_runtime(next);
    CHECK_INT(l->budget_tokens, 16000);
    CHECK_INT(l->retention_days, 1);
    CHECK(l->memory && l->embedding_static && setting_is_changed(l, SETTING_budget_tokens) &&
          setting_is_changed(l, SETTING_retention_days));
    CHECK_INT(l->strategy, STRATEGY_HYBRID);
    CHECK_INT(l->vector_store, VECTORS_AUTO);
    CHECK(!l->qdrant_enabled && l->qdrant_port == 6333);
    CHECK(l->salience_floor == 1 && l->memory_budget == 100);
    CHECK(l->summary_debounce_s == 60 && l->extraction_mode == DISTIL_AT_SESSION_END);
    CHECK_OK(set(ctx, next, "{\"qdrant_enabled\":true}"));
    CHECK(engine_runtime(next)->qdrant_enabled);
}

TEST(what_is_stored_and_is_no_json_is_as_never_set)
{
    ENGINE(e, s, p);
    CHECK_OK(store_put_setting(ctx, s, S("runtime"), S("{\"enabled\":false,\"max_tokens\":7,")));
    CLEANUP(engine_closep) struct engine *next = NULL;
    CHECK_OK(engine_open(ctx, s, &settings, &next));
    CHECK_STR(shown(ctx, next), shown(ctx, e));
}

TEST(a_key_of_qdrant_stays_until_it_is_taken_away)
{
    ENGINE(e, s, p);
    CHECK_OK(
        set(ctx, e, "{\"qdrant_host\":\"a\",\"qdrant_api_key\":\"secret\",\"qdrant_port\":1}"));
    CHECK_OK(set(ctx, e, "{\"qdrant_enabled\":true,\"qdrant_quantization\":\"binary\"}"));
    const struct settings *q = engine_runtime(e);
    CHECK_STR(q->qdrant_api_key, S("secret"));
    CHECK_INT(q->qdrant_quantization, QUANTIZE_BINARY);
    CHECK(q->qdrant_enabled && q->qdrant_port == 1 && str_is(q->qdrant_host, "a"));
    CHECK_OK(set(ctx, e, "{\"qdrant_api_key\":\"\",\"qdrant_host\":\"\"}"));
    CHECK_STR(engine_runtime(e)->qdrant_api_key, S(""));
    settings.qdrant_host = S("from.environment");
    settings.qdrant_api_key = S("its key");
    CLEANUP(engine_closep) struct engine *next = NULL;
    CHECK_OK(engine_open(ctx, s, &settings, &next)); /* what is empty is as never set */
    CHECK_STR(engine_runtime(next)->qdrant_host, S("from.environment"));
    CHECK_INT(engine_runtime(next)->qdrant_port, 1);
    CHECK_STR(engine_runtime(next)->qdrant_api_key, S("")); /* its key is for another port */
    settings.qdrant_port = 1;
    CLEANUP(engine_closep) struct engine *again = NULL;
    CHECK_OK(engine_open(ctx, s, &settings, &again));
    CHECK_STR(engine_runtime(again)->qdrant_api_key, S("its key"));
}

/* --- several at once --- */

TEST(another_process_sees_a_change_before_long)
{
    ENGINE(e, s, p);
    CLEANUP(store_closep) struct store *beside = NULL;
    CLEANUP(engine_closep) struct engine *other = NULL;
    CHECK_OK(store_open(ctx, &(struct store_settings){.path = str_of(p.path)}, &beside));
    CHECK_OK(engine_open(ctx, beside, &settings, &other));
    CHECK_OK(set(ctx, e, "{\"memory\":false}"));
    CHECK(!engine_remembers(e));
    WAIT_FOR(!engine_runtime(other)->memory);
    CHECK(!engine_remembers(other));
    CHECK_OK(set(ctx, other, "{\"budget_tokens\":7}")); /* on top of what it has seen */
    CHECK(!engine_runtime(other)->memory);
    CHECK_INT(engine_runtime(other)->budget_tokens, 7);
}

struct changer {
    struct engine *e;
    const char *format;
    int64_t last;
    atomic_bool *ending;
    atomic_int *wrong;
};

static void *change_often(void *arg)
{
    struct changer *c = arg;
    for (int64_t i = 1; i <= c->last; i++) {
        struct ctx own = {0};
        str text = str_printf(&own.arena, c->format, (int)i);
        struct json *root;
        bool is_well = json_parse(&own, text, &root) == OK &&
                       engine_change_settings(&own, c->e, root, NULL_EMPTIES) == OK;
        *c->wrong += !is_well;
        ctx_free(&own);
    }
    return NULL;
}

static void *read_often(void *arg)
{
    struct changer *c = arg;
    while (!*c->ending) {
        const struct settings *l = engine_runtime(c->e);
        *c->wrong += l->budget_tokens < 1 || l->budget_tokens > 2000 || l->embedding_model.n > 20 ||
                     l->strategy != STRATEGY_HYBRID;
    }
    return NULL;
}

TEST(changes_at_once_lose_nothing_and_readers_never_wait)
{
    ENGINE(e, s, p);
    atomic_bool ending = false;
    atomic_int wrong = 0;
    struct changer of[] = {
        {e, "{\"budget_tokens\":%d}", 25, &ending, &wrong},
        {e, "{\"retention_days\":%d}", 25, &ending, &wrong},
        {e, "{\"embedding_model\":\"m/%d\"}", 25, &ending, &wrong},
        {.e = e, .ending = &ending, .wrong = &wrong},
    };
    pthread_t threads[5];
    for (int i = 0; i < 5; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, i < 3 ? change_often : read_often,
                                 &of[i < 3 ? i : 3]),
                  0);
    for (int i = 0; i < 5; i++) {
        if (i == 3)
            ending = true;
        pthread_join(threads[i], NULL);
    }
    const struct settings *l = engine_runtime(e);
    CHECK_INT(wrong, 0);
    CHECK_INT(l->budget_tokens, 25);
    CHECK_INT(l->retention_days, 25);
    CHECK_STR(l->embedding_model, S("m/25"));
}

/* --- in a chat --- */

/* A conversation of one message, which is kept when it is no question; gives the block. */
static str chat(struct talk *t, const char *text)
{
    t->n = 0;
    t->mode = str_ends(str_of(text), S("?")) ? MODE_READONLY : MODE_FULL;
    return talk_ask(t, text, "");
}

static int64_t messages(struct ctx *ctx, struct store *s)
{
    struct store_stats stats;
    CHECK_OK(store_stats(ctx, s, &stats));
    return stats.messages;
}

TEST(switched_off_a_chat_is_given_nothing_and_leaves_nothing)
{
    ENGINE(e, s, p);
    struct talk c = talk_of(ctx, e, s);
    chat(&c, "My dog is called Rex.");
    CHECK(chat(&c, "What is my dog's name?").n);
    int64_t before = messages(ctx, s);
    static const char *const off[] = {"{\"memory\":false}",
                                      "{\"memory\":true,\"budget_tokens\":0}"};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(set(ctx, e, off[i]));
        CHECK_STR(chat(&c, "What is my dog's name?"), S(""));
        CHECK_STR(c.turn->out.receipt, S(""));
        CHECK_INT(c.turn->out.mode, MODE_OFF);
        CHECK_INT(messages(ctx, s), before);
    }
    CHECK_OK(set(ctx, e, "{\"budget_tokens\":2000}"));
    CHECK(chat(&c, "What is my dog's name?").n);
}

TEST(switched_off_while_a_model_answers_nothing_is_kept)
{
    ENGINE(e, s, p);
    struct said said = {S("user"), S("My dog is called Rex."), S("")};
    const struct turn_in in = {.pool = mine, .session = S(""), .said = &said, .n_said = 1};
    struct turn *t = engine_begin_turn(ctx, e, &in);
    CHECK_OK(set(ctx, e, "{\"memory\":false}"));
    CHECK_OK(engine_end_turn(ctx, e, t, S("Nice name!")));
    CHECK_OK(store_flush(ctx, s));
    CHECK_INT(messages(ctx, s), 0);
}

TEST(the_budget_that_was_set_bounds_the_block)
{
    ENGINE(e, s, p);
    struct talk c = talk_of(ctx, e, s);
    for (int i = 0; i < 6; i++) {
        str text = str_printf(&ctx->arena, "My dog Rex likes the park number %d very much.", i);
        chat(&c, text.p);
    }
    const char *question = "What does my dog Rex like?";
    CHECK_OK(set(ctx, e, "{\"budget_tokens\":100}"));
    chat(&c, question);
    int64_t little = c.turn->record.tokens;
    CHECK(little > 0 && little <= 100);
    CHECK_OK(set(ctx, e, "{\"budget_tokens\":16000}"));
    chat(&c, question);
    CHECK(c.turn->record.tokens > little && c.turn->record.tokens <= RECALL_BUDGET_MAX);
}

/* The block that a chat would be given, without one. */
static str context(struct ctx *ctx, struct engine *e, const char *question)
{
    struct recall_in in = {.pool = mine, .question = str_of(question)};
    struct recall_out out;
    str block;
    CHECK_OK(engine_context(ctx, e, &in, &out, &block));
    return block;
}

TEST(what_a_chat_would_be_given_follows_as_well)
{
    ENGINE(e, s, p);
    struct talk c = talk_of(ctx, e, s);
    fake_clock_advance(-40 * DAY_MS);
    chat(&c, "My dog is called Rex.");
    fake_clock_stop();
    CHECK(context(ctx, e, "What is my dog's name?").n);
    CHECK_OK(set(ctx, e, "{\"budget_tokens\":10}"));
    CHECK_STR(context(ctx, e, "What is my dog's name?"), S(""));
    CHECK_OK(set(ctx, e, "{\"budget_tokens\":2000,\"retention_days\":30}"));
    CHECK_STR(context(ctx, e, "What is my dog's name?"), S(""));
    CHECK_OK(set(ctx, e, "{\"retention_days\":60}"));
    CHECK(context(ctx, e, "What is my dog's name?").n);
}

TEST(what_is_older_than_was_set_is_not_found_in_a_chat)
{
    ENGINE(e, s, p);
    struct talk c = talk_of(ctx, e, s);
    fake_clock_advance(-40 * DAY_MS);
    chat(&c, "My dog is called Rex.");
    fake_clock_stop();
    CHECK(chat(&c, "What is my dog's name?").n); /* nobody has set the default of 30 days */
    CHECK_OK(set(ctx, e, "{\"retention_days\":30}"));
    CHECK_STR(chat(&c, "What is my dog's name?"), S(""));
    CHECK_OK(set(ctx, e, "{\"retention_days\":60}"));
    CHECK(chat(&c, "What is my dog's name?").n);
}

/* --- what is distilled, and what an agent's chat gets --- */

TEST(the_layers_follow_the_server)
{
    ENGINE(e, s, p);
    struct settings own = settings;
    CLEANUP(engine_closep) struct engine *other = NULL;
    own.extraction_mode = DISTIL_WHEN_ASKED;
    own.gate_mode = GATE_MODE_LLM;
    own.embedding_backend = BACKEND_NONE;
    own.memory_budget = 400;
    own.summary_debounce_s = 10;
    own.consolidation_hours = 1;
    own.salience_floor = 0.5;
    own.episode_days = 0;
    CHECK_OK(engine_open(ctx, s, &own, &other));
    const struct settings *l = engine_runtime(other);
    CHECK(l->memory_budget == 400 && l->summary_debounce_s == 10 && l->episode_days == 0);
    CHECK(l->consolidation_hours == 1 && l->salience_floor == 0.5);
    CHECK(l->extraction_mode == DISTIL_WHEN_ASKED && l->gate_mode == GATE_MODE_LLM);
    CHECK_INT(l->embedding_backend, BACKEND_NONE);
}

TEST(a_change_of_the_layers_acts_at_once)
{
    ENGINE(e, s, p);
    CHECK_OK(set(ctx, e, "{\"salience_floor\":0.35,\"memory_budget\":1200}"));
    CHECK_OK(set(ctx, e, "{\"memory\":false,\"extraction_mode\":\"manual\"}"));
    const struct settings *l = engine_runtime(e);
    CHECK(!l->memory && !engine_remembers(e));
    CHECK(l->salience_floor == 0.35 && l->memory_budget == 1200);
    CHECK_OK(set(ctx, e, "{\"memory\":true}"));
    CHECK(engine_runtime(e)->memory);
    CLEANUP(engine_closep) struct engine *next = NULL;
    CHECK_OK(engine_open(ctx, s, &settings, &next));
    CHECK_STR(shown(ctx, next), shown(ctx, e));
}
