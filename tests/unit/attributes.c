/* attributes.c - which attribute a question asks for, what tells of it, what bears on a request. */
#include "engine/text/attributes.h"

#include "lib/store.h"

static uint32_t told(struct ctx *ctx, const char *statement)
{
    struct words w = words_of(&ctx->arena, str_of(statement), 100);
    return attributes_told(&w);
}

TEST(a_question_and_its_statements_share_an_attribute)
{
    static const struct {
        uint32_t attribute;
        const char *question, *statement;
    } pairs[] = {
        {ATTRIBUTE_BIT(home), "Where do I live?", "Home is Porto these days."},
        {ATTRIBUTE_BIT(home), "Where does my aunt live?", "My aunt moved to Graz."},
        {ATTRIBUTE_BIT(home), "Wo wohne ich?", "Ich bin nach Ulm umgezogen."},
        {ATTRIBUTE_BIT(job), "What do I do for work?", "I teach swimming to toddlers."},
        {ATTRIBUTE_BIT(hobbies), "What are my hobbies?", "I've taken up weaving and judo."},
        {ATTRIBUTE_BIT(pets), "Which pets do we have?", "A hamster called Otis moved in."},
        {ATTRIBUTE_BIT(vehicle), "What car do I have?", "The old Skoda starts again."},
        {ATTRIBUTE_BIT(languages), "Which languages do I speak?", "I speak Basque."},
        {ATTRIBUTE_BIT(health), "What am I allergic to?", "Wasp stings send me to hospital."},
        {ATTRIBUTE_BIT(marriage), "Am I married?", "Ravi and I are engaged."},
        {ATTRIBUTE_BIT(boss), "Who is my boss?", "My manager is Ines."},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        CHECK(attributes_asked(&ctx->arena, str_of(pairs[i].question)) & pairs[i].attribute);
        CHECK(told(ctx, pairs[i].statement) & pairs[i].attribute);
    }
}

static uint32_t told_so(struct ctx *ctx, const char *statement)
{
    return attributes_told_so(&ctx->arena, str_of(statement));
}

TEST(the_form_of_a_statement_tells)
{
    static const char *const jobs[] = {"I'm in payroll at a dairy.",
                                       "We run a tiny bookshop.",
                                       "I own a bar by the harbour.",
                                       "I operate the big crane.",
                                       "I bake cakes for a hotel.",
                                       "I carve spoons for a living.",
                                       "Ich leite eine kleine Werkstatt.",
                                       "Je tiens une boulangerie.",
                                       NULL};
    static const char *const medicines[] = {"I take 20 mg of citalopram at night.",
                                            "The GP put me on ramelteon.",
                                            "My doctor has prescribed me something new.",
                                            "Ich nehme 5 mg davon.", NULL};
    static const char *const none[] = {"I bought bread at the bakery.",
                                       "They put me up for two nights.",
                                       "The school is closed today.",
                                       "I run along the canal.",
                                       "I read it on my tablet.",
                                       "We take the tram to the studio.",
                                       NULL};
    for (const char *const *s = jobs; *s; s++)
        CHECK(told_so(ctx, *s) & ATTRIBUTE_BIT(job));
    for (const char *const *s = medicines; *s; s++)
        CHECK(told_so(ctx, *s) & ATTRIBUTE_BIT(health));
    for (const char *const *s = none; *s; s++)
        CHECK_INT(told_so(ctx, *s), 0);
    CHECK(told_so(ctx, "My two lads are 9 and 6.") & ATTRIBUTE_BIT(children));
    CHECK(told_so(ctx, "Ich vertrage keine Nüsse.") & ATTRIBUTE_BIT(health));
    CHECK(told_so(ctx, "Strawberries bring me out in hives.") & ATTRIBUTE_BIT(health));
    CHECK(told_so(ctx, "I got the raise!") & ATTRIBUTE_BIT(money));
    CHECK_INT(told(ctx, "I keep bees, four hives by the orchard."), 0);
    CHECK_INT(told(ctx, "Grandma raised me."), 0);
}

TEST(whether_one_has_it_asks_for_it)
{
    static const struct {
        uint32_t attribute;
        const char *question;
    } asks[] = {
        {ATTRIBUTE_BIT(pets), "Do I have any pets?"},
        {ATTRIBUTE_BIT(pets), "Does my aunt still keep a cat?"},
        {ATTRIBUTE_BIT(pets), "Have we got a dog?"},
        {ATTRIBUTE_BIT(pets), "Haben wir noch eine Katze?"},
        {ATTRIBUTE_BIT(pets), "Est-ce que j'ai des animaux ?"},
        {ATTRIBUTE_BIT(pets), "¿Tengo mascotas?"},
        {ATTRIBUTE_BIT(children), "Do we have kids?"},
        {ATTRIBUTE_BIT(children), "Habe ich Kinder?"},
        {ATTRIBUTE_BIT(children), "Tenho filhos?"},
        {ATTRIBUTE_BIT(vehicle), "Do I own a car?"},
        {ATTRIBUTE_BIT(vehicle), "J'ai une voiture ?"},
        {ATTRIBUTE_BIT(hobbies), "Do I play any instrument?"},
        {ATTRIBUTE_BIT(marriage), "Do I have a girlfriend?"},
        {ATTRIBUTE_BIT(money), "What do I earn?"},
    };
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
        CHECK(attributes_asked(&ctx->arena, str_of(asks[i].question)) & asks[i].attribute);
    CHECK_INT(attributes_asked(&ctx->arena, S("Does the node have any children?")), 0);
    CHECK_INT(attributes_asked(&ctx->arena, S("Do cars have a horn?")), 0);
}

TEST(medicine_is_asked_for_in_several_words)
{
    static const char *const asks[] = {"Which drugs do I take?",
                                       "Do I take any pills?",
                                       "What was I prescribed?",
                                       "What did my doctor prescribe?",
                                       "Am I on any medication?",
                                       "What is my prescription?",
                                       NULL};
    for (const char *const *q = asks; *q; q++)
        CHECK(attributes_asked(&ctx->arena, str_of(*q)) & ATTRIBUTE_BIT(health));
}

TEST(other_questions_ask_for_none)
{
    static const char *const none[] = {"What is the capital of Peru?", "Explain tides to a child.",
                                       "How do I sort a list in Python?", "Thanks!", NULL};
    for (const char *const *q = none; *q; q++)
        CHECK_INT(attributes_asked(&ctx->arena, str_of(*q)), 0);
}

TEST(health_bears_on_food_medicine_sport_and_travel)
{
    static const char *const requests[] = {
        "Suggest a starter for six.",       "Can I take aspirin for my back?",
        "Make me a workout for tomorrow.",  "Which cake shall I bake?",
        "Schlag mir ein Abendessen vor.",   "Propose-moi une recette.",
        "What should I pack for the trip?", NULL};
    for (const char *const *r = requests; *r; r++)
        CHECK(bearing_of(&ctx->arena, str_of(*r)).on_health);
}

/* "run" and "fit" are words of sport, and of much else. */
TEST(health_bears_on_no_question_for_a_fact)
{
    static const char *const none[] = {"What distro am I running?",
                                       "When does my passport run out?",
                                       "How do I run a node script?",
                                       "Who fitted our boiler?",
                                       "Do I eat meat?",
                                       "When is the dinner?",
                                       "Where did I put the recipe?",
                                       "What's my fastest marathon?",
                                       NULL};
    static const char *const some[] = {"Can I eat a slice of cake?",
                                       "Where can I have lunch?",
                                       "Should I run today?",
                                       "Is amoxicillin ok for me?",
                                       "Any tips for my first marathon?",
                                       "Are there nuts in pesto?",
                                       NULL};
    for (const char *const *q = none; *q; q++)
        CHECK(!bearing_of(&ctx->arena, str_of(*q)).on_health);
    for (const char *const *q = some; *q; q++)
        CHECK(bearing_of(&ctx->arena, str_of(*q)).on_health);
}

TEST(nothing_bears_on_how_it_was)
{
    static const char *const questions[] = {"What desserts has Maria made?",
                                            "Around which holiday did the trip begin?",
                                            "How did you recommend organizing my trip?",
                                            "What have we eaten in Rome?", NULL};
    static const char *const requests[] = {"Which desserts have no nuts?",
                                           "What would you cook for someone who was ill?",
                                           "I have guests. Which dinner do you suggest?",
                                           "What can I eat where we were last year?", NULL};
    for (const char *const *q = questions; *q; q++) {
        CHECK(!bearing_of(&ctx->arena, str_of(*q)).on_health);
        CHECK(!bearing_of(&ctx->arena, str_of(*q)).on_advice);
    }
    for (const char *const *q = requests; *q; q++)
        CHECK(bearing_of(&ctx->arena, str_of(*q)).on_health);
}

TEST(advice_is_told_from_tasks)
{
    static const char *const advice[] = {"Recommend a restaurant nearby", "Plan my weekend",
                                         "What should I give them for dinner?",
                                         "Any ideas for Saturday?", NULL};
    static const char *const tasks[] = {"Compute 17 times 23",
                                        "Write a C function that reverses a list.",
                                        "Suggest a regex for dates.",
                                        "Translate: 'The cake is on the table.'",
                                        "What is the difference between a meal and a snack?",
                                        "When was the marathon in Athens?",
                                        NULL};
    for (const char *const *r = advice; *r; r++)
        CHECK(bearing_of(&ctx->arena, str_of(*r)).on_advice);
    for (const char *const *r = tasks; *r; r++) {
        CHECK(!bearing_of(&ctx->arena, str_of(*r)).on_advice);
        CHECK(!bearing_of(&ctx->arena, str_of(*r)).on_health);
    }
}

/* Where one lives does not bear on a book; on a dinner with a film everything does. */
TEST(tastes_bear_on_what_one_reads_watches_and_hears)
{
    static const char *const tastes[] = {"Can you recommend a book?",
                                         "What should I read next?",
                                         "Any ideas for a film tonight?",
                                         "Which series should we watch?",
                                         "Suggest some music for a long drive",
                                         NULL};
    static const char *const others[] = {"Recommend a restaurant nearby", "Plan my weekend",
                                         "Any ideas for a dinner and a film?", NULL};
    for (const char *const *r = tastes; *r; r++) {
        struct bearing b = bearing_of(&ctx->arena, str_of(*r));
        CHECK(b.on_taste && b.on_advice && !b.on_health);
    }
    for (const char *const *r = others; *r; r++)
        CHECK(!bearing_of(&ctx->arena, str_of(*r)).on_taste);
}
