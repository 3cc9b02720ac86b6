/* distil_facts.c - which facts are trusted, kept as unconfirmed, merged, dated and replaced. */
#include <math.h>

#include "engine/recall/block.h"
#include "lib/distillery.h"

/* --- how far the user's words support a line --- */

/* What someone said, and lines that a model made of it. */
struct spoken {
    const char *said, *answer;
    struct {
        const char *line;
        enum support least, most;
    } lines[8];
};

#define HONEST(LINE)                                                                               \
    {                                                                                              \
        LINE, SUPPORT_FULL, SUPPORT_FULL                                                           \
    }
#define FREE(LINE)                                                                                 \
    {                                                                                              \
        LINE, SUPPORT_WEAK, SUPPORT_FULL                                                           \
    } /* in words of the model's own */
#define MADE_UP(LINE)                                                                              \
    {                                                                                              \
        LINE, SUPPORT_NONE, SUPPORT_WEAK                                                           \
    }
#define OTHERS(LINE)                                                                               \
    {                                                                                              \
        LINE, SUPPORT_NONE, SUPPORT_NONE                                                           \
    }

static const struct spoken talks[] = {
    {"I count every penny before I spend it, and walk to work at the office to save the bus fare.",
     "That adds up over a year.",
     {HONEST("User walks to the office to save the bus fare"), FREE("User is careful with money"),
      FREE("User lives frugally"), MADE_UP("User drives a sports car"),
      MADE_UP("User works at Globex"), MADE_UP("User works as a plumber"),
      MADE_UP("User has 3 children")}},
    {"My boss shouts in every meeting and then I snap at my kids when I come home.",
     "Anger at work often comes home with us.",
     {FREE("User struggles with anger at work"), FREE("User brings stress from the job home"),
      HONEST("User's boss shouts in meetings"), FREE("User is a parent"),
      MADE_UP("User plans to move to Oslo")}},
    {"I use Postgres for the shop since MySQL lost an order of mine last year.",
     "Have you looked at CockroachDB?",
     {HONEST("User uses PostgreSQL for the shop"), FREE("User switched databases"),
      HONEST("User lost an order with MySQL"), OTHERS("User uses CockroachDB"),
      MADE_UP("User uses Oracle for the shop")}},
    {"Ich heiße Anna, wohne in Köln und arbeite als Krankenpflegerin auf der Intensivstation.",
     "Das ist ein anstrengender Beruf.",
     {HONEST("Nutzerin heißt Anna"), HONEST("Die Nutzerin wohnt in Köln"),
      HONEST("Der Benutzer arbeitet als Krankenpfleger"), HONEST("User's name is Anna"),
      FREE("User is a nurse"), FREE("User lives in Cologne"), MADE_UP("Nutzerin wohnt in Hamburg"),
      MADE_UP("User lives in Vienna")}},
    {"Ich bin seit Jahren Vegetarierin und vertrage leider keine Milch.",
     "Dann passt Hafermilch.",
     {HONEST("Nutzerin ist Vegetarierin"), FREE("User is a vegetarian"),
      FREE("Nutzerin hat eine Laktoseintoleranz"), HONEST("Nutzerin verträgt keine Milch"),
      MADE_UP("Nutzerin hat drei Hunde")}},
    {"Me llamo Lucía, vivo en Sevilla y trabajo de enfermera en el Hospital Macarena.",
     "Encantada, Lucía.",
     {HONEST("La usuaria se llama Lucía"), HONEST("La usuaria vive en Sevilla"),
      HONEST("El usuario trabaja como enfermero en el Hospital Macarena"),
      HONEST("User's name is Lucía"), FREE("User works as a nurse"),
      MADE_UP("La usuaria vive en Bogotá"), MADE_UP("User lives in Barcelona")}},
    {"We finally signed the lease, so from May on the bakery has its own shop on Mill Lane.",
     "Congratulations!",
     {HONEST("User runs a bakery"), HONEST("The bakery moves into a shop on Mill Lane in May"),
      MADE_UP("User sells wedding dresses"), MADE_UP("User's bakery is in Leeds")}},
    {"Since the knee operation I can't run any more, so I took up swimming three times a week.",
     "Swimming is kind to joints.",
     {HONEST("User swims three times a week"), HONEST("User had knee surgery"),
      HONEST("User gave up running after a knee operation"), MADE_UP("User broke an arm"),
      MADE_UP("User swims 5 times a week")}},
    {"Mein Sohn Jonas kommt im Herbst in die Schule, und ich arbeite dann nur noch halbtags bei "
     "Siemens.",
     "Das ist eine große Umstellung.",
     {HONEST("Der Sohn des Nutzers heißt Jonas"), HONEST("Nutzer arbeitet bei Siemens"),
      FREE("Nutzer reduziert ab Herbst auf Teilzeit"), HONEST("User has a son named Jonas"),
      FREE("User works part-time at Siemens"), MADE_UP("Nutzer arbeitet bei Bosch"),
      MADE_UP("Der Sohn des Nutzers heißt Lukas")}},
    {"Tengo dos perros, Luna y Tobi, y cada mañana corro con ellos por el parque antes de "
     "trabajar.",
     "Qué bien empezar así el día.",
     {HONEST("El usuario tiene dos perros llamados Luna y Tobi"),
      HONEST("El usuario corre cada mañana en el parque con sus perros"),
      HONEST("User has two dogs, Luna and Tobi"), FREE("User jogs every morning"),
      MADE_UP("El usuario tiene un gato"), MADE_UP("User has a dog named Max")}},
    {"Do you like figs? I have a boat.",
     "No. You live in Paris with Marie, and you work at Globex.",
     {HONEST("User has a boat"), OTHERS("User likes figs"), OTHERS("User lives with Marie"),
      OTHERS("User works at Globex"), OTHERS("Does the user have a boat?"),
      MADE_UP("User keeps bees")}},
};

static struct told_words told_of(struct ctx *ctx, const struct spoken *t,
                                 struct pending_signal *signal)
{
    *signal =
        (struct pending_signal){.message = {.text = str_of(t->said)}, .answer = str_of(t->answer)};
    struct distilling d = {.session = S("s"), .signals = signal, .n = 1};
    return told_words_of(&ctx->arena, &d);
}

TEST(paraphrases_are_kept_and_inventions_are_not_trusted)
{
    for (size_t i = 0; i < sizeof talks / sizeof *talks; i++) {
        struct pending_signal signal;
        struct told_words told = told_of(ctx, &talks[i], &signal);
        for (size_t k = 0; k < 8 && talks[i].lines[k].line; k++) {
            str line = str_of(talks[i].lines[k].line);
            enum support got = support_of(&ctx->arena, &told, line, S(""));
            if (got < talks[i].lines[k].least || got > talks[i].lines[k].most)
                fail_msg("%s: %d", line.p, (int)got);
        }
    }
}

/* A quote that is there and one word in common are enough; names must be the user's even so. */
TEST(a_quote_of_the_user_supports_a_paraphrase)
{
    struct pending_signal signal;
    struct told_words told = told_of(ctx, &talks[0], &signal);
    static const struct {
        const char *line, *quote;
        enum support support;
    } cases[] = {
        {"User saves wherever possible and lives frugally", "to save the bus fare", SUPPORT_FULL},
        {"User saves wherever possible and lives frugally", "To save the BUS fare!", SUPPORT_FULL},
        {"User saves wherever possible and lives frugally", "", SUPPORT_WEAK},
        {"User saves wherever possible and lives frugally", "I save all my money", SUPPORT_WEAK},
        {"User saves wherever possible and lives frugally", "save", SUPPORT_WEAK},
        {"User keeps bees", "I count every penny", SUPPORT_WEAK},
        {"User saves for a house in Oslo", "to save the bus fare", SUPPORT_WEAK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum support got =
            support_of(&ctx->arena, &told, str_of(cases[i].line), str_of(cases[i].quote));
        if (got != cases[i].support)
            fail_msg("%s / %s: %d", cases[i].line, cases[i].quote, (int)got);
    }
}

/* --- no session is given up --- */

#define ABOUT(SUMMARY) "{\"episode\":{\"summary\":\"" SUMMARY "\"}"

TEST(an_english_summary_of_a_german_talk_is_kept)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = ABOUT("The user is planning a move to a smaller flat and asked how to sell "
                             "old furniture quickly.") WHO("User heißt Anna") "}"});
    CHECK_STR(ingest(&b, "c1",
                     "Ich heiße Anna. Ich ziehe bald in eine kleinere Wohnung um und muss vorher "
                     "meine alten Möbel loswerden, am liebsten schnell und gegen Geld.",
                     "Kleinanzeigen sind dafür gut, und Fotos bei Tageslicht helfen sehr.", 0)
                  .distillation,
              S("distilled"));
    CHECK(holds(layer_of(&b, "episode"), "smaller flat"));
    CHECK_STR(layer_of(&b, "identity"), S("User heißt Anna"));
    CHECK_INT(m->app.calls, 1);
}

TEST(a_summary_in_other_words_is_kept_at_once)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = ABOUT("They struggle with anger at work and want techniques for calming "
                             "down before arguments escalate.") "}"});
    CHECK_STR(ingest(&b, "c1",
                     "My boss yells during every single meeting. Yesterday it happened again, I "
                     "slammed the door and left. How can I keep it together next time?",
                     "Breathe out slowly, count to ten, and leave the room before you reply.", 0)
                  .distillation,
              S("distilled"));
    CHECK_INT(m->app.calls, 1);
    CHECK(layer_of(&b, "episode").n > 0);
}

/* A copied summary is asked for once more; then the session is done without one. */
TEST(a_copied_summary_gives_no_session_up)
{
    DISTILLERY(b);
    m->app.answer =
        S(EPISODE("Ann moved to Lisbon.") PINNED FACT("User needs a small database") "]}");
    chat(&b, "s1", "I am Ann and I moved to Lisbon" LONG, "Good");
    sync_and_distil(&b);
    chat(&b, "s2", "Which database suits my shop? I need a small database" LONG, "A small one");
    sync_and_distil(&b);
    CHECK(holds(last_work(&b), "error: answer: the summary describes another conversation"));
    sync_and_distil(&b);
    CHECK(holds(last_work(&b), "success: pinned=1"));
    CHECK_INT(m->app.calls, 3);
    CHECK_INT(status_of(&b).signals.signals, 0);
    CHECK_STR(layer_of(&b, "episode"), S("Ann moved to Lisbon."));
    CHECK(holds(layer_of(&b, "fact"), "User needs a small database"));
}

/* --- what is not confirmed --- */

static struct memory memory_with(struct bench *b, const char *text)
{
    struct ctx *ctx = b->ctx;
    struct memory_filter f = {.pool = mine,
                              .contains = str_of(text),
                              .limit = 10,
                              .with_closed = true};
    struct memory *v;
    size_t n;
    int64_t total;
    CHECK_OK(engine_list(ctx, b->e, &f, &v, &n, &total));
    if (!n)
        fail_msg("no memory: %s", text);
    return n ? v[0] : (struct memory){0};
}

TEST(what_nothing_confirms_weighs_little_and_is_shown_as_such)
{
    DISTILLERY(b);
    SCRIPT(b,
           {.text = ABOUT("The user bought a boat.") PINNED
            "{\"content\":\"User keeps bees\",\"salience\":0.95}]" WHO("User is a beekeeper") "}"});
    ingest(&b, "c1", "I bought a boat" LONG, "Good", 1760000000000);
    struct memory bees = memory_with(&b, "keeps bees"), who = memory_with(&b, "beekeeper");
    CHECK(memory_is_unconfirmed(&bees) && memory_is_unconfirmed(&who));
    CHECK(bees.importance <= UNCONFIRMED_MOST && who.importance <= UNCONFIRMED_MOST);
    CHECK_INT(who.layer, LAYER_FACT); /* identity lines are in every chat */
    CHECK(holds(last_work(&b), " unconfirmed=2"));
    struct recalled shown = {.is_memory = true, .memory = bees, .state = LINE_INJECTED};
    CHECK(holds(block_render(&ctx->arena, &shown, 1, 800, clock_ms()), "not confirmed"));
}

TEST(what_the_user_says_later_confirms_it)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = ABOUT("A boat.") PINNED FACT("User keeps bees at home") "]}"},
           {.text = ABOUT("Bees.") PINNED FACT("User keeps bees at home") "]}"});
    ingest(&b, "c1", "I bought a boat" LONG, "Good", 1760000000000);
    CHECK(memory_is_unconfirmed(&(struct memory){.origin = ORIGIN_DISTILLED,
                                                 .metadata = memory_with(&b, "bees").metadata}));
    ingest(&b, "c2", "I keep bees at home" LONG, "Good", 1760100000000);
    CHECK_STR(layer_of(&b, "fact"), S("User keeps bees at home"));
    struct memory_filter f = {.pool = mine, .layer = S("fact"), .contains = S("bees"), .limit = 10};
    struct memory *v;
    size_t n;
    int64_t total;
    CHECK_OK(engine_list(ctx, e, &f, &v, &n, &total));
    CHECK(n == 1 && !memory_is_unconfirmed(&v[0]) && v[0].importance > UNCONFIRMED_MOST);
}

TEST(what_is_not_confirmed_replaces_nothing)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = ABOUT("Work.") WHO("User works at Acme") "}"},
           {.text = ABOUT("A boat.") ",\"identity_facts\":[{\"content\":\"User works at Globex\","
                                     "\"replaces\":[\"u1\"]}]}"});
    ingest(&b, "c1", "I work at Acme" LONG, "Good", 1760000000000);
    ingest(&b, "c2", "I bought a boat" LONG, "Good", 1760100000000);
    CHECK_STR(layer_of(&b, "identity"), S("User works at Acme"));
}

/* --- weights and kinds --- */

TEST(no_fact_is_lost_for_its_weight)
{
    static const char *const said[] = {"\"high\"", "\"0.8\"", "\"80 %\"",
                                       "0.1",      "{}",      "\"very much\""};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        DISTILLERY(b);
        str answer = str_printf(&ctx->arena,
                                ABOUT("A boat.") PINNED "{\"content\":\"User has a boat\","
                                                        "\"salience\":%s,\"tags\":{\"a\":1}}]}",
                                said[i]);
        m->app.answer = answer;
        ingest(&b, "c1", "I have a boat" LONG, "Good", 0);
        CHECK_INT(m->app.calls, 1);
        CHECK_STR(layer_of(&b, "fact"), S("User has a boat"));
        if (i < 3)
            CHECK(fabs(memory_with(&b, "has a boat").importance - 0.8) < 1e-9);
    }
}

TEST(a_fact_has_the_kind_that_the_model_or_a_rule_gives_it)
{
    static const struct {
        const char *line, *said;
        enum memory_kind kind;
    } cases[] = {
        {"User brews coffee with a paper filter", "procedure", KIND_PROCEDURE},
        {"User brews coffee with a paper filter", "Procedures", KIND_PROCEDURE},
        {"User brews coffee with a paper filter", "workflow", KIND_PROCEDURE},
        {"User has a cat", "pet", KIND_ENTITY},
        {"User has a cat", "Relationship", KIND_RELATIONSHIP},
        {"User has a cat", "family", KIND_RELATIONSHIP},
        {"User's sister is Anna", "", KIND_RELATIONSHIP},
        {"User's sister is Anna", "gossip", KIND_RELATIONSHIP},
        {"User prefers tea", "", KIND_PREFERENCE},
        {"User plans to sail", "something", KIND_CONTEXT},
        {"User has a cat", "", KIND_FACT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct memory fact = {.content = str_of(cases[i].line)};
        CHECK_INT(distil_kind(&ctx->arena, &fact, str_of(cases[i].said)), cases[i].kind);
    }
}

/* --- what is known already --- */

TEST(a_fact_closes_what_the_model_names_as_replaced)
{
    DISTILLERY(b);
    SCRIPT(b,
           {.text = ABOUT("Tea.") PINNED FACT("User drinks green tea") "," FACT(
                "User cycles to work") "," FACT("User plays chess") "]}"},
           {.text = ABOUT("Coffee.") PINNED "{\"content\":\"User has switched to coffee\","
                                            "\"replaces\":\"User drinks green tea.\"}]}"},
           {.text = ABOUT("Bus.") PINNED "{\"content\":\"User takes the bus every day\","
                                         "\"replaces\":[\"f1\",\"f99\",\"nonsense\"]}]}"});
    ingest(&b, "c1", "I drink green tea, I cycle to work and I play chess" LONG, "Good",
           1760000000000);
    ingest(&b, "c2", "I have switched to coffee now" LONG, "Good", 1760100000000);
    CHECK(holds(str_of(m->app.user), "\"known_fact\":\"User drinks green tea\",\"id\":\"f"));
    CHECK(!holds(layer_of(&b, "fact"), "green tea") && holds(layer_of(&b, "fact"), "coffee"));
    CHECK_STR(memory_with(&b, "green tea").superseded_by, memory_with(&b, "coffee").id);
    CHECK(holds(last_work(&b), " replaced=1"));
    ingest(&b, "c3", "I take the bus every day instead of cycling" LONG, "Good", 1760200000000);
    struct memory_filter f = {.pool = mine, .layer = S("fact"), .limit = 10};
    struct memory *v;
    size_t n;
    int64_t total;
    CHECK_OK(engine_list(ctx, e, &f, &v, &n, &total));
    CHECK_INT(n, 3); /* the one that was shown first is closed, whichever it is */
}

TEST(what_a_program_added_and_what_is_newer_is_not_replaced)
{
    DISTILLERY(b);
    SCRIPT(b,
           {.text = ABOUT("Coffee.") PINNED "{\"content\":\"User has switched to coffee\","
                                            "\"replaces\":[\"User drinks green tea\"]}]}"},
           {.text = ABOUT("Tea.") PINNED "{\"content\":\"User was fond of cocoa then\","
                                         "\"replaces\":[\"User has switched to coffee\"]}]}"});
    struct memory tea = {.content = S("User drinks green tea"), .origin = ORIGIN_API};
    CHECK_OK(engine_add(ctx, e, mine, &tea));
    ingest(&b, "c1", "I have switched to coffee now" LONG, "Good", clock_ms());
    ingest(&b, "c2", "I was fond of cocoa then" LONG, "Good", 1000000000000);
    CHECK_INT(memory_with(&b, "green tea").valid_to, 0);
    CHECK_INT(memory_with(&b, "coffee").valid_to, 0);
}

/* Nor is it changed, when the same answer says it and more. */
TEST(what_a_program_added_keeps_its_words)
{
    DISTILLERY(b);
    SCRIPT(b, {.text = ABOUT("Tea.") PINNED FACT("User drinks green tea") "," FACT(
                   "User drinks green tea from Japan") "]}"});
    struct memory tea = {.content = S("User drinks green tea"), .origin = ORIGIN_API};
    CHECK_OK(engine_add(ctx, e, mine, &tea));
    ingest(&b, "c1", "I drink green tea, green tea from Japan" LONG, "Good", clock_ms());
    CHECK_OK(engine_get(ctx, e, mine, tea.id, &tea));
    CHECK_STR(layer_of(&b, "fact"), S("User drinks green tea from Japan"));
    CHECK_STR(tea.content, S("User drinks green tea"));
}

TEST(what_a_pattern_found_in_the_same_talk_is_one_row)
{
    DISTILLERY(b);
    chat(&b, "s1", "I prefer green tea." LONG, "Good");
    struct memory_filter f = {.pool = mine,
                              .layer = S("fact"),
                              .contains = S("green tea"),
                              .limit = 10};
    struct memory *v;
    size_t n;
    int64_t total;
    CHECK_OK(engine_list(ctx, e, &f, &v, &n, &total));
    CHECK_INT(n, 1);
    str id = v[0].id, text = v[0].content, key = v[0].key;
    m->app.answer =
        str_printf(&ctx->arena,
                   ABOUT("Tea.") PINNED "{\"content\":\"" S_FMT "\",\"salience\":0.9}]}",
                   S_ARG(text));
    sync_and_distil(&b);
    CHECK_OK(engine_list(ctx, e, &f, &v, &n, &total));
    CHECK_INT(n, 1);
    CHECK_STR(v[0].id, id);
    CHECK_STR(v[0].key, key);
    CHECK(holds(v[0].metadata, "\"origins\":[\"user\",\"distilled\"]"));
    CHECK(holds(v[0].metadata, "user_message")); /* what the pattern noted stays */
    CHECK_INT(v[0].origin, ORIGIN_USER);
}

/* The user's words and the model's are not the same, and say the same. */
TEST(a_patterns_words_and_the_models_are_one_row)
{
    static const struct {
        const char *said, *line;
    } cases[] = {
        {"My dog is called Rex." LONG, "User's dog is named Rex"},
        {"I love green tea." LONG, "User enjoys green tea"},
        {"My sister is called Ines." LONG, "User's sister is named Ines"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        DISTILLERY(b);
        chat(&b, "s1", cases[i].said, "Good");
        struct memory_filter f = {.pool = mine, .layer = S("fact"), .limit = 10};
        struct memory *v;
        size_t n;
        int64_t total;
        CHECK_OK(engine_list(ctx, e, &f, &v, &n, &total));
        CHECK_INT(n, 1);
        m->app.answer =
            str_printf(&ctx->arena, ABOUT("Talk.") PINNED "{\"content\":\"%s\"}]}", cases[i].line);
        sync_and_distil(&b);
        CHECK_OK(engine_list(ctx, e, &f, &v, &n, &total));
        if (n != 1)
            fail_msg("%s / %s", v[0].content.p, v[1].content.p);
        CHECK(holds(v[0].metadata, "\"origins\""));
        check_healthy(ctx, s);
    }
}

/* The prompt shows what is known, and small models give it back. */
TEST(what_the_model_only_repeats_is_no_newer)
{
    DISTILLERY(b);
    m->app.answer = S(ABOUT("Work.") PINNED FACT("User plays chess at the club") "]" WHO(
        "User works at Acme") "}");
    ingest(&b, "c1", "I work at Acme and I play chess at the club" LONG, "Good", 1760000000000);
    ingest(&b, "c2", "I bought a boat" LONG, "Good", 1770000000000);
    CHECK_INT(memory_with(&b, "Acme").created, 1760000000000);
    CHECK_INT(memory_with(&b, "chess").created, 1760000000000);
    ingest(&b, "c3", "I still work at Acme" LONG, "Good", 1780000000000);
    CHECK_INT(memory_with(&b, "Acme").created, 1780000000000);
    CHECK_INT(memory_with(&b, "chess").created, 1760000000000);
    check_healthy(ctx, s);
}

/* Changes or erases a memory while the model answers. */
struct hand {
    struct bench *b;
    str id;
    bool erases;
    int times;
};

static void act(void *own)
{
    struct hand *h = own;
    struct ctx mine_too = {0};
    struct memory now;
    int64_t n;
    struct forget what = {.pool = mine, .id = h->id};
    struct change change = {.pool = mine,
                            .id = h->id,
                            .what = CHANGE_CONTENT,
                            .to.content = S("User directs a choir")};
    enum status s = h->times++  ? OK
                    : h->erases ? engine_forget(&mine_too, h->b->e, &what, &n)
                                : engine_change(&mine_too, h->b->e, &change, &now);
    if (s != OK)
        abort();
    ctx_free(&mine_too);
}

/* The model was shown the old line, and says it again: it is asked once more, without it. */
TEST(what_is_changed_or_erased_while_the_model_answers_does_not_come_back)
{
    static const char *const lines[] = {"User works at Acme", "User plays chess at the club"};
    for (int i = 0; i < 4; i++) {
        DISTILLERY(b);
        m->app.answer = S(ABOUT("Work.") PINNED FACT("User plays chess at the club") "]" WHO(
            "User works at Acme") "}");
        ingest(&b, "c1", "I work at Acme and I play chess at the club" LONG, "Good", 1760000000000);
        struct hand hand = {&b, memory_with(&b, lines[i & 1]).id, i < 2, 0};
        m->app.own = &hand;
        m->app.meanwhile = act;
        CHECK_STR(ingest(&b, "c2", "I bought a boat" LONG, "Good", 1770000000000).distillation,
                  S("pending:changed_meanwhile"));
        m->app.answer = S(ABOUT("Boats.") "}");
        sync_and_distil(&b);
        CHECK_INT(hand.times, 2);
        CHECK_INT(status_of(&b).signals.signals, 0);
        str kept = str_printf(&ctx->arena, S_FMT " " S_FMT, S_ARG(layer_of(&b, "identity")),
                              S_ARG(layer_of(&b, "fact")));
        CHECK(!holds(kept, lines[i & 1]) && holds(kept, lines[!(i & 1)]));
        CHECK(holds(kept, "choir") == (i >= 2));
        check_healthy(ctx, s);
    }
}
