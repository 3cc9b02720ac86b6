/* engine.c - what is kept gets its vectors, whatever the source of vectors does meanwhile. */
#include <pthread.h>
#include <sys/stat.h>

#include "engine/state/state.h"
#include "engine/vectors/embed_queue.h"
#include "lib/clock.h"
#include "lib/embedder.h"
#include "lib/engine.h"
#include "lib/tiny_models.h"
#include "store/store.h"

/* An engine whose models are in a folder of the test, and a server that makes vectors. */
struct setting {
    struct ctx *ctx;
    struct place place;
    struct app app;
    struct server *server;
    struct settings settings;
    str folder;
    struct store *store;
    struct engine *e;
};

static void set(struct setting *s, const char *change)
{
    struct ctx *ctx = s->ctx;
    ctx_clear_failure(ctx);
    change_runtime_settings(ctx, s->e, change);
}

static const char use_static[] = "{\"embedding_source\":\"static\",\"embedding_static\":true}";
static const char use_transformer[] =
    "{\"embedding_source\":\"transformers\",\"embedding_transformers\":true}";
static const char use_remote[] =
    "{\"embedding_source\":\"remote\",\"embedding_model\":\"fake/tiny/model\"}";

static void model_folder_of(struct setting *s, const char *name, str *out)
{
    *out = str_printf(&s->ctx->arena, S_FMT "/%s", S_ARG(s->folder), name);
    mkdir(out->p, 0755);
}

/* change NULL: no source is chosen. */
static struct setting *set_up(struct ctx *ctx, const char *change)
{
    struct setting *s = NEW(&ctx->arena, struct setting);
    str folder;
    s->ctx = ctx;
    s->place = place_begin();
    s->app.dimensions = 8;
    s->server = embedder_open(ctx, &s->app);
    s->settings = embedder_settings(ctx, s->server);
    s->settings.recall_deadline_ms = 5000;
    s->settings.encoder = false;
    s->folder = folder_new(ctx);
    s->settings.model_dir = s->folder;
    s->settings.static_model = S("us/table");
    s->settings.transformers_model = S("us/bert");
    model_folder_of(s, "table", &folder);
    tiny_static(ctx, folder);
    model_folder_of(s, "bert", &folder);
    tiny_bert(ctx, folder);
    CHECK_OK(store_open(ctx, &(struct store_settings){.path = str_of(s->place.path)}, &s->store));
    CHECK_OK(engine_open(ctx, s->store, &s->settings, &s->e));
    if (change)
        set(s, change);
    return s;
}

static void tear_down(struct setting *s)
{
    s->app.let_go = true;
    engine_close(s->e);
    store_close(s->store);
    fake_server_close(s->server);
    place_end(&s->place);
}

static void add(struct setting *s, const char *content)
{
    struct ctx *ctx = s->ctx;
    struct memory m = {.content = str_of(content)};
    CHECK_OK(engine_add(ctx, s->e, mine, &m));
}

/* Until there is no more. */
static enum status embed_all(struct setting *s)
{
    bool more = true;
    enum status how = OK;
    ctx_clear_failure(s->ctx);
    while (more && how == OK)
        how = engine_embed_some(s->ctx, s->e, &more);
    s->ctx->first = NULL; /* of an engine that may be closed before the ctx is used again */
    return how;
}

static struct vector_stats counts(struct setting *s)
{
    struct ctx *ctx = s->ctx;
    struct vector_stats stats;
    ctx_clear_failure(ctx);
    CHECK_OK(store_vector_stats(ctx, s->store, NULL, &stats));
    return stats;
}

static struct engine_status status_of(struct setting *s)
{
    struct ctx *ctx = s->ctx;
    struct engine_status status;
    ctx_clear_failure(ctx);
    CHECK_OK(engine_status(ctx, s->e, mine, false, &status));
    return status;
}

static struct question_vector ask(struct setting *s, const char *text)
{
    struct question_vector q;
    vectors_of_question(s->ctx, s->e, mine, str_of(text), &q);
    CHECK(q.v || q.without.n);
    return q;
}

/* The same as a chat asks it, which has so many ms. */
static struct question_vector ask_within(struct setting *s, const char *text, int64_t ms)
{
    s->ctx->deadline_us = clock_mono_us() + ms * 1000;
    struct question_vector q = ask(s, text);
    s->ctx->deadline_us = 0;
    return q;
}

/* Tells a failing source to be well, and the engine to look at once. */
static void mend(struct setting *s)
{
    struct ctx *ctx = s->ctx;
    int64_t waiting;
    s->app.mode = SERVES;
    ctx_clear_failure(ctx);
    CHECK_OK(engine_reindex(ctx, s->e, false, &waiting));
}

static size_t nearest(struct setting *s, const struct question_vector *q)
{
    struct ctx *ctx = s->ctx;
    struct vector_hits hits;
    struct vector_find f = {.pool = mine,
                            .signature = q->signature,
                            .v = q->v,
                            .dimensions = q->dimensions,
                            .nearest = 5,
                            .messages = true,
                            .memories = true};
    CHECK_OK(store_search_vectors(ctx, s->store, &f, &hits));
    return hits.n;
}

/* Words find, whatever vectors do. */
static void words_still_find(struct setting *s)
{
    struct ctx *ctx = s->ctx;
    struct recall_in in = {.pool = mine, .question = S("Where sat the cat?")};
    struct recall_out out;
    ctx_clear_failure(ctx);
    CHECK_OK(engine_recall(ctx, s->e, &in, &out));
    CHECK(out.n >= 1);
    CHECK(status_of(s).words_ok);
}

/* --- all is well --- */

TEST(what_is_kept_gets_its_vector_and_is_found_by_it)
{
    static const char *const sources[] = {use_static, use_transformer, use_remote};
    static const size_t dimensions[] = {TINY_STATIC, TINY_HIDDEN, 8};
    for (int i = 0; i < 3; i++) {
        struct setting *s = set_up(ctx, sources[i]);
        add(s, "the cat sat");
        add(s, "the mat");
        CHECK_STR(status_of(s).vectors.reason, S("no vector of this source was made yet"));
        CHECK_OK(embed_all(s));
        CHECK(counts(s).rows == 2 && counts(s).waiting == 0);
        add(s, "cats"); /* what comes later waits for the next call */
        CHECK_INT(counts(s).waiting, 1);
        CHECK_OK(embed_all(s));
        struct question_vector q = ask(s, "the cat");
        CHECK(q.v && q.dimensions == dimensions[i] && !q.without.n);
        CHECK_INT(nearest(s, &q), 3);
        struct engine_status status = status_of(s);
        CHECK(status.embedding.available && status.vectors.available && status.vectors.rows == 3);
        CHECK_STR(str_of(status.vectors.backend), S("sqlite-vec"));
        CHECK_STR(status.embedding.reason, S(""));
        CHECK_STR(status.vectors.reason, S(""));
        tear_down(s);
    }
}

TEST(without_a_source_nothing_waits_and_the_status_says_why)
{
    struct setting *s = set_up(ctx, NULL);
    add(s, "the cat sat");
    CHECK_OK(embed_all(s));
    CHECK_INT(counts(s).waiting, 0);
    struct question_vector q = ask(s, "the cat");
    CHECK(!q.v && !q.signature.n && holds(q.without, "not enabled"));
    struct engine_status status = status_of(s);
    CHECK(!status.embedding_source && !status.embedding.available && !status.vectors.available);
    CHECK(holds(status.embedding.reason, "not enabled"));
    CHECK_STR(str_of(status.vectors.backend), S("none"));
    words_still_find(s);
    set(s, use_static); /* acts at once, on what was kept before, too */
    CHECK_OK(embed_all(s));
    CHECK_INT(counts(s).rows, 1);
    set(s, "{\"embedding_static\":false}"); /* and vectors stay as they are */
    add(s, "the mat");
    CHECK_OK(embed_all(s));
    CHECK(counts(s).rows == 1 && !ask(s, "the cat").v);
    set(s, use_static);
    CHECK_OK(embed_all(s));
    CHECK_INT(counts(s).rows, 2);
    tear_down(s);
}

TEST(vectors_that_are_switched_off_are_not_made)
{
    struct setting *s = set_up(ctx, use_static);
    s->settings.vectors = false;
    add(s, "the cat sat");
    CHECK_OK(embed_all(s));
    CHECK_INT(counts(s).waiting, 0);
    CHECK_STR(ask(s, "the cat").without, S("vectors are switched off"));
    CHECK_STR(status_of(s).embedding.reason, S("vectors are switched off"));
    tear_down(s);
}

TEST(another_source_or_precision_makes_all_anew)
{
    struct setting *s = set_up(ctx, use_static);
    struct vector_set now;
    add(s, "the cat sat");
    CHECK_OK(embed_all(s));
    set(s, use_transformer);
    CHECK(holds(ask(s, "the cat").without, "no vectors of this source yet"));
    CHECK_OK(embed_all(s));
    CHECK_OK(store_vector_set(ctx, s->store, &now));
    CHECK_STR(now.signature, S("transformers:bert:16"));
    CHECK(counts(s).rows == 1 && !now.is_int8);
    s->settings.vec_quantization = QUANTIZE_INT8;
    CHECK_OK(embed_all(s));
    CHECK_OK(store_vector_set(ctx, s->store, &now));
    struct question_vector q = ask(s, "the cat");
    CHECK(counts(s).rows == 1 && now.is_int8 && nearest(s, &q) == 1);
    tear_down(s);
}

TEST(what_was_just_added_is_found_at_once)
{
    struct setting *s = set_up(ctx, use_static);
    for (int i = 0; i < 30; i++)
        add(s, str_printf(&ctx->arena, "the cat sat %d", i).p);
    vectors_catch_up(ctx, s->e, mine, 10);
    CHECK(counts(s).rows == 10 && counts(s).waiting == 20);
    vectors_catch_up(ctx, s->e, other_user, 1000);
    CHECK_INT(counts(s).rows, 10);
    vectors_catch_up(ctx, s->e, mine, 0);
    CHECK_INT(counts(s).rows, 10);
    vectors_catch_up(ctx, s->e, mine, 1000);
    CHECK_INT(counts(s).rows, 30);
    tear_down(s);
}

TEST(a_question_of_unknown_words_has_no_vector)
{
    struct setting *s = set_up(ctx, use_remote);
    add(s, "the cat sat");
    CHECK_OK(embed_all(s));
    CHECK(holds(ask(s, "   ").without, "knows no word"));
    tear_down(s);
}

/* --- a model that cannot be used --- */

TEST(a_broken_model_is_told_and_words_still_find)
{
    struct setting *s = set_up(ctx, NULL);
    str folder;
    model_folder_of(s, "table", &folder);
    file_write(ctx, folder, "model.safetensors", S("nonsense"));
    add(s, "the cat sat on the mat");
    set(s, use_static);
    CHECK(embed_all(s) != OK);
    struct engine_status status = status_of(s);
    CHECK(!status.embedding.available && !status.vectors.available);
    CHECK(str_starts(status.embedding.reason, S("model_load_failed")));
    CHECK(
        holds(status.vectors.reason, "the embedding source failed: circuit open, not retried for"));
    CHECK_OK(embed_all(s)); /* the circuit is open */
    CHECK_INT(counts(s).rows, 0);
    CHECK(!ask(s, "the cat").v);
    words_still_find(s);
    tiny_static(ctx, folder);
    mend(s);
    CHECK_OK(embed_all(s));
    CHECK_INT(counts(s).rows, 1);
    CHECK(status_of(s).embedding.available && !status_of(s).vectors.reason.n);
    tear_down(s);
}

TEST(a_chat_does_not_wait_for_a_model_to_load)
{
    struct setting *s = set_up(ctx, use_static);
    add(s, "the cat sat");
    CHECK_OK(embed_all(s));
    CHECK(ask_within(s, "the cat", 5000).v);
    engine_close(s->e); /* as after a restart: the vectors are there, the model is not loaded */
    CHECK_OK(engine_open(ctx, s->store, &s->settings, &s->e));
    CHECK_STR(ask_within(s, "the cat", 5000).without, S("the model is not loaded yet"));
    CHECK_OK(embed_all(s)); /* there is nothing to do but to load it */
    CHECK(ask_within(s, "the cat", 5000).v);
    tear_down(s);
}

/* Loading takes as long as a chat has for its question, or longer where the processor is busy. */
TEST(the_encoder_is_loaded_before_the_first_question_where_something_is_kept)
{
    struct setting *s = set_up(ctx, NULL);
    s->settings.encoder = true;
    for (int kept = 0; kept < 2; kept++) {
        engine_close(s->e);
        CHECK_OK(engine_open(ctx, s->store, &s->settings, &s->e));
        CHECK_OK(embed_all(s));
        CHECK((s->e->vectors.warm != 0) == (kept > 0));
        add(s, "the cat sat");
        CHECK_OK(embed_all(s));
    }
    CHECK(ask_within(s, "the cat", 5000).v);
    tear_down(s);
}

/* --- a server that does not do its part --- */

TEST(a_dead_server_opens_the_circuit_and_costs_a_chat_nothing)
{
    struct setting *s = set_up(ctx, use_remote);
    add(s, "the cat sat on the mat");
    CHECK_OK(embed_all(s));
    CHECK(ask_within(s, "the cat", 5000).v);
    s->app.mode = BREAKS;
    CHECK(holds(ask_within(s, "a mat", 5000).without, "request_failed"));
    int calls = s->app.calls;
    CHECK(holds(ask_within(s, "a mat", 5000).without, "circuit open"));
    CHECK_INT(s->app.calls, calls);
    words_still_find(s);
    add(s, "the mat");
    CHECK(embed_all(s) != OK);
    calls = s->app.calls;
    CHECK_OK(embed_all(s));
    CHECK_INT(s->app.calls, calls);
    struct engine_status status = status_of(s);
    CHECK(!status.embedding.available && holds(status.embedding.reason, "500"));
    CHECK(status.vectors.waiting == 1 && status.vectors.rows == 1);
    CHECK(holds(status.vectors.reason, "not retried for"));
    mend(s);
    CHECK_OK(embed_all(s));
    CHECK(counts(s).rows == 2 && ask_within(s, "a mat", 5000).v);
    tear_down(s);
}

TEST(a_slow_server_gets_half_of_what_a_chat_has)
{
    struct setting *s = set_up(ctx, use_remote);
    add(s, "the cat sat on the mat");
    CHECK_OK(embed_all(s));
    s->app.mode = STALLS;
    int64_t began = clock_mono_us();
    CHECK(holds(ask_within(s, "a mat", 4000).without, "timeout"));
    int64_t took = clock_mono_us() - began;
    CHECK(took >= 1600000 && took < 3900000);
    CHECK(holds(ask_within(s, "a mat", 400).without, "circuit open"));
    words_still_find(s);
    tear_down(s);
}

/* At shutdown: the fixture stalls for ten seconds, and a question outside chats has no deadline. */
TEST(a_cancelled_question_does_not_wait_for_a_server_that_hangs)
{
    enum { PROMPT_US = 9000000 };
    struct setting *s = set_up(ctx, use_remote);
    atomic_bool is_ending = true;
    add(s, "the cat sat on the mat");
    CHECK_OK(embed_all(s));
    add(s, "the mat");
    s->app.mode = STALLS;
    ctx->is_cut = &is_ending;
    int64_t began = clock_mono_us();
    CHECK(!ask(s, "a mat").v);
    vectors_catch_up(ctx, s->e, mine, 1000);
    CHECK(clock_mono_us() - began < PROMPT_US);
    ctx->is_cut = NULL;
    struct embed_status status; /* a call that was given up is no failure of the server */
    embed_status(ctx, s->e->embed, &status);
    CHECK(status.available && !status.reason.n);
    tear_down(s);
}

TEST(vectors_of_another_length_are_told_and_not_kept)
{
    struct setting *s = set_up(ctx, use_remote);
    int64_t waiting;
    add(s, "the cat sat on the mat");
    CHECK_OK(embed_all(s));
    s->app.dimensions = 9;
    set(s, "{\"rerank_enabled\":false}"); /* what was learnt is forgotten, as after a restart */
    add(s, "the mat");
    CHECK_STATUS(embed_all(s), UPSTREAM);
    struct engine_status status = status_of(s);
    CHECK(status.vectors.rows == 1 && status.vectors.waiting == 1);
    CHECK(holds(status.vectors.reason, "another length"));
    struct question_vector q = ask(s, "a mat");
    CHECK(!q.v || nearest(s, &q) == 0);
    words_still_find(s);
    CHECK_OK(engine_reindex(ctx, s->e, true, &waiting));
    CHECK_INT(waiting, 2);
    CHECK_OK(embed_all(s));
    q = ask(s, "a mat");
    CHECK(counts(s).rows == 2 && q.dimensions == 9 && nearest(s, &q) == 2);
    tear_down(s);
}

TEST(a_text_that_is_refused_by_itself_is_given_up_in_the_end)
{
    struct setting *s = set_up(ctx, use_remote);
    s->app.mode = CHOKES;
    for (int i = 0; i < 10; i++)
        add(s, str_printf(&ctx->arena, i == 3 ? "poison %d" : "the cat %d", i).p);
    for (int tries = 1; tries <= 3; tries++) {
        CHECK_OK(embed_all(s));
        CHECK(counts(s).rows == 9 && counts(s).waiting == (tries < 3));
        CHECK_INT(counts(s).failed, tries == 3);
        int calls = s->app.calls;
        CHECK_OK(embed_all(s)); /* not due */
        CHECK_INT(s->app.calls, calls);
        fake_clock_advance(120000);
    }
    CHECK_STR(status_of(s).vectors.reason, S(""));
    mend(s); /* asked for, it is tried again */
    CHECK_OK(embed_all(s));
    CHECK(counts(s).rows == 10 && counts(s).failed == 0);
    tear_down(s);
}

/* --- several --- */

TEST(two_processes_with_different_sources_do_not_take_turns_for_ever)
{
    struct setting *s = set_up(ctx, NULL);
    struct settings one = s->settings, two = s->settings;
    one.embedding_static = true;
    two.embedding_transformers = true;
    struct engine *a, *b;
    bool more;
    CHECK_OK(engine_open(ctx, s->store, &one, &a));
    CHECK_OK(engine_open(ctx, s->store, &two, &b));
    add(s, "the cat sat on the mat");
    CHECK_OK(engine_embed_some(ctx, a, &more));
    CHECK_OK(engine_embed_some(ctx, b, &more));
    CHECK_STATUS(engine_embed_some(ctx, a, &more), CONFLICT);
    ctx_clear_failure(ctx);
    CHECK_OK(engine_embed_some(ctx, b, &more));
    struct engine_status status;
    CHECK_OK(engine_status(ctx, a, mine, false, &status));
    CHECK(holds(status.vectors.reason, "another process"));
    CHECK_INT(status.vectors.rows, 1);
    engine_close(a);
    engine_close(b);
    tear_down(s);
}

TEST(who_can_make_vectors_is_listed)
{
    struct setting *s = set_up(ctx, NULL);
    struct embed_providers all = engine_embedding_providers(ctx, s->e);
    const struct embed_provider *v = all.v;
    size_t n = all.n;
    CHECK_STR(v[0].name, S("openai"));
    CHECK(!v[0].has_key && v[0].n_models == 3);
    CHECK_STR(v[0].models[0].name, S("text-embedding-3-small"));
    CHECK_INT(v[0].models[0].dimensions, 1536);
    CHECK_STR(v[n - 3].name, S("fake"));
    CHECK(v[n - 3].has_key);
    CHECK_STR(v[n - 2].name, S("static"));
    CHECK_STR(v[n - 2].models[0].name, S("us/table"));
    CHECK_STR(v[n - 1].name, S("transformers"));
    set(s, "{\"embedding_model\":\"static/us/table\",\"embedding_static\":true}");
    CHECK_STR(str_of(status_of(s).embedding_source), S("static"));
    tear_down(s);
}

/* --- at once --- */

struct together {
    struct setting *s;
    atomic_int wrong;
    atomic_bool ending;
};

static void *embed_on(void *arg)
{
    struct together *t = arg;
    while (!t->ending) {
        struct ctx own = {0};
        bool more;
        enum status how = engine_embed_some(&own, t->s->e, &more);
        t->wrong += how != OK && how != CONFLICT;
        ctx_free(&own);
    }
    return NULL;
}

static void *ask_on(void *arg)
{
    struct together *t = arg;
    while (!t->ending) {
        struct ctx own = {.deadline_us = clock_mono_us() + 10000000};
        struct question_vector q;
        vectors_of_question(&own, t->s->e, mine, S("the cat"), &q);
        t->wrong += !q.v == !q.without.n;
        vectors_catch_up(&own, t->s->e, mine, 3);
        ctx_free(&own);
    }
    return NULL;
}

TEST(sources_change_while_vectors_are_made_and_asked_for)
{
    struct setting *s = set_up(ctx, use_static);
    struct together t = {.s = s};
    pthread_t threads[3];
    CHECK_INT(pthread_create(&threads[0], NULL, embed_on, &t), 0);
    CHECK_INT(pthread_create(&threads[1], NULL, ask_on, &t), 0);
    CHECK_INT(pthread_create(&threads[2], NULL, ask_on, &t), 0);
    for (int i = 0; i < 12; i++) {
        char text[40];
        snprintf(text, sizeof text, "the cat sat on mat %d", i);
        add(s, text);
        set(s, i % 3 == 0 ? use_transformer : i % 3 == 1 ? use_remote : use_static);
    }
    t.ending = true;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(t.wrong, 0);
    set(s, use_static);
    CHECK_OK(embed_all(s));
    struct question_vector q = ask(s, "the cat");
    CHECK(counts(s).rows == 12 && q.dimensions == TINY_STATIC && nearest(s, &q) == 5);
    check_healthy(ctx, s->store);
    tear_down(s);
}
