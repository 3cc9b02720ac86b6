/* search.c - memories by each strategy and scope: what is found, what may not be, and why. */
#include "engine/state/state.h"

#include <math.h>
#include <sys/stat.h>

#include "lib/engine.h"
#include "lib/tiny_models.h"

#define DAY ((int64_t)86400000)

/* --- a table of words whose meanings are known --- */

enum { D = 8, TOKENS = 10 };
static const char *const tokens[TOKENS + 1] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]",  "dog", "puppy",
                                               "car",   "auto",  "tea",   "coffee", NULL};

static void write_table(struct ctx *ctx, str folder)
{
    static float v[TOKENS * D];
    static const struct {
        size_t token, axis;
        float much;
    } parts[] = {{4, 0, 1},    {5, 0, 0.9f}, {5, 1, 0.4f}, {6, 2, 1},   {7, 2, 0.9f},
                 {7, 3, 0.4f}, {8, 4, 1},    {9, 4, 0.9f}, {9, 5, 0.4f}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        v[parts[i].token * D + parts[i].axis] = parts[i].much;
    struct floats table = {"embeddings", TOKENS, D, v};
    str path = str_printf(&ctx->arena, S_FMT "/table", S_ARG(folder));
    CHECK_INT(mkdir(path.p, 0755), 0);
    file_write(ctx, path, "model.safetensors", safetensors_of(ctx, &table, 1));
    file_write(ctx, path, "tokenizer.json", tokenizer_of(ctx, tokens));
    file_write(ctx, path, "config.json", S("{\"model_type\":\"model2vec\"}"));
}

static struct settings with_table(struct ctx *ctx)
{
    struct settings s = settings_for_test();
    s.embedding_source = EMBED_STATIC;
    s.embedding_static = true;
    s.static_model = S("us/table");
    s.model_dir = folder_new(ctx);
    write_table(ctx, s.model_dir);
    return s;
}

/* An engine whose vectors come from the table. */
#define WITH_TABLE(e, s, p) ENGINE_WITH(e, s, p, with_table(ctx))

/* What waits gets its vector. */
static void embed_all(struct ctx *ctx, struct engine *e)
{
    enum { BATCH = 500 };
    const str any = S("dog");
    struct embedding first;
    CHECK_OK(embed_texts(ctx, e->embed, &any, 1, &first));
    str signature = embedding_signature(ctx, &first);
    struct vector_set set = {.signature = signature, .dimensions = D};
    struct unembedded *v;
    size_t n;
    CHECK_OK(store_begin_vectors(ctx, e->store, &set, false));
    for (;;) {
        str texts[BATCH];
        struct embedding made[BATCH];
        struct vector_put put[BATCH];
        CHECK_OK(store_unembedded(ctx, e->store, NULL, BATCH, &v, &n));
        if (!n)
            return;
        for (size_t i = 0; i < n; i++)
            texts[i] = v[i].text;
        CHECK_OK(embed_texts(ctx, e->embed, texts, n, made));
        for (size_t i = 0; i < n; i++)
            put[i] = (struct vector_put){.no = v[i].no, .doc = v[i].doc, .v = made[i].v};
        CHECK_OK(store_put_vectors(ctx, e->store, signature, put, n));
    }
}

/* --- what is kept, and asking for it --- */

static struct memory one(const char *content)
{
    return (struct memory){.content = str_of(content), .importance = 0.5, .origin = ORIGIN_API};
}

static void put(struct ctx *ctx, struct engine *e, struct pool_ref pool, struct memory m)
{
    m.created = m.created ? m.created : clock_ms();
    m.updated = m.created;
    struct bundle b = {.pool = pool, .memories = &m, .n_memories = 1};
    CHECK_OK(store_write(ctx, e->store, &b));
}

static void put_many(struct ctx *ctx, struct engine *e, struct pool_ref pool, struct memory like,
                     size_t n)
{
    struct memory *v = NEW_N(&ctx->arena, struct memory, n);
    for (size_t i = 0; i < n; i++) {
        v[i] = like;
        v[i].id = id_random(&ctx->arena);
        v[i].created = v[i].updated = like.created ? like.created : clock_ms();
    }
    struct bundle b = {.pool = pool, .memories = v, .n_memories = n};
    CHECK_OK(store_write(ctx, e->store, &b));
}

/* All that fits, without a gate. */
static struct recall_out look(struct ctx *ctx, struct engine *e, const char *query,
                              struct recall_in in)
{
    struct recall_out out;
    in.question = str_of(query);
    in.only.memories = in.by.is_patient = true;
    in.limit = in.limit ? in.limit : RECALL_LIMIT_MAX;
    in.budget_tokens = -1;
    if (!in.pool.user.n)
        in.pool = mine;
    CHECK_OK(engine_recall(ctx, e, &in, &out));
    return out;
}

static const struct recall_in hybrid = {.by.strategy = STRATEGY_HYBRID},
                              semantic = {.by.strategy = STRATEGY_SEMANTIC};

static void is_only(const struct recall_out *out, const char *content)
{
    CHECK_INT(out->n, 1);
    CHECK_STR(out->v[0].memory.content, str_of(content));
}

/* --- budgets --- */

/* Contents of so many tokens, the first one the newest. */
static void put_sizes(struct ctx *ctx, struct engine *e, const int *sizes, size_t n)
{
    int64_t now = clock_ms();
    for (size_t i = 0; i < n; i++) {
        struct buf b = buf_make(&ctx->arena, 1 << 20);
        for (int k = 0; k < sizes[i]; k++)
            buf_printf(&b, "%03zu ", i);
        b.p[b.n - 1] = '.';
        struct memory m = one(str_c(&ctx->arena, buf_str(&b)));
        m.created = now - (int64_t)i * 1000;
        put(ctx, e, mine, m);
    }
}

/* A search without a question, by OmniRoute's walk. */
static struct recall_out newest_within(struct ctx *ctx, struct engine *e, size_t limit,
                                       int64_t budget)
{
    struct recall_out out;
    const struct recall_in in = {.pool = mine, .only.memories = true, .limit = RECALL_LIMIT_MAX};
    CHECK_OK(engine_search(ctx, e, &in, &out));
    CHECK(out.steps.strategy == STRATEGY_RECENT && !out.steps.fallback.n);
    engine_memories_within(ctx, &out, limit, budget);
    return out;
}

TEST(the_budget_ends_at_the_first_that_does_not_fit)
{
    ENGINE(e, s, p);
    const int sizes[] = {4, 4, 4, 1};
    put_sizes(ctx, e, sizes, 4);
    struct recall_out out = newest_within(ctx, e, 10, 10);
    CHECK(out.n == 2 && out.tokens == 8);
    out = newest_within(ctx, e, 10, -5);
    CHECK(out.n == 1 && out.tokens == 4);
    CHECK_INT(newest_within(ctx, e, 1, 10).n, 1);
}

TEST(the_first_goes_in_whatever_its_size)
{
    ENGINE(e, s, p);
    const int sizes[] = {50, 1};
    put_sizes(ctx, e, sizes, 2);
    struct recall_out out = newest_within(ctx, e, 10, 10);
    CHECK(out.n == 1 && out.tokens == 50);
}

TEST(no_more_than_the_greatest_budget_counts)
{
    ENGINE(e, s, p);
    const int sizes[] = {3000, 3000, 3000};
    put_sizes(ctx, e, sizes, 3);
    struct recall_out out = newest_within(ctx, e, 10, 16000);
    CHECK(out.n == 2 && out.tokens == 6000);
}

TEST(type_and_limit_count_before_the_budget)
{
    ENGINE(e, s, p);
    const int sizes[] = {40, 40, 40};
    put_sizes(ctx, e, sizes, 3);
    struct memory how = one("how the dog is fed");
    how.type = TYPE_PROCEDURAL;
    how.created = clock_ms() - DAY;
    put(ctx, e, mine, how);
    struct recall_out out =
        look(ctx, e, "dog 001", (struct recall_in){.only.type = S("procedural")});
    is_only(&out, "how the dog is fed");
    CHECK_INT(look(ctx, e, "001 002 000", (struct recall_in){.limit = 2}).n, 2);
}

/* --- a chat's and more --- */

TEST(a_search_gives_what_a_chat_is_given_first)
{
    ENGINE(e, s, p);
    put(ctx, e, mine, one("allergic to peanuts"));
    for (int i = 0; i < 30; i++)
        put(ctx, e, mine, one(str_printf(&ctx->arena, "list %d: I have a do of %d", i, i).p));
    const struct recall_in in = {.pool = mine, .question = S("Which allergies do I have?")};
    struct recall_out out;
    CHECK_OK(engine_search(ctx, e, &in, &out));
    CHECK(out.n > 0);
    CHECK_STR(out.v[0].memory.content, S("allergic to peanuts"));
}

/* --- words --- */

TEST(punctuation_in_a_query_is_never_an_error)
{
    ENGINE(e, s, p);
    settings.encoder = false;
    put(ctx, e, mine, one("The puppy sleeps in the kitchen"));
    static const char *const queries[] = {"puppy?",  "the puppy's", "puppy-kitchen", "\"puppy",
                                          "puppy*",  "puppy AND",   "NOT puppy OR",  "puppy: (yes)",
                                          "{puppy}", "^puppy",      "NEAR(puppy 3",  "puppy\"*:-^",
                                          "puppies", "Puppy\n\t!"};
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        struct recall_out out = look(ctx, e, queries[i], hybrid);
        if (out.n != 1)
            fail_msg("%s finds %zu", queries[i], out.n);
        CHECK(out.v[0].score > 0 && out.v[0].score <= 1 && !(out.v[0].measured.cosine > 0));
    }
    CHECK_INT(look(ctx, e, "elephant", hybrid).n, 0);
    CHECK_INT(look(ctx, e, "*", hybrid).n, 0);
}

TEST(the_one_that_says_more_of_it_is_first)
{
    ENGINE(e, s, p);
    put(ctx, e, mine, one("The kitchen has a green door"));
    put(ctx, e, mine, one("The dog sleeps in the kitchen at night"));
    put(ctx, e, mine, one("A dog needs water"));
    struct recall_out out = look(ctx, e, "Where does the dog sleep at night?", hybrid);
    CHECK_INT(out.n, 2);
    CHECK_STR(out.v[0].memory.content, S("The dog sleeps in the kitchen at night"));
    CHECK(out.v[0].score >= out.v[1].score);
}

/* --- what may not be found --- */

static const char good[] = "the dog that is right";

/* Those that must stay away are nearer to the question than the good one. */
static void put_forbidden(struct ctx *ctx, struct engine *e, size_t of_each)
{
    struct memory m = one("dog");
    struct memory expired = m, old = m, odd = m, elsewhere = m;
    expired.expires = clock_ms() - 1;
    expired.content = S("dog kennel"); /* "dog" would bar the good one, too */
    old.created = clock_ms() - 31 * DAY;
    odd.type = TYPE_EPISODIC;
    elsewhere.session = S("s2");
    m.session = S("s1");
    odd.session = old.session = expired.session = S("s1");
    put_many(ctx, e, mine, expired, of_each);
    put_many(ctx, e, mine, old, of_each);
    put_many(ctx, e, mine, odd, of_each);
    put_many(ctx, e, mine, elsewhere, of_each);
    put_many(ctx, e, other_space, m, of_each);
    put_many(ctx, e, other_user, m, of_each);
    m.key = S("k");
    m.content = S("dog dog");
    put(ctx, e, mine, m);
    m.content = str_of(good);
    m.created = clock_ms() - 29 * DAY;
    m.expires = clock_ms() + DAY;
    put(ctx, e, mine, m);
}

static void check_forbidden(struct ctx *ctx, struct engine *e, const char *store)
{
    for (int i = STRATEGY_HYBRID; i <= STRATEGY_RECENT; i++) {
        struct recall_in in = {.by.strategy = (enum strategy)i,
                               .scope = SCOPE_SESSION,
                               .within = S("s1"),
                               .only.type = S("factual"),
                               .only.after = clock_ms() - 30 * DAY};
        struct recall_out out = look(ctx, e, "dog", in);
        if (out.n != 1 || !str_is(out.v[0].memory.content, good))
            fail_msg("%s finds %zu, first " S_FMT, strategy_names[i], out.n,
                     S_ARG(out.n ? out.v[0].memory.content : S("")));
        if (i != STRATEGY_RECENT)
            CHECK_STR(out.steps.store, str_of(store));
    }
}

TEST(what_may_not_be_found_starves_nothing_by_words)
{
    ENGINE(e, s, p);
    settings.encoder = false;
    put_forbidden(ctx, e, 600);
    check_forbidden(ctx, e, "none");
}

TEST(what_may_not_be_found_starves_nothing_by_vectors)
{
    WITH_TABLE(e, s, p);
    put_forbidden(ctx, e, 600);
    embed_all(ctx, e);
    check_forbidden(ctx, e, "sqlite-vec");
}

TEST(among_very_many_that_may_not_be_found_the_few_others_are)
{
    enum { MANY = 11000 };
    WITH_TABLE(e, s, p);
    struct memory elsewhere = one("dog"), far = one("a car"), near = one("a puppy barks");
    elsewhere.session = S("s2");
    far.session = near.session = S("s1");
    put_many(ctx, e, mine, elsewhere, MANY);
    put(ctx, e, mine, near);
    put(ctx, e, mine, far);
    embed_all(ctx, e);
    struct recall_out out = look(ctx, e, "dog",
                                 (struct recall_in){.by.strategy = STRATEGY_SEMANTIC,
                                                    .scope = SCOPE_SESSION,
                                                    .within = S("s1")});
    is_only(&out, "a puppy barks");
    CHECK(fabs(out.v[0].measured.cosine - 0.9 / sqrt(0.97)) < 1e-2);
}

TEST(a_thousand_memories_of_others_hide_nothing)
{
    WITH_TABLE(e, s, p);
    put_many(ctx, e, other_user, one("dog"), 1000);
    put_many(ctx, e, other_space, one("dog"), 1000);
    put(ctx, e, mine, one("a puppy barks"));
    embed_all(ctx, e);
    struct recall_out out = look(ctx, e, "dog", semantic);
    is_only(&out, "a puppy barks");
    CHECK(fabs(out.v[0].measured.cosine - 0.9 / sqrt(0.97)) < 1e-2);
}

TEST(each_scope_has_its_memories)
{
    for (int with = 0; with < 2; with++) {
        WITH_TABLE(e, s, p);
        struct memory here = one("dog here"), there = one("dog there"), away = one("dog away");
        here.session = S("s1");
        put(ctx, e, mine, here);
        put(ctx, e, mine, one("dog elsewhere"));
        put(ctx, e, other_space, there);
        put(ctx, e, other_user, away);
        if (with)
            embed_all(ctx, e);
        for (int i = STRATEGY_HYBRID; i <= STRATEGY_RECENT; i++) {
            struct recall_in in = {.by.strategy = (enum strategy)i};
            CHECK_INT(look(ctx, e, "dog", in).n, 2);
            in.scope = SCOPE_USER;
            struct recall_out all = look(ctx, e, "dog", in);
            CHECK_INT(all.n, 3);
            size_t work = 0;
            for (size_t k = 0; k < 3; k++)
                work += str_is(all.v[k].memory.space, "work") &&
                        str_is(all.v[k].memory.content, "dog there");
            CHECK_INT(work, 1);
            in.scope = SCOPE_SESSION;
            in.within = S("s1");
            struct recall_out session = look(ctx, e, "dog", in);
            is_only(&session, "dog here");
            in.within = S("");
            struct recall_out none;
            in.pool = mine;
            in.question = S("dog");
            CHECK_STATUS(engine_recall(ctx, e, &in, &none), BAD_INPUT);
            ctx_clear_failure(ctx);
        }
    }
}

TEST(a_user_who_has_no_space_yet_finds_nothing_in_all_of_them)
{
    WITH_TABLE(e, s, p);
    struct recall_in in = {.scope = SCOPE_USER, .gate = true};
    CHECK_INT(look(ctx, e, "do you remember anything", in).n, 0);
}

/* --- vectors --- */

TEST(meaning_is_found_where_words_differ)
{
    WITH_TABLE(e, s, p);
    put(ctx, e, mine, one("puppy"));
    put(ctx, e, mine, one("auto"));
    put(ctx, e, mine, one("car"));
    embed_all(ctx, e);
    struct recall_out out = look(ctx, e, "dog", semantic);
    is_only(&out, "puppy");
    CHECK(fabs(out.v[0].score - out.v[0].measured.cosine) < 1e-9);
    CHECK(!(recalled_signal(&out.v[0], "share") > 0) && !out.steps.fallback.n);
    CHECK(out.steps.strategy == STRATEGY_SEMANTIC);
    CHECK_STR(out.steps.source, S("static"));
    CHECK_STR(out.steps.store, S("sqlite-vec"));
    CHECK_STR(out.steps.model, S("table"));
    out = look(ctx, e, "car", semantic);
    CHECK(out.n == 2 && str_is(out.v[0].memory.content, "car"));
    CHECK(out.v[0].score > out.v[1].score);
}

TEST(words_and_vectors_are_ranked_as_one)
{
    WITH_TABLE(e, s, p);
    put(ctx, e, mine, one("the car is a green one, and the green is dark"));
    put(ctx, e, mine, one("auto"));
    put(ctx, e, mine, one("green tea"));
    embed_all(ctx, e);
    struct recall_out out = look(ctx, e, "green car", hybrid);
    CHECK_INT(out.n, 3);
    CHECK(out.steps.strategy == STRATEGY_HYBRID && !out.steps.fallback.n);
    CHECK_STR(out.v[0].memory.content, S("the car is a green one, and the green is dark"));
    for (size_t i = 0; i < 3; i++) {
        const struct recalled *r = &out.v[i];
        bool is_auto = str_is(r->memory.content, "auto"),
             is_tea = str_ends(r->memory.content, S("tea"));
        CHECK((recalled_signal(r, "share") > 0) == !is_auto && (r->measured.cosine > 0) == !is_tea);
    }
}

/* --- steps down --- */

TEST(without_a_source_the_words_answer_and_say_so)
{
    ENGINE(e, s, p);
    settings.encoder = false;
    put(ctx, e, mine, one("the dog barks"));
    struct recall_out out = look(ctx, e, "dog", semantic);
    is_only(&out, "the dog barks");
    CHECK(out.steps.strategy == STRATEGY_HYBRID);
    CHECK(str_starts(out.steps.fallback, S("vectors: ")) && out.steps.fallback.n > 12);
    CHECK(!out.steps.source.n && str_is(out.steps.store, "none"));
}

TEST(without_vectors_the_words_answer_and_say_so)
{
    WITH_TABLE(e, s, p);
    struct vector_set set = {.signature = S("static:table:8"), .dimensions = D};
    CHECK_OK(store_begin_vectors(ctx, s, &set, false));
    put(ctx, e, other_space, one("dog"));
    embed_all(ctx, e);
    put(ctx, e, mine, one("a bark wakes the house"));
    struct recall_out out = look(ctx, e, "bark dog", semantic);
    is_only(&out, "a bark wakes the house");
    CHECK(str_starts(out.steps.fallback, S("vectors: ")));
    CHECK_INT(look(ctx, e, "xylophone", semantic).n, 0);
}

TEST(what_has_no_vector_yet_is_not_hidden_and_gets_one)
{
    enum { MANY = 200 };
    WITH_TABLE(e, s, p);
    put(ctx, e, mine, one("puppy"));
    embed_all(ctx, e);
    put_many(ctx, e, mine, one("tea and more tea"), MANY);
    put(ctx, e, mine, one("a dog without a vector"));
    struct recall_out out = look(ctx, e, "dog", semantic);
    CHECK_INT(out.n, 2);
    CHECK(out.steps.strategy == STRATEGY_HYBRID && holds(out.steps.fallback, "have a vector yet"));
    /* Each retrieval makes some, so a few of them have made all. */
    for (int i = 0; i < 10; i++)
        out = look(ctx, e, "dog", semantic);
    CHECK(!out.steps.fallback.n && out.steps.strategy == STRATEGY_SEMANTIC && out.n == 2);
    CHECK(out.v[1].measured.cosine > 0.5);
}

TEST(a_model_that_is_broken_is_a_step_down)
{
    WITH_TABLE(e, s, p);
    put(ctx, e, mine, one("the dog barks"));
    embed_all(ctx, e);
    settings.model_dir = folder_new(ctx);
    CLEANUP(engine_closep) struct engine *broken = NULL;
    CHECK_OK(engine_open(ctx, s, &settings, &broken));
    struct recall_out out = look(ctx, broken, "dog", hybrid);
    is_only(&out, "the dog barks");
    CHECK(str_starts(out.steps.fallback, S("vectors: ")));
}
