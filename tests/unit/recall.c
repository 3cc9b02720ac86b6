/* recall.c - what a question finds, what it must not find, and when it stays silent. */
#include <pthread.h>

#include "lib/engine.h"
#include "store/store.h"
#include "words/words.h"

static const int64_t may = 1683554160000; /* 2023-05-08 */

static void remember(struct ctx *ctx, struct engine *e, const char *text)
{
    struct memory m = {.content = str_of(text), .importance = 0.5};
    CHECK_OK(engine_add(ctx, e, mine, &m));
}

static const struct recall_in anyhow = {.gate = false}, as_chat = {.gate = true};

static const char *const holiday[] = {
    "We went to Lisbon in spring and stayed near the river.",
    "What did you like best?",
    "The custard tarts, and an old tram that climbs the hill.",
    "I would take the tram too.",
    NULL,
};
static const char *const work[] = {
    "The build fails since Tuesday.", "Which step?", "Linking: the linker runs out of memory.",
    "Try fewer parallel jobs.",       NULL,
};

TEST(the_turn_that_says_it_is_first)
{
    ENGINE(e, s, p);
    write_session(ctx, s, mine, "holiday", holiday, may);
    write_session(ctx, s, mine, "work", work, may);
    struct recall_out r = recall_question(ctx, e, "Why did linking fail?", anyhow);
    CHECK(r.n > 0 && r.took_us >= 0);
    CHECK_STR(r.v[0].message.id, S("work-m3"));
    CHECK(str_find(r.v[0].why, S("linking")) < r.v[0].why.n);
    CHECK(r.v[0].tokens > 0 && r.v[0].state == LINE_INJECTED);
    for (size_t i = 0; i < r.n; i++)
        CHECK(r.v[i].score >= 0 && r.v[i].score <= 1);
}

TEST(an_answer_is_found_by_its_question)
{
    ENGINE(e, s, p);
    write_session(ctx, s, mine, "holiday", holiday, may);
    write_session(ctx, s, mine, "work", work, may);
    struct recall_out r = recall_question(ctx, e, "What did I like best in Lisbon?", anyhow);
    bool found = false;
    for (size_t i = 0; i < r.n && i < 2; i++)
        found |= str_is(r.v[i].message.id, "holiday-m3");
    CHECK(found);
}

/* The second recall has what the first one worked out of the messages, and none has it once they
 * are erased. */
TEST(what_is_kept_of_messages_changes_no_answer_and_goes_with_them)
{
    static const char *const told[] = {"I live in Leeds. Can you suggest a gym?", "Noted.",
                                       "I moved to Hull, where my sister lives.", "Nice.", NULL};
    ENGINE(e, s, p);
    int64_t erased;
    write_session(ctx, s, mine, "home", told, may);
    struct recall_out first = recall_question(ctx, e, "Where do I live?", as_chat), r = first;
    CHECK(r.n > 0 && r.v[0].state == LINE_INJECTED);
    for (int round = 0; round < 3; round++) {
        r = recall_question(ctx, e, "Where do I live?", as_chat);
        CHECK_INT(r.n, first.n);
        CHECK_STR(r.reason, first.reason);
        for (size_t i = 0; i < r.n && i < first.n; i++) {
            CHECK_STR(r.v[i].text, first.v[i].text);
            CHECK_STR(r.v[i].why, first.v[i].why);
            CHECK(r.v[i].score == first.v[i].score && r.v[i].state == first.v[i].state);
        }
    }
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = S("home-m3")}, &erased));
    r = recall_question(ctx, e, "Where do I live?", as_chat);
    for (size_t i = 0; i < r.n; i++)
        CHECK(str_find(r.v[i].text, S("Hull")) == r.v[i].text.n);
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .everything = true}, &erased));
    CHECK_INT(recall_question(ctx, e, "Where do I live?", as_chat).n, 0);
}

TEST(other_pools_are_never_seen)
{
    ENGINE(e, s, p);
    write_session(ctx, s, other_user, "holiday", holiday, may);
    write_session(ctx, s, other_space, "work", work, may);
    CHECK_INT(recall_question(ctx, e, "the tram in Lisbon", anyhow).n, 0);
    CHECK_INT(recall_question(ctx, e, "the linker's memory", anyhow).n, 0);
    CHECK_STR(recall_question(ctx, e, "the tram in Lisbon", as_chat).decision, S("none"));
}

TEST(what_the_reader_has_is_left_out)
{
    ENGINE(e, s, p);
    const str seen[] = {S("work-m3"), S("work-m1")};
    write_session(ctx, s, mine, "work", work, may);
    struct recall_out r = recall_question(ctx, e, "Does linking fail the build?",
                                          (struct recall_in){.seen.ids = seen, .seen.n = 2});
    CHECK(r.n > 0);
    for (size_t i = 0; i < r.n; i++)
        CHECK(!str_eq(r.v[i].message.id, seen[0]) && !str_eq(r.v[i].message.id, seen[1]));
}

TEST(memories_are_found_beside_turns)
{
    ENGINE(e, s, p);
    write_session(ctx, s, mine, "holiday", holiday, may);
    remember(ctx, e, "My favourite colour is teal");
    struct recall_out r = recall_question(ctx, e, "What is my favourite colour?", as_chat);
    CHECK(r.n > 0 && r.v[0].is_memory && r.v[0].state == LINE_INJECTED);
    CHECK_STR(r.v[0].memory.content, S("My favourite colour is teal"));
    r = recall_question(ctx, e, "favourite colour", (struct recall_in){.only.turns = true});
    for (size_t i = 0; i < r.n; i++)
        CHECK(!r.v[i].is_memory);
    settings.encoder = false; /* by words no message is near it */
    CHECK_INT(recall_question(ctx, e, "favourite colour", (struct recall_in){.only.turns = true}).n,
              0);
}

/* What stands around the lines takes more than such a budget has. */
TEST(the_smallest_budget_is_no_endless_one)
{
    ENGINE(e, s, p);
    remember(ctx, e, "works as a nurse in Leipzig");
    remember(ctx, e, "my name is Anna");
    for (int64_t budget = 1; budget < 40; budget += 13) {
        struct recall_out r =
            recall_question(ctx, e, "What do you know about me?",
                            (struct recall_in){.gate = true, .budget_tokens = budget});
        CHECK_INT(r.n, 2);
        CHECK(r.v[0].state == LINE_INJECTED && r.v[1].state != LINE_INJECTED);
    }
}

TEST(a_question_about_the_user_finds_what_is_known)
{
    ENGINE(e, s, p);
    write_session(ctx, s, mine, "holiday", holiday, may);
    remember(ctx, e, "works as a nurse in Leipzig");
    remember(ctx, e, "my name is Anna");
    static const char *const questions[] = {"What do you know about me?", "Who am I?"};
    for (size_t i = 0; i < 2; i++) {
        struct recall_out r = recall_question(ctx, e, questions[i], as_chat);
        CHECK_INT(r.n, 2);
        CHECK(r.v[0].state == LINE_INJECTED && r.v[1].state == LINE_INJECTED && r.v[0].why.n > 0);
        CHECK_STR(r.decision, S("identity"));
    }
    CHECK_STR(recall_question(ctx, e, "what's my name?", as_chat).v[0].text, S("my name is Anna"));
    CHECK_INT(recall_question(ctx, e, "Who am I?",
                              (struct recall_in){.pool = other_user, .gate = true})
                  .n,
              0);
    CHECK_INT(recall_question(ctx, e, "Who am I?", (struct recall_in){.only.turns = true}).n, 0);
}

TEST(silent_when_nothing_belongs_to_it)
{
    ENGINE(e, s, p);
    write_session(ctx, s, mine, "holiday", holiday, may);
    static const char *const questions[] = {"hi", "?!", "What is 2+2?", "Write a haiku", "", "  "};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        struct recall_out r = recall_question(ctx, e, questions[i], as_chat);
        CHECK_STR(r.decision, S("none"));
        CHECK(r.reason.n > 0);
        CHECK_INT(r.tokens, 0);
        for (size_t k = 0; k < r.n; k++)
            CHECK(r.v[k].state != LINE_INJECTED);
    }
}

TEST(the_threshold_silences_and_a_phrase_lowers_it)
{
    ENGINE(e, s, p);
    write_session(ctx, s, mine, "holiday", holiday, may);
    struct recall_out r = recall_question(ctx, e, "the tram in Lisbon", as_chat);
    CHECK(r.n > 0 && r.v[0].state == LINE_INJECTED && r.tokens > 0);
    settings.gate_threshold = 1;
    CHECK_STR(recall_question(ctx, e, "the tram in Lisbon", as_chat).decision, S("none"));
    r = recall_question(ctx, e, "Do you remember the tram in Lisbon?", as_chat);
    CHECK(!str_is(r.decision, "none") && r.tokens > 0);
    static const char in_may[] = "Explain how a race by a river in May is won.";
    settings.gate_threshold = 0.5; /* in a small pool a fifth of it, and of that GATE_OF_TIME */
    r = recall_question(ctx, e, in_may, as_chat);
    CHECK(holds(r.reason, "names a time (\"in may\")") && holds(r.reason, "0.060 needed"));
    r = recall_question(ctx, e, "Explain how a race by a river is won.", as_chat);
    CHECK(!holds(r.reason, "names a time") && !holds(r.reason, "0.060 needed"));
}

TEST(limit_and_budget_hold)
{
    ENGINE(e, s, p);
    write_session(ctx, s, mine, "holiday", holiday, may);
    struct recall_out r =
        recall_question(ctx, e, "tram river Lisbon tarts", (struct recall_in){.limit = 2});
    CHECK_INT(r.n, 2);
    r = recall_question(ctx, e, "tram river Lisbon tarts", (struct recall_in){.budget_tokens = 1});
    CHECK(r.n > 1 && r.v[0].state == LINE_INJECTED && r.v[1].state != LINE_INJECTED);
    CHECK_INT(r.tokens, r.v[0].tokens);
    r = recall_question(ctx, e, "tram river Lisbon tarts", (struct recall_in){.budget_tokens = -1});
    for (size_t i = 0; i < r.n; i++)
        CHECK(r.v[i].state == LINE_INJECTED);
}

TEST(the_same_question_gives_the_same_answer)
{
    ENGINE(e, s, p);
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        write_session(ctx, s, mine, name, i % 2 ? holiday : work, may);
    }
    struct recall_out a = recall_question(ctx, e, "tram or linker?", anyhow);
    struct recall_out b = recall_question(ctx, e, "tram or linker?", anyhow);
    CHECK_INT(a.n, b.n);
    for (size_t i = 0; i < a.n; i++)
        CHECK_STR(a.v[i].message.id, b.v[i].message.id);
}

TEST(repeats_do_not_crowd_out_the_rest)
{
    ENGINE(e, s, p);
    static const char *const rex[] = {"Rex the dog ate the blue shoe", "Oh no", NULL};
    for (int i = 0; i < 12; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        write_session(ctx, s, mine, name, rex, may);
    }
    static const char *const vet[] = {"The vet looked at the dog Rex", "All well?", NULL};
    write_session(ctx, s, mine, "vet", vet, may);
    const struct recall_in in = {.limit = 3, .by.words_only = true};
    struct recall_out r = recall_question(ctx, e, "Rex the dog", in);
    bool found = false;
    for (size_t i = 0; i < r.n; i++)
        found |= str_is(r.v[i].message.id, "vet-m1");
    CHECK(found);
}

TEST(yesterday_is_found_by_its_date)
{
    ENGINE(e, s, p);
    static const char *const one[] = {"Bread is baking"}, *const two[] = {"Soup is boiling"};
    struct message v[] = {{.id = S("a"),
                           .session = S("x"),
                           .role = S("user"),
                           .text = str_of(one[0]),
                           .created = may - 86400000},
                          {.id = S("b"),
                           .session = S("x"),
                           .role = S("user"),
                           .text = str_of(two[0]),
                           .created = may - 9 * (int64_t)86400000}};
    struct bundle b = {.pool = mine, .session = {.id = S("x")}, .messages = v, .n_messages = 2};
    CHECK_OK(store_write(ctx, s, &b));
    struct recall_out r =
        recall_question(ctx, e, "What did we do yesterday?", (struct recall_in){.asked = may});
    CHECK(r.n > 0);
    CHECK_STR(r.v[0].message.id, S("a"));
}

TEST(a_passed_deadline_is_timed_out)
{
    ENGINE(e, s, p);
    write_session(ctx, s, mine, "holiday", holiday, may);
    struct ctx late = {.deadline_us = 1};
    struct recall_in in = {.pool = mine, .question = S("the tram in Lisbon")};
    struct recall_out out;
    CHECK_INT(engine_recall(&late, e, &in, &out), TIMED_OUT);
    CHECK(late.why[0]);
    ctx_free(&late);
    struct engine_stats stats;
    CHECK_OK(engine_stats(ctx, e, &stats));
    CHECK_INT(stats.recalls, 1);
}

/* --- many at once --- */

struct asker {
    struct engine *e;
    int found;
};

static void *ask_often(void *arg)
{
    enum { OFTEN = 40 };
    struct asker *asker = arg;
    for (int i = 0; i < OFTEN; i++) {
        struct ctx ctx = {0};
        struct recall_in in = {.pool = mine, .question = S("the tram in Lisbon"), .gate = true};
        struct recall_out out;
        if (engine_recall(&ctx, asker->e, &in, &out) == OK && out.n > 0)
            asker->found += str_is(out.v[0].message.session, "holiday");
        ctx_free(&ctx);
    }
    return NULL;
}

TEST(threads_recall_at_once_while_others_write)
{
    ENGINE(e, s, p);
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    struct asker askers[THREADS];
    write_session(ctx, s, mine, "holiday", holiday, may);
    for (int i = 0; i < THREADS; i++) {
        askers[i] = (struct asker){.e = e};
        CHECK_INT(pthread_create(&threads[i], NULL, ask_often, &askers[i]), 0);
    }
    for (int i = 0; i < 10; i++) {
        char name[16];
        snprintf(name, sizeof name, "work %d", i);
        write_session(ctx, s, mine, name, work, may);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(askers[i].found, 40);
    }
}

TEST(memories_alone_are_searched_when_that_is_asked)
{
    ENGINE(e, s, p);
    write_session(ctx, s, mine, "holiday", holiday, may);
    for (int i = 0; i < 400; i++) {
        struct memory m = {.content = str_printf(&ctx->arena, "the tram of day %d", i),
                           .type = i == 7 ? TYPE_EPISODIC : TYPE_FACTUAL};
        CHECK_OK(engine_add(ctx, e, mine, &m));
    }
    struct recall_out r = recall_question(ctx, e, "an old tram",
                                          (struct recall_in){.only.memories = true, .limit = 50});
    CHECK_INT(r.n, 50);
    for (size_t i = 0; i < r.n; i++)
        CHECK(r.v[i].is_memory);
    /* The only one of its type is found among many that are as good. */
    r = recall_question(ctx, e, "an old tram",
                        (struct recall_in){.only.memories = true,
                                           .only.type = S("episodic"),
                                           .limit = 50});
    CHECK_INT(r.n, 1);
    CHECK_STR(r.v[0].memory.content, S("the tram of day 7"));
}

TEST(messages_crowd_no_memory_out_of_memories)
{
    enum { MANY = 20100 };
    ENGINE(e, s, p);
    struct message *v = NEW_N(&ctx->arena, struct message, MANY);
    for (int i = 0; i < MANY; i++)
        v[i] = (struct message){.id = str_printf(&ctx->arena, "m%d", i),
                                .role = S("user"),
                                .text = S("the tram"),
                                .created = may};
    struct bundle b = {.pool = mine,
                       .session = {.id = S("talk")},
                       .messages = v,
                       .n_messages = MANY};
    CHECK_OK(store_write(ctx, s, &b));
    remember(ctx, e, "takes the tram to work");
    CHECK(recall_question(ctx, e, "tram", anyhow).n > 0);
    struct recall_out r =
        recall_question(ctx, e, "tram", (struct recall_in){.only.memories = true});
    CHECK_INT(r.n, 1);
    CHECK_STR(r.v[0].memory.content, S("takes the tram to work"));
}

TEST(the_context_of_a_question_is_the_block_of_a_chat_or_nothing)
{
    ENGINE(e, s, p);
    struct recall_out r;
    str block;
    write_session(ctx, s, mine, "work", work, may);
    remember(ctx, e, "My dog is called Rex.");
    struct recall_in in = {.pool = mine, .question = S("What is my dog called?")};
    CHECK_OK(engine_context(ctx, e, &in, &r, &block));
    CHECK(str_find(block, S("Rex")) < block.n && str_find(block, S("linker")) == block.n);
    in.question = S("Write a haiku about autumn leaves");
    CHECK_OK(engine_context(ctx, e, &in, &r, &block));
    CHECK_STR(block, S(""));
    in.pool = other_user;
    in.question = S("What is my dog called?");
    CHECK_OK(engine_context(ctx, e, &in, &r, &block));
    CHECK_STR(block, S(""));
}

/* --- the new beats the old, and what bears on a request --- */

/* One session for each, a day apart; ids are "s0-m1", "s1-m1", … */
static void stated(struct ctx *ctx, struct store *s, const char *const *texts)
{
    for (int i = 0; texts[i]; i++) {
        str session = str_printf(&ctx->arena, "s%d", i);
        struct message m = {.id = str_printf(&ctx->arena, "s%d-m1", i),
                            .session = session,
                            .role = S("user"),
                            .text = str_of(texts[i]),
                            .created = may + i * DAY_MS};
        struct bundle b = {.pool = mine,
                           .session = {.id = session},
                           .messages = &m,
                           .n_messages = 1};
        CHECK_OK(store_write(ctx, s, &b));
    }
}

/* How many lines a chat is given; `holds` stands in one of them. */
static size_t given_in(struct ctx *ctx, struct engine *e, const char *question, const char *holds)
{
    struct recall_out r = recall_question(ctx, e, question, as_chat);
    size_t n = 0;
    bool found = false;
    for (size_t i = 0; i < r.n; i++) {
        n += r.v[i].state == LINE_INJECTED;
        found |=
            r.v[i].state == LINE_INJECTED && str_find(r.v[i].text, str_of(holds)) < r.v[i].text.n;
    }
    CHECK(found || !*holds);
    return n;
}

/* Marked, and beside the later one (decisions/011). */
TEST(a_later_line_replaces_an_earlier_one)
{
    ENGINE(e, s, p);
    stated(ctx, s,
           (const char *const[]){"My favourite tea is Assam.", "My favourite tea is Sencha now.",
                                 "We live in Oslo, close to the harbour.",
                                 "We finally moved! Home is Bergen now.", NULL});
    CHECK_INT(given_in(ctx, e, "What is my favourite tea?", "Sencha now"), 2);
    given_in(ctx, e, "What is my favourite tea?", "outdated?) My favourite tea is Assam");
    CHECK(given_in(ctx, e, "Where do I live?", "Bergen") <= 2);
    CHECK_INT(given_in(ctx, e, "Where did we live before?", "We live in Oslo"), 2);
}

TEST(a_list_is_given_whole_in_whatever_words)
{
    ENGINE(e, s, p);
    stated(ctx, s,
           (const char *const[]){"I've taken up weaving at the mill.",
                                 "I go rowing twice a week now.",
                                 "I also started to play the harp.", "My sister plays chess.",
                                 "The boiler was repaired on Monday.", NULL});
    CHECK_INT(given_in(ctx, e, "What are my hobbies?", "harp"), 3);
}

TEST(whether_one_has_it_is_answered_by_what_one_has)
{
    ENGINE(e, s, p);
    stated(ctx, s,
           (const char *const[]){"Our hamster is called Otis.", "My daughter Mia turned four.",
                                 "My bike is crimson.", "I'm allergic to wasp stings.", NULL});
    CHECK_INT(given_in(ctx, e, "Do I have any pets?", "Otis"), 1);
    CHECK_INT(given_in(ctx, e, "Do we have kids?", "Mia"), 1);
    CHECK_INT(given_in(ctx, e, "Does my uncle have any pets?", ""), 0);
}

TEST(health_is_given_where_it_matters)
{
    ENGINE(e, s, p);
    stated(ctx, s,
           (const char *const[]){"By the way, I'm allergic to walnuts.", "My bike is crimson.",
                                 NULL});
    CHECK_INT(given_in(ctx, e, "Suggest a dessert for tonight.", "walnuts"), 1);
    CHECK_INT(given_in(ctx, e, "Compute 17 times 23", ""), 0);
    CHECK_INT(given_in(ctx, e, "Write a C function that reverses a list.", ""), 0);
}

TEST(advice_gets_the_few_facts_that_bear_on_it)
{
    ENGINE(e, s, p);
    stated(ctx, s,
           (const char *const[]){"We live in Ghent with two toddlers.", "My bike is crimson.",
                                 NULL});
    CHECK_INT(given_in(ctx, e, "Recommend a restaurant nearby", "Ghent"), 1);
}

/* A space of more messages than a word may have. */
TEST(a_word_that_stands_in_every_message_finds_the_newest)
{
    enum { SESSIONS = 41, EACH = 500 };
    ENGINE(e, s, p);
    for (size_t i = 0; i < SESSIONS; i++) {
        CLEANUP(ctx_free) struct ctx own = {0};
        struct message m[EACH];
        for (size_t k = 0; k < EACH; k++)
            m[k] = (struct message){.text = str_printf(&own.arena, "porto %zu-%zu", i, k),
                                    .role = S("user"),
                                    .created = may + (int64_t)i};
        struct bundle b = {.pool = mine,
                           .session = {.id = str_printf(&own.arena, "s%zu", i)},
                           .messages = m,
                           .n_messages = EACH};
        CHECK_OK(store_write(&own, s, &b));
    }
    struct recall_out r = recall_question(ctx, e, "porto", anyhow);
    CHECK(r.n > 0);
    for (size_t i = 0; i < r.n; i++)
        CHECK(r.v[i].message.created >= may + SESSIONS - 4); /* of the newest 2,000 */
}

TEST(a_wish_counts_where_the_question_is_not_about_what_was)
{
    static const struct {
        const char *role, *said, *question;
        int is_wish;
    } cases[] = {
        {"user", "I prefer sneakers with a sleek look.", "Suggest some sneakers.", 1},
        {"user", "I prefer sneakers with a sleek look.", "Which sneakers did I buy?", 0},
        {"user", "I prefer sneakers with a sleek look.", "Summarise what I said of sneakers.", 0},
        {"user", "Always tell me the price of sneakers.", "Which sneakers suit me?", 1},
        {"user", "Thanks. Please never show red sneakers.", "Which sneakers suit me?", 1},
        {"user", "I have always worn sneakers.", "Which sneakers suit me?", 0},
        {"user", "Ich bevorzuge Sneakers aus Leder.", "Empfiehl mir Sneakers.", 1},
        {"assistant", "Many people prefer white sneakers.", "Which sneakers suit me?", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ENGINE(e, s, p);
        struct message m = {.text = str_of(cases[i].said), .role = str_of(cases[i].role)};
        struct bundle b = {.pool = mine,
                           .session = {.id = S("s")},
                           .messages = &m,
                           .n_messages = 1};
        CHECK_OK(store_write(ctx, s, &b));
        struct recall_out r = recall_question(ctx, e, cases[i].question, anyhow);
        CHECK_INT(r.n, 1);
        CHECK_INT(recalled_signal(&r.v[0], "wish") > 0, cases[i].is_wish);
    }
}
