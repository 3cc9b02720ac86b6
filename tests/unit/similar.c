/* similar.c - how alike memories are to a text, by words and by vectors, and how relevant. */
#include <math.h>

#include "store/store.h"
#include "unit/table.h"

#define DAY ((int64_t)86400000)

/* --- relevance --- */

TEST(relevance_is_the_rag_backends)
{
    static const struct {
        double similarity;
        enum priority priority;
        int64_t days, uses;
        double relevance;
    } cases[] = {{0.8, PRIORITY_MEDIUM, 0, 0, 0.9},
                 {0.8, PRIORITY_HIGH, 30, 0, 0.5},
                 {0.8, PRIORITY_CRITICAL, 0, 5, 1},
                 {0.75, PRIORITY_LOW, 60, 9, 0.230673},
                 {0.9, PRIORITY_MEDIUM, 30, 1, 0.534657}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double got =
            relevance_of(cases[i].similarity, cases[i].priority, cases[i].days, cases[i].uses);
        CHECK(fabs(got - cases[i].relevance) < 0.000001);
    }
}

/* --- asking --- */

struct found {
    struct similar *v;
    size_t n;
    int64_t total;
};

static struct found ask(struct ctx *ctx, struct engine *e, const char *query, struct similar_in in)
{
    struct found f;
    in.pool = in.pool.user.n ? in.pool : mine;
    in.query = str_of(query);
    in.limit = in.limit ? in.limit : 100;
    CHECK_OK(engine_similar(ctx, e, &in, &f.v, &f.n, &f.total));
    for (size_t i = 0; i < f.n; i++) {
        CHECK(f.v[i].similarity >= in.least && f.v[i].similarity <= 1);
        CHECK(!i || f.v[i].similarity <= f.v[i - 1].similarity);
    }
    return f;
}

static void put(struct ctx *ctx, struct store *s, struct pool_ref pool, struct memory m)
{
    m.created = m.created ? m.created : clock_ms();
    struct bundle b = {.pool = pool, .memories = &m, .n_memories = 1};
    CHECK_OK(store_write(ctx, s, &b));
}

static void tell(struct ctx *ctx, struct store *s, const char *content)
{
    put(ctx, s, mine, (struct memory){.content = str_of(content)});
}

/* --- the seed's threshold --- */

static const char *const known[] = {"User's favorite color is blue",
                                    "User is allergic to peanuts",
                                    "User works as a nurse at the hospital",
                                    "User lives in Rotterdam",
                                    "User's sister Clara plays the cello",
                                    "User drinks coffee without sugar",
                                    "User has a dog named Biscuit",
                                    "User's birthday is on 14 March",
                                    "User prefers dark mode in every editor",
                                    "User is training for a marathon in October",
                                    "User's car is a grey Volvo",
                                    "User is learning Portuguese",
                                    "User's mother was born in Lisbon",
                                    "User decided to use PostgreSQL for the shop"};

static const struct {
    const char *question;
    int of; /* -1: none */
} asked[] = {{"What is my favorite color?", 0},
             {"What am I allergic to?", 1},
             {"Can I eat peanuts, or am I allergic?", 1},
             {"Where do I work?", 2},
             {"Where do I live?", 3},
             {"What instrument does Clara play?", 4},
             {"What does my sister Clara play?", 4},
             {"Do I drink coffee with sugar?", 5},
             {"What is the name of my dog?", 6},
             {"When is my birthday?", 7},
             {"Which mode do I prefer in my editor?", 8},
             {"When is the marathon that I am training for?", 9},
             {"What kind of car is my Volvo?", 10},
             {"Am I learning Portuguese?", 11},
             {"Where was my mother born?", 12},
             {"Which database did I decide to use for the shop?", 13},
             {"What is my favorite food?", -1},
             {"What is the capital of France?", -1},
             {"Write a haiku about the spring", -1},
             {"How do I sort a list in Python?", -1},
             {"Who is my brother?", -1},
             {"Is my cat allergic to chicken?", -1},
             {"What is the name of my cat?", -1},
             {"Where did we go on holiday in May?", -1},
             {"What is my favorite season of the year?", -1},
             {"How long does coffee stay fresh in a tin?", -1},
             {"Which hospital is the oldest of Europe?", -1},
             {"Who won the marathon of Boston?", -1},
             {"What did my father study?", -1},
             {"Tell me a joke", -1}};

static void separates(struct ctx *ctx, struct engine *e, double most, double least)
{
    size_t held = 0, wanted = 0, strangers = 0, others = 0;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct found f = ask(ctx, e, asked[i].question, (struct similar_in){.least = 0.6});
        if (asked[i].of < 0) {
            others++;
            strangers += f.n > 0;
            continue;
        }
        wanted++;
        held += f.n && str_is(f.v[0].memory.content, known[asked[i].of]);
    }
    if ((double)held < least * (double)wanted || (double)strangers > most * (double)others)
        fail_msg("%zu of %zu found, and something for %zu of %zu", held, wanted, strangers, others);
}

TEST(the_seeds_threshold_separates_by_words)
{
    ENGINE(e, s, p);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        tell(ctx, s, known[i]);
    separates(ctx, e, 0.25, 1);
}

TEST_NEEDS(the_seeds_threshold_separates_with_vectors, missing_models)
{
    PLACE(p);
    STORE(s, p);
    struct settings settings = settings_for_test();
    settings.model_dir = str_of(shared_file(ctx, "models"));
    settings.static_model = S("potion-base-8M");
    settings.embedding_source = EMBED_STATIC;
    settings.embedding_static = true;
    CLEANUP(engine_closep) struct engine *e = NULL;
    CHECK_OK(engine_open(ctx, s, &settings, &e));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        tell(ctx, s, known[i]);
    table_embed(ctx, e);
    separates(ctx, e, 0.25, 1);
}

/* --- what counts --- */

static const struct table_word words[] = {
    {"dog", 0, 1, 1, 0}, {"puppy", 0, 1, 0.8f, 0.6f},  {"hound", 0, 2, 0.5f, 0.866f},
    {"car", 3, 4, 1, 0}, {"auto", 3, 4, 0.9f, 0.436f}, {"tea", 5, 6, 1, 0}};

static bool near(double a, double b)
{
    return fabs(a - b) < 0.005;
}

TEST(the_greater_of_cosine_and_words_counts)
{
    WITH_TABLE(e, s, p, words);
    tell(ctx, s, "a puppy");
    tell(ctx, s, "a hound");
    tell(ctx, s, "a car");
    table_embed(ctx, e);
    struct found f = ask(ctx, e, "the dog", (struct similar_in){.least = 0.1});
    CHECK_INT(f.n, 2);
    CHECK_STR(f.v[0].memory.content, S("a puppy"));
    CHECK(near(f.v[0].similarity, 0.8));
    CHECK(near(f.v[1].similarity, 0.5));
    f = ask(ctx, e, "the dog", (struct similar_in){.least = 0.6});
    CHECK_INT(f.n, 1);
    CHECK_INT(f.total, 1);
    f = ask(ctx, e, "hound", (struct similar_in){.least = 0.6});
    CHECK_STR(f.v[0].memory.content, S("a hound"));
    CHECK(near(f.v[0].similarity, 1));
    /* What has just come is found by its meaning as well. */
    tell(ctx, s, "the tea of anna");
    f = ask(ctx, e, "tea", (struct similar_in){.least = 0.6});
    CHECK_INT(f.n, 1);
}

TEST(without_vectors_the_share_of_words_counts)
{
    ENGINE(e, s, p);
    settings.encoder = false;
    tell(ctx, s, "User's favorite color is blue");
    struct found f = ask(ctx, e, "What is my favorite color?", (struct similar_in){.least = 0.6});
    CHECK_INT(f.n, 1);
    CHECK(near(f.v[0].similarity, 1));
    f = ask(ctx, e, "Which color has the oldest lighthouse of Iceland?",
            (struct similar_in){.least = 0.1});
    CHECK(f.n == 1 && f.v[0].similarity < 0.6);
    CHECK_INT(ask(ctx, e, "?!", (struct similar_in){.least = 0.1}).n, 0);
    CHECK_INT(ask(ctx, e, "AND \"NEAR( *", (struct similar_in){.least = 0.1}).n, 0);
    CHECK_INT(ask(ctx, e, "what is the", (struct similar_in){.least = 0.1}).n, 0);
}

TEST(what_recall_is_sure_of_passes_the_defaults_of_the_interfaces)
{
    ENGINE(e, s, p);
    settings.encoder = false;
    tell(ctx, s, "The invoices are written with LibreOffice.");
    tell(ctx, s, "Our wedding was on the 14th of September 2011.");
    struct found f =
        ask(ctx, e, "Which program do I use for invoices?", (struct similar_in){.least = 0.7});
    CHECK_INT(f.n, 1);
    CHECK(f.v[0].similarity < 0.8);
    CHECK_INT(ask(ctx, e, "Who painted the ceiling?", (struct similar_in){.least = 0.1}).n, 0);
}

TEST(the_newest_of_those_that_are_equally_alike_comes_first)
{
    ENGINE(e, s, p);
    int64_t now = clock_ms();
    for (int64_t i = 0; i < 10; i++)
        put(ctx, s, mine,
            (struct memory){.content = str_printf(&ctx->arena, "boat number %lld", (long long)i),
                            .created = now - (i * 7 % 10) * DAY});
    struct found f = ask(ctx, e, "boat", (struct similar_in){.least = 0.6});
    CHECK_INT(f.n, 10);
    for (size_t i = 1; i < f.n; i++)
        CHECK(f.v[i].memory.created < f.v[i - 1].memory.created);
    struct found page =
        ask(ctx, e, "boat", (struct similar_in){.least = 0.6, .offset = 8, .limit = 5});
    CHECK_INT(page.n, 2);
    CHECK_INT(page.total, 10);
    CHECK_STR(page.v[0].memory.id, f.v[8].memory.id);
    CHECK_INT(ask(ctx, e, "boat", (struct similar_in){.least = 0.6, .offset = 80}).n, 0);
    CHECK_INT(ask(ctx, e, "boat", (struct similar_in){.least = 0.6, .after = now - 3 * DAY}).total,
              4);
}

TEST(closed_expired_and_others_are_never_alike)
{
    WITH_TABLE(e, s, p, words);
    struct memory m = {.content = S("a dog"), .key = S("pet")};
    put(ctx, s, mine, m);
    m.content = S("a puppy");
    put(ctx, s, mine, m);
    put(ctx, s, mine, (struct memory){.content = S("dog of may"), .expires = clock_ms() - 1});
    put(ctx, s, other_space, (struct memory){.content = S("a dog too")});
    put(ctx, s, other_user, (struct memory){.content = S("a dog as well")});
    table_embed(ctx, e);
    struct found f = ask(ctx, e, "dog", (struct similar_in){.least = 0.1});
    CHECK_INT(f.n, 1);
    CHECK_STR(f.v[0].memory.content, S("a puppy"));
}

TEST(from_0_on_all_are_found_and_up_to_1000_counted)
{
    WITH_TABLE(e, s, p, words);
    struct memory *v = NEW_N(&ctx->arena, struct memory, 1500);
    for (size_t i = 0; i < 1500; i++)
        v[i] = (struct memory){.id = id_random(&ctx->arena),
                               .content = str_printf(&ctx->arena, "dog %zu", i),
                               .created = clock_ms() - 400 * DAY + (int64_t)(i / 500) * 200 * DAY};
    struct bundle b = {.pool = mine, .memories = v, .n_memories = 1500};
    CHECK_OK(store_write(ctx, s, &b));
    table_embed(ctx, e);
    CHECK_INT(ask(ctx, e, "puppy", (struct similar_in){.least = 0.6}).total, 1000);
    CHECK_INT(ask(ctx, e, "dog", (struct similar_in){.least = 0.6}).total, 1000);
    const struct similar_in recent = {.least = 0.6, .after = clock_ms() - 100 * DAY};
    CHECK_INT(ask(ctx, e, "puppy", recent).total, 500);
    CHECK_INT(ask(ctx, e, "dog", recent).total, 500);
    CHECK_INT(ask(ctx, e, "tea", (struct similar_in){.least = 0.01}).total, 0);
    CHECK_INT(ask(ctx, e, "tea", (struct similar_in){.least = 0}).total, 1000);
}
