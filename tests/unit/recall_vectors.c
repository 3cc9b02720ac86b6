/* recall_vectors.c - what vectors add to recall, what they must not add, and the other strategies.
 */
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>

#include "lib/engine.h"
#include "lib/tiny_models.h"
#include "store/store.h"

static const int64_t may = 1683554160000; /* 2023-05-08 */
#define DAY ((int64_t)86400000)

/* Four things, each with two names; a text is the mean of the names in it. */
static void make_table(struct ctx *ctx, str folder)
{
    static const char *const tokens[] = {"[PAD]", "[UNK]",      "[CLS]", "[SEP]", "car",
                                         "dog",   "automobile", "puppy", "sea",   "tax",
                                         "ocean", "levy",       NULL};
    enum { TOKENS = 12, SPECIAL = 4, THINGS = 4 };
    static const int thing_of[TOKENS - SPECIAL] = {0, 1, 0, 1, 2, 3, 2, 3};
    float v[TOKENS * THINGS] = {0};
    for (int i = SPECIAL; i < TOKENS; i++)
        v[i * THINGS + thing_of[i - SPECIAL]] = 1;
    struct floats table = {"embeddings", TOKENS, THINGS, v};
    file_write(ctx, folder, "model.safetensors", safetensors_of(ctx, &table, 1));
    file_write(ctx, folder, "tokenizer.json", tokenizer_of(ctx, tokens));
    file_write(ctx, folder, "config.json", S("{\"model_type\":\"model2vec\"}"));
}

static struct settings settings_with_table(struct ctx *ctx)
{
    struct settings s = settings_for_test();
    s.model_dir = folder_new(ctx);
    str folder = str_printf(&ctx->arena, S_FMT "/things", S_ARG(s.model_dir));
    CHECK_INT(mkdir(folder.p, 0700), 0);
    make_table(ctx, folder);
    s.static_model = S("things");
    s.embedding_source = EMBED_STATIC;
    s.embedding_static = true;
    return s;
}

#define WITH_TABLE(e, s, p) ENGINE_WITH(e, s, p, settings_with_table(ctx))

static void embed_all(struct ctx *ctx, struct engine *e)
{
    for (bool more = true; more;)
        CHECK_OK(engine_embed_some(ctx, e, &more));
}

static void remember(struct ctx *ctx, struct store *s, const char *id, const char *content,
                     int64_t created)
{
    struct memory m = fact(id, "", content);
    m.created = created;
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
}

static bool has(const struct recall_out *r, const char *id)
{
    for (size_t i = 0; i < r->n; i++)
        if (str_is(r->v[i].is_memory ? r->v[i].memory.id : r->v[i].message.id, id))
            return true;
    return false;
}

static double signal_of(const struct recalled *r, const char *name)
{
    for (size_t i = 0; signal_names[i]; i++)
        if (!strcmp(signal_names[i], name))
            return r->measured.signals[i];
    return NAN;
}

static const char *const garage[] = {"The automobile would not start this morning.",
                                     "Is it the battery?", "No, the fuel pump.", NULL};
static const char *const forms[] = {"My levy is due in April.", "Did you file it?",
                                    "Not yet, the forms are long.", NULL};
static const char *const beach[] = {"We drove to the ocean and swam.", "Cold?", "Very.", NULL};

static void say_all(struct ctx *ctx, struct store *s)
{
    write_session(ctx, s, mine, "garage", garage, may);
    write_session(ctx, s, mine, "forms", forms, may);
    write_session(ctx, s, mine, "beach", beach, may);
}

/* A chat waits for no vector of what is kept. */
static const struct recall_in anyhow = {.gate = false}, as_chat = {.gate = true};

TEST(what_shares_no_word_is_found_by_its_meaning)
{
    WITH_TABLE(e, s, p);
    say_all(ctx, s);
    /* "How is my car?" would be answered by words: what tells of a vehicle is looked for. */
    CHECK_INT(recall_question(ctx, e, "How is the car?", as_chat).n, 0);
    embed_all(ctx, e);
    struct recall_out r = recall_question(ctx, e, "How is the car?", anyhow);
    CHECK(r.n > 0);
    CHECK_STR(r.v[0].message.id, S("garage-m1"));
    CHECK(holds(r.v[0].why, "close in meaning (1.00)"));
    CHECK_STR(r.vectors, S("static:things:4"));
    CHECK_STR(r.without, S(""));
    for (size_t i = 0; i < r.n; i++)
        CHECK(r.v[i].score >= 0 && r.v[i].score <= 1);
}

TEST(vectors_of_what_is_forgotten_leave_the_cache)
{
    WITH_TABLE(e, s, p);
    struct engine_status status;
    struct forget what = {.pool = mine, .id = S("f1")};
    int64_t erased;
    remember(ctx, s, "f1", "my automobile", may);
    embed_all(ctx, e);
    CHECK_OK(engine_status(ctx, e, mine, false, &status));
    CHECK(status.embedding.size > 0);
    CHECK_OK(engine_forget(ctx, e, &what, &erased));
    CHECK_OK(engine_status(ctx, e, mine, false, &status));
    CHECK_INT(status.embedding.size, 0);
}

TEST(a_search_makes_up_for_what_waits)
{
    WITH_TABLE(e, s, p);
    say_all(ctx, s);
    struct recall_out r = recall_question(ctx, e, "How is my car?", anyhow);
    CHECK(r.n > 0 && r.vectors.n);
    CHECK_STR(r.v[0].message.id, S("garage-m1"));
}

TEST(words_and_meaning_add_up)
{
    WITH_TABLE(e, s, p);
    say_all(ctx, s);
    static const char *const both[] = {"The ocean was warm in May.", NULL};
    write_session(ctx, s, mine, "both", both, may);
    embed_all(ctx, e);
    struct recall_out r = recall_question(ctx, e, "Was the sea warm?", anyhow);
    CHECK(r.n > 1);
    CHECK_STR(r.v[0].message.id, S("both-m1"));
    CHECK(holds(r.v[0].why, "says warm; close in meaning"));
    CHECK(has(&r, "beach-m1"));
}

/* Two runs must agree in every score. */
static void check_same(const struct recall_out *a, const struct recall_out *b)
{
    CHECK_INT(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        CHECK_STR(a->v[i].message.id, b->v[i].message.id);
        CHECK(a->v[i].score == b->v[i].score);
    }
}

TEST(too_few_vectors_change_nothing)
{
    WITH_TABLE(e, s, p);
    write_session(ctx, s, mine, "garage", garage, may);
    embed_all(ctx, e);
    write_session(ctx, s, mine, "forms", forms, may);
    struct recall_out r = recall_question(ctx, e, "Did the car start this morning?", as_chat);
    CHECK(r.n > 0 && !r.vectors.n);
    CHECK(holds(r.without, "1 of 4"));
    struct settings plain = settings_for_test();
    CLEANUP(engine_closep) struct engine *other = NULL;
    CHECK_OK(engine_open(ctx, s, &plain, &other));
    struct recall_out words =
        recall_question(ctx, other, "Did the car start this morning?", as_chat);
    check_same(&r, &words);
    CHECK(!words.vectors.n);
}

TEST(a_model_that_cannot_be_loaded_leaves_the_words)
{
    PLACE(p);
    STORE(s, p);
    struct settings settings = settings_with_table(ctx);
    settings.static_model = S("gone");
    CLEANUP(engine_closep) struct engine *e = NULL;
    CHECK_OK(engine_open(ctx, s, &settings, &e));
    say_all(ctx, s);
    struct recall_out r = recall_question(ctx, e, "Did the automobile start?", anyhow);
    CHECK(r.n > 0 && !r.vectors.n && r.without.n > 0);
    CHECK_STR(r.v[0].message.id, S("garage-m1"));
}

TEST(vectors_open_no_other_pool)
{
    WITH_TABLE(e, s, p);
    write_session(ctx, s, other_user, "garage", garage, may);
    write_session(ctx, s, other_space, "beach", beach, may);
    write_session(ctx, s, mine, "forms", forms, may);
    embed_all(ctx, e);
    for (int i = STRATEGY_HYBRID; i <= STRATEGY_RECENT; i++) {
        struct recall_out r = recall_question(ctx, e, "car or sea?",
                                              (struct recall_in){.by.strategy = (enum strategy)i});
        for (size_t k = 0; k < r.n; k++)
            CHECK_STR(r.v[k].message.session, S("forms"));
    }
}

TEST(meaning_alone_orders_by_the_cosine)
{
    WITH_TABLE(e, s, p);
    say_all(ctx, s);
    static const char *const mixed[] = {"The puppy was sick in the automobile.", NULL};
    write_session(ctx, s, mine, "mixed", mixed, may);
    embed_all(ctx, e);
    struct recall_in in = {.by.strategy = STRATEGY_SEMANTIC, .limit = 5};
    struct recall_out r = recall_question(ctx, e, "car", in);
    CHECK(r.n >= 2 && r.vectors.n);
    CHECK_STR(r.v[0].message.id, S("garage-m1"));
    CHECK_STR(r.v[1].message.id, S("mixed-m1"));
    for (size_t i = 1; i < r.n; i++)
        CHECK(signal_of(&r.v[i - 1], "dense") >= signal_of(&r.v[i], "dense"));
}

TEST(meaning_alone_takes_the_words_when_there_are_no_vectors)
{
    WITH_TABLE(e, s, p);
    say_all(ctx, s);
    struct recall_in in = {.by.strategy = STRATEGY_SEMANTIC, .gate = true};
    struct recall_out r = recall_question(ctx, e, "Did the automobile start?", in);
    CHECK(r.n > 0 && !r.vectors.n && r.without.n > 0);
    CHECK_STR(r.v[0].message.id, S("garage-m1"));
}

TEST(the_newest_are_memories_whatever_is_asked)
{
    WITH_TABLE(e, s, p);
    say_all(ctx, s);
    remember(ctx, s, "old", "has a boat", may);
    remember(ctx, s, "new", "has a bike", may + DAY);
    struct recall_in in = {.by.strategy = STRATEGY_RECENT, .gate = true};
    static const char *const questions[] = {"hi", "Did the automobile start?", "Who am I?"};
    for (size_t i = 0; i < 3; i++) {
        struct recall_out r = recall_question(ctx, e, questions[i], in);
        CHECK_INT(r.n, 2);
        CHECK_STR(r.v[0].memory.id, S("new"));
        CHECK_STR(r.v[0].why, S("newest"));
        CHECK(r.v[0].score == 1 && r.v[0].state == LINE_INJECTED && r.v[1].state == LINE_INJECTED);
        CHECK_STR(r.decision, S("newest"));
    }
    in.limit = 1;
    CHECK_INT(recall_question(ctx, e, "hi", in).n, 1);
    in.only.turns = true;
    CHECK_INT(recall_question(ctx, e, "hi", in).n, 0);
}

TEST(nothing_older_than_asked_is_found)
{
    WITH_TABLE(e, s, p);
    write_session(ctx, s, mine, "garage", garage, may);
    remember(ctx, s, "old", "the dog is called Rex", may);
    write_session(ctx, s, mine, "late", garage, may + 2 * DAY);
    remember(ctx, s, "new", "the dog is five", may + 2 * DAY);
    embed_all(ctx, e);
    for (int i = STRATEGY_HYBRID; i <= STRATEGY_RECENT; i++) {
        struct recall_in in = {.by.strategy = (enum strategy)i, .only.after = may + DAY};
        struct recall_out r = recall_question(ctx, e, "Is the dog in the automobile?", in);
        CHECK(has(&r, "new") && !has(&r, "old") && !has(&r, "garage-m1"));
    }
    struct recall_out r =
        recall_question(ctx, e, "Who am I?",
                        (struct recall_in){.gate = true, .only.after = may + DAY});
    CHECK(has(&r, "new") && !has(&r, "old"));
}

TEST(the_young_are_found_behind_many_that_are_too_old)
{
    WITH_TABLE(e, s, p);
    enum { OLD = 700 };
    struct memory *v = NEW_N(&ctx->arena, struct memory, OLD + 1);
    for (int i = 0; i <= OLD; i++) {
        v[i] = fact("", "", str_printf(&ctx->arena, "a car, a car %d", i).p);
        v[i].created = may;
    }
    v[OLD] = fact("young", "", "the puppy likes the automobile");
    v[OLD].created = may + 2 * DAY;
    struct bundle b = {.pool = mine, .memories = v, .n_memories = OLD + 1};
    CHECK_OK(store_write(ctx, s, &b));
    embed_all(ctx, e);
    for (int i = STRATEGY_HYBRID; i <= STRATEGY_SEMANTIC; i++) {
        struct recall_out r = recall_question(ctx, e, "car",
                                              (struct recall_in){.by.strategy = (enum strategy)i,
                                                                 .only.after = may + DAY});
        CHECK_INT(r.n, 1);
        CHECK_STR(r.v[0].memory.id, S("young"));
    }
}

TEST(what_is_closed_or_expired_is_not_near)
{
    WITH_TABLE(e, s, p);
    struct memory was = fact("was", "pet", "the puppy is brown"),
                  is = fact("is", "pet", "the puppy is grey"),
                  gone = fact("gone", "", "the puppy is lost");
    gone.expires = may;
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &was));
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &gone));
    embed_all(ctx, e);
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &is));
    embed_all(ctx, e);
    for (int i = STRATEGY_HYBRID; i <= STRATEGY_RECENT; i++) {
        struct recall_out r =
            recall_question(ctx, e, "my dog", (struct recall_in){.by.strategy = (enum strategy)i});
        CHECK(has(&r, "is") && !has(&r, "was") && !has(&r, "gone"));
    }
}

TEST(what_the_reader_has_crowds_nothing_out)
{
    WITH_TABLE(e, s, p);
    str ids[60];
    write_session(ctx, s, mine, "garage", garage, may);
    for (int i = 0; i < 60; i++) {
        ids[i] = str_printf(&ctx->arena, "seen-%d", i);
        struct message m = said(ids[i].p, "user", "car", may);
        CHECK_OK(say(ctx, s, mine, "seen", &m));
    }
    embed_all(ctx, e);
    struct recall_out r =
        recall_question(ctx, e, "automobile?", (struct recall_in){.seen.ids = ids, .seen.n = 60});
    CHECK(has(&r, "garage-m1"));
    for (size_t i = 0; i < r.n; i++)
        CHECK(!str_is(r.v[i].message.session, "seen"));
}

/* --- Osaurus's layers --- */

static struct recalled *search_layer(struct ctx *ctx, struct engine *e, enum plan_scope scope,
                                     const char *query, size_t *n)
{
    struct scope_out out;
    struct scope_in in = {.pool = mine, .scope = scope, .query = str_of(query)};
    CHECK_OK(engine_search_scope(ctx, e, &in, &out));
    *n = out.n;
    return out.v;
}

TEST(a_layer_is_searched_by_meaning_unless_its_settings_say_otherwise)
{
    WITH_TABLE(e, s, p);
    size_t n;
    struct memory episode = fact("e1", "", "They crossed the ocean.");
    episode.layer = LAYER_EPISODE;
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &episode));
    remember(ctx, s, "f1", "User drives an automobile", may);
    remember(ctx, s, "f2", "User pays a levy", may);
    struct recalled *v = search_layer(ctx, e, PLAN_PINNED, "the car", &n);
    CHECK(n >= 1);
    CHECK_STR(v[0].memory.id, S("f1"));
    v = search_layer(ctx, e, PLAN_EPISODES, "sea", &n);
    CHECK_INT(n, 1);
    CHECK_STR(v[0].memory.id, S("e1"));
    struct plan_out out;
    struct plan_in in = {.pool = mine,
                         .question = S("do you remember my car?"),
                         .budget_tokens = 800};
    CHECK_OK(engine_plan(ctx, e, &in, &out));
    CHECK(out.n >= 1);
    CHECK_STR(out.v[0].memory.id, S("f1"));
    change_runtime_settings(ctx, e, "{\"embedding_backend\":\"none\"}");
    search_layer(ctx, e, PLAN_PINNED, "the car", &n);
    CHECK_INT(n, 0);
    search_layer(ctx, e, PLAN_PINNED, "the automobile", &n);
    CHECK_INT(n, 1);
}

/* --- many at once --- */

struct asker {
    struct engine *e;
    int right; /* found by its vector, or said why there was none: too much waits at times */
};

static void *ask_often(void *arg)
{
    struct asker *asker = arg;
    for (int i = 0; i < 40; i++) {
        struct ctx ctx = {0};
        struct recall_in in = {.pool = mine, .question = S("How is my car?")};
        struct recall_out out;
        if (engine_recall(&ctx, asker->e, &in, &out) == OK)
            asker->right += out.vectors.n ? out.n > 0 && str_is(out.v[0].message.session, "garage")
                                          : out.without.n > 0;
        ctx_free(&ctx);
    }
    return NULL;
}

TEST(threads_recall_by_vectors_while_others_write_and_embed)
{
    WITH_TABLE(e, s, p);
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    struct asker askers[THREADS];
    say_all(ctx, s);
    embed_all(ctx, e);
    for (int i = 0; i < THREADS; i++) {
        askers[i] = (struct asker){.e = e};
        CHECK_INT(pthread_create(&threads[i], NULL, ask_often, &askers[i]), 0);
    }
    for (int i = 0; i < 10; i++) {
        write_session(ctx, s, mine, str_printf(&ctx->arena, "forms %d", i).p, forms, may);
        embed_all(ctx, e);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(askers[i].right, 40);
    }
}
