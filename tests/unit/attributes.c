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
