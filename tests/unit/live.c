/* live.c - settings that change while the server runs: what is checked, kept, seen, and what acts.
 */
#include <pthread.h>
#include <time.h>

#include "unit/fixture.h"

static const struct json *object(struct ctx *ctx, const char *text)
{
    struct json *root;
    ctx_clear_failure(ctx);
    CHECK_OK(json_parse(ctx, str_of(text), &root));
    return root;
}

static enum status set(struct ctx *ctx, struct engine *e, const char *text)
{
    return engine_change_memory_settings(ctx, e, object(ctx, text));
}

static enum status set_qdrant(struct ctx *ctx, struct engine *e, const char *text)
{
    return engine_change_qdrant_settings(ctx, e, object(ctx, text));
}

/* The twelve, as their endpoint shows them. */
static str shown(struct ctx *ctx, struct engine *e)
{
    struct buf b = buf_make(&ctx->arena, 1 << 12);
    struct json_out w = json_to(&b);
    fields_write(&w, live_memory_fields, &engine_live(e)->memory);
    return buf_str(&b);
}

static enum status set_osaurus(struct ctx *ctx, struct engine *e, const char *text)
{
    return engine_change_osaurus_settings(ctx, e, object(ctx, text));
}

/* --- what acts --- */

TEST(what_nobody_has_set_is_the_seeds_and_the_servers)
{
    ENGINE(e, s, p);
    CHECK_STR(shown(ctx, e),
              S("{\"enabled\":true,\"maxTokens\":2000,\"retentionDays\":30,\"strategy\":\"hybrid\","
                "\"skillsEnabled\":false,\"embeddingSource\":\"auto\","
                "\"embeddingProviderModel\":null,\"transformersEnabled\":false,"
                "\"staticEnabled\":false,\"rerankEnabled\":false,\"rerankProviderModel\":null,"
                "\"vectorStore\":\"auto\"}"));
    CHECK(!engine_live(e)->budget_set && !engine_live(e)->retention_set);
    struct settings own = settings;
    CLEANUP(engine_closep) struct engine *other = NULL;
    own.memory = S("off");
    own.embedding_static = S("on");
    own.embedding_source = S("remote");
    own.embedding_model = S("fake/tiny");
    own.qdrant_host = S("qdrant.example");
    CHECK_OK(engine_open(ctx, s, &own, &other));
    const struct live *l = engine_live(other);
    CHECK(!l->memory.enabled && l->memory.static_enabled && !engine_remembers(other));
    CHECK_STR(l->memory.embedding_source, S("remote"));
    CHECK_STR(l->memory.embedding_model, S("fake/tiny"));
    CHECK_STR(l->qdrant.host, S("qdrant.example"));
    CHECK_INT(l->qdrant.port, 6333);
}

TEST(a_change_names_some_members_and_leaves_the_others)
{
    ENGINE(e, s, p);
    const struct live *before = engine_live(e);
    CHECK_OK(set(ctx, e, "{\"maxTokens\":100,\"strategy\":\"recent\"}"));
    CHECK_OK(set(ctx, e, "{\"maxTokens\":300,\"enabled\":false}"));
    CHECK_OK(set(ctx, e, "{}"));
    const struct live *l = engine_live(e);
    CHECK(!l->memory.enabled && l->budget_set && !l->retention_set);
    CHECK_INT(l->memory.max_tokens, 300);
    CHECK_STR(l->memory.strategy, S("recent"));
    CHECK_INT(before->memory.max_tokens, 2000); /* as it was when its request began */
    struct settings own = settings;
    own.memory = S("on"); /* what was stored wins */
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
    CHECK_STR(engine_live(named)->memory.embedding_model, S("fake/tiny"));
    CHECK_OK(set(ctx, named, "{\"embeddingProviderModel\":null,\"rerankProviderModel\":\"a/b\"}"));
    CHECK_STR(engine_live(named)->memory.embedding_model, S(""));
    CHECK_STR(engine_live(named)->memory.rerank_model, S("a/b"));
    CHECK_OK(set(ctx, named, "{\"rerankProviderModel\":\"\"}"));
    CHECK_STR(engine_live(named)->memory.rerank_model, S(""));
}

TEST(a_wrong_change_is_named_and_changes_nothing)
{
    ENGINE(e, s, p);
    static const struct {
        const char *change, *field;
    } cases[] = {
        {"{\"maxTokens\":16001}", "maxTokens"},
        {"{\"maxTokens\":-1}", "maxTokens"},
        {"{\"maxTokens\":1.5}", "maxTokens"},
        {"{\"retentionDays\":0}", "retentionDays"},
        {"{\"retentionDays\":366}", "retentionDays"},
        {"{\"retentionDays\":\"30\"}", "retentionDays"},
        {"{\"strategy\":\"exact\"}", "strategy"},
        {"{\"enabled\":1}", "enabled"},
        {"{\"enabled\":null}", "enabled"},
        {"{\"embeddingSource\":\"none\"}", "embeddingSource"},
        {"{\"vectorStore\":\"faiss\"}", "vectorStore"},
        {"{\"strategy\":\"recent\",\"autoSummarize\":true}", "autoSummarize"},
        {"[]", ""},
    };
    str before = shown(ctx, e), stored;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_STATUS(set(ctx, e, cases[i].change), BAD_INPUT);
        CHECK_STR(str_of(ctx->field), str_of(cases[i].field));
        CHECK_STR(shown(ctx, e), before);
    }
    CHECK_STATUS(set_qdrant(ctx, e, "{\"port\":0}"), BAD_INPUT);
    CHECK_STATUS(set_qdrant(ctx, e, "{\"collection\":\"\"}"), BAD_INPUT);
    CHECK_STATUS(set_qdrant(ctx, e, "{\"apiKey\":null}"), BAD_INPUT);
    CHECK_STATUS(set_qdrant(ctx, e, "{\"vectorSize\":3}"), BAD_INPUT);
    CHECK_OK(store_setting(ctx, s, S("memory"), &stored));
    CHECK_STR(stored, S(""));
}

TEST(what_is_stored_out_of_range_is_brought_into_it)
{
    ENGINE(e, s, p);
    CHECK_OK(store_put_setting(
        ctx, s, S("memory"),
        S("{\"maxTokens\":99999,\"retentionDays\":0.4,\"strategy\":\"exact\",\"enabled\":\"no\","
          "\"staticEnabled\":true,\"vectorStore\":7,\"rerankProviderModel\":null,\"new\":[]}")));
    CHECK_OK(store_put_setting(ctx, s, S("qdrant"), S("{\"enabled\":true,\"port\":\"80\",")));
    CLEANUP(engine_closep) struct engine *next = NULL;
    CHECK_OK(engine_open(ctx, s, &settings, &next));
    const struct live *l = engine_live(next);
    CHECK_INT(l->memory.max_tokens, 16000);
    CHECK_INT(l->memory.retention_days, 1);
    CHECK(l->memory.enabled && l->memory.static_enabled && l->budget_set && l->retention_set);
    CHECK_STR(l->memory.strategy, S("hybrid"));
    CHECK_STR(l->memory.vector_store, S("auto"));
    CHECK(!l->qdrant.enabled && l->qdrant.port == 6333);
    CHECK_OK(set_qdrant(ctx, next, "{\"enabled\":true}"));
    CHECK(engine_live(next)->qdrant.enabled);
}

TEST(a_key_of_qdrant_stays_until_it_is_taken_away)
{
    ENGINE(e, s, p);
    CHECK_OK(set_qdrant(ctx, e, "{\"host\":\"a\",\"apiKey\":\"secret\",\"port\":1}"));
    CHECK_OK(set_qdrant(ctx, e, "{\"enabled\":true,\"quantization\":\"binary\"}"));
    const struct live_qdrant *q = &engine_live(e)->qdrant;
    CHECK_STR(q->api_key, S("secret"));
    CHECK_STR(q->quantization, S("binary"));
    CHECK(q->enabled && q->port == 1 && str_is(q->host, "a"));
    CHECK_OK(set_qdrant(ctx, e, "{\"apiKey\":\"\",\"host\":\"\"}"));
    CHECK_STR(engine_live(e)->qdrant.api_key, S(""));
    settings.qdrant_host = S("from.environment");
    settings.qdrant_api_key = S("its key");
    CLEANUP(engine_closep) struct engine *next = NULL;
    CHECK_OK(engine_open(ctx, s, &settings, &next)); /* what is empty is as never set */
    CHECK_STR(engine_live(next)->qdrant.host, S("from.environment"));
    CHECK_STR(engine_live(next)->qdrant.api_key, S("its key"));
    CHECK_INT(engine_live(next)->qdrant.port, 1);
}

/* --- several at once --- */

/* Looks until it is so, or too long. */
static bool comes_true(struct engine *e, bool (*is_so)(const struct live *l))
{
    for (int ms = 0; ms < 10000; ms++) {
        if (is_so(engine_live(e)))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return false;
}

static bool is_off(const struct live *l)
{
    return !l->memory.enabled;
}

TEST(another_process_sees_a_change_before_long)
{
    ENGINE(e, s, p);
    CLEANUP(store_closep) struct store *beside = NULL;
    CLEANUP(engine_closep) struct engine *other = NULL;
    CHECK_OK(store_open(ctx, &(struct store_settings){.path = str_of(p.path)}, &beside));
    CHECK_OK(engine_open(ctx, beside, &settings, &other));
    CHECK_OK(set(ctx, e, "{\"enabled\":false}"));
    CHECK(!engine_remembers(e));
    CHECK(comes_true(other, is_off));
    CHECK(!engine_remembers(other));
    CHECK_OK(set(ctx, other, "{\"maxTokens\":7}")); /* on top of what it has seen */
    CHECK(!engine_live(other)->memory.enabled);
    CHECK_INT(engine_live(other)->memory.max_tokens, 7);
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
                       engine_change_memory_settings(&own, c->e, root) == OK;
        *c->wrong += !is_well;
        ctx_free(&own);
    }
    return NULL;
}

static void *read_often(void *arg)
{
    struct changer *c = arg;
    while (!*c->ending) {
        const struct live *l = engine_live(c->e);
        *c->wrong += l->memory.max_tokens < 1 || l->memory.max_tokens > 2000 ||
                     l->memory.embedding_model.n > 20 || !str_is(l->memory.strategy, "hybrid");
    }
    return NULL;
}

TEST(changes_at_once_lose_nothing_and_readers_never_wait)
{
    ENGINE(e, s, p);
    atomic_bool ending = false;
    atomic_int wrong = 0;
    struct changer of[] = {
        {e, "{\"maxTokens\":%d}", 25, &ending, &wrong},
        {e, "{\"retentionDays\":%d}", 25, &ending, &wrong},
        {e, "{\"embeddingProviderModel\":\"m/%d\"}", 25, &ending, &wrong},
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
    const struct live *l = engine_live(e);
    CHECK_INT(wrong, 0);
    CHECK_INT(l->memory.max_tokens, 25);
    CHECK_INT(l->memory.retention_days, 25);
    CHECK_STR(l->memory.embedding_model, S("m/25"));
}

/* --- in a chat --- */

struct chat {
    struct ctx *ctx;
    struct engine *e;
    struct store *s;
    struct turn turn;
};

/* A conversation of one message, which is kept when it is no question; gives the block. */
static str chat(struct chat *c, const char *text)
{
    struct ctx *ctx = c->ctx;
    struct said said = {S("user"), str_of(text), S("")};
    c->turn = (struct turn){.pool = mine,
                            .session = S(""),
                            .said = &said,
                            .n_said = 1,
                            .mode = str_ends(said.text, S("?")) ? MODE_READONLY : MODE_FULL};
    engine_begin_turn(ctx, c->e, &c->turn);
    str block = c->turn.block;
    CHECK_OK(engine_end_turn(ctx, c->e, &c->turn, S("")));
    CHECK_OK(store_flush(ctx, c->s));
    return block;
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
    struct chat c = {ctx, e, s};
    chat(&c, "My dog is called Rex.");
    CHECK(chat(&c, "What is my dog's name?").n);
    int64_t before = messages(ctx, s);
    static const char *const off[] = {"{\"enabled\":false}", "{\"enabled\":true,\"maxTokens\":0}"};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(set(ctx, e, off[i]));
        CHECK_STR(chat(&c, "What is my dog's name?"), S(""));
        CHECK_STR(c.turn.receipt, S(""));
        CHECK_INT(c.turn.mode, MODE_OFF);
        CHECK_INT(messages(ctx, s), before);
    }
    CHECK_OK(set(ctx, e, "{\"maxTokens\":2000}"));
    CHECK(chat(&c, "What is my dog's name?").n);
}

TEST(switched_off_while_a_model_answers_nothing_is_kept)
{
    ENGINE(e, s, p);
    struct said said = {S("user"), S("My dog is called Rex."), S("")};
    struct turn t = {.pool = mine, .session = S(""), .said = &said, .n_said = 1};
    engine_begin_turn(ctx, e, &t);
    CHECK_OK(set(ctx, e, "{\"enabled\":false}"));
    CHECK_OK(engine_end_turn(ctx, e, &t, S("Nice name!")));
    CHECK_OK(store_flush(ctx, s));
    CHECK_INT(messages(ctx, s), 0);
}

TEST(the_budget_that_was_set_bounds_the_block)
{
    ENGINE(e, s, p);
    struct chat c = {ctx, e, s};
    for (int i = 0; i < 6; i++) {
        str text = str_printf(&ctx->arena, "My dog Rex likes the park number %d very much.", i);
        chat(&c, text.p);
    }
    const char *question = "What does my dog Rex like?";
    CHECK_OK(set(ctx, e, "{\"maxTokens\":100}"));
    chat(&c, question);
    int64_t little = c.turn.record.tokens;
    CHECK(little > 0 && little <= 100);
    CHECK_OK(set(ctx, e, "{\"maxTokens\":16000}"));
    chat(&c, question);
    CHECK(c.turn.record.tokens > little && c.turn.record.tokens <= RETRIEVE_BUDGET_MAX);
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
    struct chat c = {ctx, e, s};
    int64_t now = clock_ms(), day = 86400000;
    clock_pretend(now - 40 * day);
    chat(&c, "My dog is called Rex.");
    clock_pretend(0);
    CHECK(context(ctx, e, "What is my dog's name?").n);
    CHECK_OK(set(ctx, e, "{\"maxTokens\":10}"));
    CHECK_STR(context(ctx, e, "What is my dog's name?"), S(""));
    CHECK_OK(set(ctx, e, "{\"maxTokens\":2000,\"retentionDays\":30}"));
    CHECK_STR(context(ctx, e, "What is my dog's name?"), S(""));
    CHECK_OK(set(ctx, e, "{\"retentionDays\":60}"));
    CHECK(context(ctx, e, "What is my dog's name?").n);
}

TEST(what_is_older_than_was_set_is_not_found_in_a_chat)
{
    ENGINE(e, s, p);
    struct chat c = {ctx, e, s};
    int64_t now = clock_ms(), day = 86400000;
    clock_pretend(now - 40 * day);
    chat(&c, "My dog is called Rex.");
    clock_pretend(0);
    CHECK(chat(&c, "What is my dog's name?").n); /* 30 days are the seed's, and nobody set them */
    CHECK_OK(set(ctx, e, "{\"retentionDays\":30}"));
    CHECK_STR(chat(&c, "What is my dog's name?"), S(""));
    CHECK_OK(set(ctx, e, "{\"retentionDays\":60}"));
    CHECK(chat(&c, "What is my dog's name?").n);
}

/* --- Osaurus's ten knobs --- */

static str knobs(struct ctx *ctx, struct engine *e)
{
    struct buf b = buf_make(&ctx->arena, 1 << 12);
    struct json_out w = json_to(&b);
    fields_write(&w, live_osaurus_fields, &engine_live(e)->osaurus);
    return buf_str(&b);
}

TEST(the_knobs_are_the_seeds_and_follow_the_server)
{
    ENGINE(e, s, p);
    CHECK_STR(knobs(ctx, e),
              S("{\"enabled\":true,\"embeddingBackend\":\"mlx\","
                "\"embeddingModel\":\"nomic-embed-text-v1.5\",\"extractionMode\":\"sessionEnd\","
                "\"relevanceGateMode\":\"heuristic\",\"memoryBudgetTokens\":800,"
                "\"summaryDebounceSeconds\":60,\"consolidationIntervalHours\":24,"
                "\"salienceFloor\":0.2,\"episodeRetentionDays\":365}"));
    struct settings own = settings;
    CLEANUP(engine_closep) struct engine *other = NULL;
    own.memory = S("off");
    own.extraction_mode = S("manual");
    own.gate_mode = S("llm");
    own.embedding_backend = S("none");
    own.memory_budget = 400;
    own.summary_debounce_s = 10;
    own.consolidation_hours = 1;
    own.salience_floor = 0.5;
    own.episode_days = 0;
    CHECK_OK(engine_open(ctx, s, &own, &other));
    const struct live_osaurus *l = &engine_live(other)->osaurus;
    CHECK(!l->enabled && l->budget_tokens == 400 && l->debounce_s == 10 && l->episode_days == 0);
    CHECK(l->consolidation_h == 1 && l->salience_floor == 0.5);
    CHECK_STR(l->extraction_mode, S("manual"));
    CHECK_STR(l->gate_mode, S("llm"));
    CHECK_STR(l->embedding_backend, S("none"));
}

TEST(a_knob_acts_at_once_and_the_switch_is_the_memorys)
{
    ENGINE(e, s, p);
    CHECK_OK(set_osaurus(ctx, e, "{\"salienceFloor\":0.35,\"memoryBudgetTokens\":1200}"));
    CHECK_OK(set_osaurus(ctx, e, "{\"enabled\":false,\"extractionMode\":\"manual\"}"));
    const struct live *l = engine_live(e);
    CHECK(!l->memory.enabled && !l->osaurus.enabled && !engine_remembers(e));
    CHECK(l->osaurus.salience_floor == 0.35 && l->osaurus.budget_tokens == 1200);
    CHECK_OK(set(ctx, e, "{\"enabled\":true}"));
    CHECK(engine_live(e)->osaurus.enabled);
    CLEANUP(engine_closep) struct engine *next = NULL;
    CHECK_OK(engine_open(ctx, s, &settings, &next));
    CHECK_STR(knobs(ctx, next), knobs(ctx, e));
}

TEST(a_wrong_knob_changes_nothing)
{
    ENGINE(e, s, p);
    static const char *const wrong[] = {"{\"memoryBudgetTokens\":99}",
                                        "{\"summaryDebounceSeconds\":9}",
                                        "{\"salienceFloor\":1.1}",
                                        "{\"relevanceGateMode\":\"often\"}",
                                        "{\"episodeRetentionDays\":-1}",
                                        "{\"budget\":800}",
                                        "{\"enabled\":null}",
                                        "{\"enabled\":false,\"extractionMode\":\"never\"}"};
    str before = knobs(ctx, e);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_STATUS(set_osaurus(ctx, e, wrong[i]), BAD_INPUT);
        CHECK(ctx->field[0]);
    }
    ctx_clear_failure(ctx);
    CHECK_STR(knobs(ctx, e), before);
    CHECK_OK(store_put_setting(ctx, s, S("osaurus"),
                               S("{\"salienceFloor\":7,\"memoryBudgetTokens\":1,"
                                 "\"extractionMode\":\"odd\",\"summaryDebounceSeconds\":\"x\"}")));
    CLEANUP(engine_closep) struct engine *next = NULL;
    CHECK_OK(engine_open(ctx, s, &settings, &next));
    const struct live_osaurus *l = &engine_live(next)->osaurus;
    CHECK(l->salience_floor == 1 && l->budget_tokens == 100 && l->debounce_s == 60);
    CHECK_STR(l->extraction_mode, S("sessionEnd"));
}
