/* subject.c - whom a question is about, and whom a sentence tells of. */
#include "engine/recall/subject.h"

#include "engine/text/attributes.h"
#include "lib/store.h"

static bool fits(struct arena *a, str question, str sentence, uint32_t wanted, bool is_for_request)
{
    return subject_fits(a, question,
                        &(struct attribute_sentence){.sentence = sentence,
                                                     .before = S(""),
                                                     .wanted = wanted,
                                                     .is_for_request = is_for_request});
}

TEST(a_verb_may_say_who_asks)
{
    struct arena *a = &ctx->arena;
    CHECK(fits(a, S("¿Dónde trabajaba antes?"), S("Trabajo en mi taller."), 0, false));
    CHECK(fits(a, S("我住在哪里？"), S("我搬到杭州了。"), 0, false));
    CHECK(!fits(a, S("我住在哪里？"), S("我妹妹搬到杭州了。"), 0, false));
    CHECK(!fits(a, S("Where does one live well?"), S("I live in Oslo."), 0, false));
    CHECK(fits(a, S("Est-ce que j'ai des animaux ?"), S("J'ai un chien."), ATTRIBUTE_BIT(pets),
               false));
}

TEST(german_nouns_are_no_names)
{
    struct arena *a = &ctx->arena;
    CHECK(fits(a, S("Habe ich Haustiere?"), S("Ich habe einen Hund."), ATTRIBUTE_BIT(pets), false));
    CHECK(!fits(a, S("Wo wohnt mein Freund Otto?"), S("Ich wohne in Bonn."), 0, false));
}

TEST(one_of_a_family_is_meant_by_the_word_for_all)
{
    struct arena *a = &ctx->arena;
    const str mia = S("My daughter Mia turned four."), tom = S("My brother Tom is a plumber.");
    const str mum = S("My mum moved to Cork."), own = S("I live in Bristol.");
    CHECK(fits(a, S("Do I have any kids?"), mia, 0, false));
    CHECK(fits(a, S("How old are my children?"), mia, 0, false));
    CHECK(fits(a, S("Habe ich Kinder?"), S("Meine Tochter heißt Mia."), 0, false));
    CHECK(fits(a, S("What do my siblings do?"), tom, 0, false));
    CHECK(fits(a, S("Where do my parents live?"), mum, 0, false));
    CHECK(!fits(a, S("Where do my parents live?"), own, 0, false));
    CHECK(!fits(a, S("Where do my kids live?"), tom, 0, false));
    CHECK(!fits(a, S("Where does my son live?"), mia, 0, false));
}

/* Whose illness it is: of the one who is named last before it. */
TEST(what_is_told_is_of_the_one_named_last_before_it)
{
    struct arena *a = &ctx->arena;
    uint32_t health = ATTRIBUTE_BIT(health) | ATTRIBUTE_BIT(diet);
    static const struct {
        const char *request, *sentence;
        bool fits;
    } v[] = {
        {"Suggest a dessert", "My friend Ana came by and I told her I am allergic to nuts.", true},
        {"Suggest a dessert", "Turns out all that scratching, Hank is allergic to chicken.", false},
        {"Suggest a dessert", "My cat is on insulin twice a day.", false},
        {"Suggest a dessert", "My wife Carlene is diabetic.", true},
        {"Suggest a dessert", "My kid sister Chisom has asthma.", false},
        {"Suggest a dessert for Chisom", "My kid sister Chisom has asthma.", true},
        {"Suggest a dessert for us all", "My kid sister Chisom has asthma.", true},
        {"Suggest a dessert", "We live in Leeds and I am allergic to nuts.", true},
        {"Schlag ein Dessert vor", "Ich vertrage keine Laktose.", true},
        {"Suggest a dessert", "The test came back and it's diabetes.", true},
    };
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        if (fits(a, str_of(v[i].request), str_of(v[i].sentence), health, true) != v[i].fits)
            fail_msg("%s / %s", v[i].request, v[i].sentence);
}

/* An allergy is of anybody who may eat with the asker, but not of an animal. */
TEST(an_allergy_of_anybody_counts_for_a_meal)
{
    static const char *const people[] = {"Leela has a severe peanut allergy.",
                                         "My friend Ana is allergic to nuts.", NULL};
    struct attribute_sentence of = {.before = S(""),
                                    .wanted = ATTRIBUTE_BIT(health),
                                    .is_for_request = true};
    str request = S("I want to bake cookies for the bake sale");
    for (const char *const *text = people; *text; text++) {
        of.sentence = str_of(*text);
        of.is_grave = false;
        CHECK(!subject_fits(&ctx->arena, request, &of));
        of.is_grave = true;
        CHECK(subject_fits(&ctx->arena, request, &of));
    }
    of.sentence = S("My cat is allergic to fish.");
    CHECK(!subject_fits(&ctx->arena, request, &of));
}

TEST(she_is_whom_the_sentence_before_names)
{
    struct arena *a = &ctx->arena;
    const struct attribute_sentence hers = {.sentence = S("She is allergic to penicillin."),
                                            .before = S("My sister Ana has a new hip. "),
                                            .wanted = ATTRIBUTE_BIT(health)};
    CHECK(!subject_fits(a, S("Am I allergic to anything?"), &hers));
    CHECK(subject_fits(a, S("What is my sister allergic to?"), &hers));
    CHECK(subject_fits(a, S("What is Ana allergic to?"), &hers));
}

TEST(the_boss_is_nobody_else_where_the_boss_is_asked_for)
{
    struct arena *a = &ctx->arena;
    str said = S("We charged them twice, priya (my manager) wants it by noon.");
    CHECK(fits(a, S("What's my boss's name?"), said, ATTRIBUTE_BIT(boss), true));
}
