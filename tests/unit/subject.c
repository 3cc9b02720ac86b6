/* subject.c - whom a question is about, and whom a sentence tells of. */
#include "engine/recall/subject.h"

#include "lib/store.h"

static bool fits(struct arena *a, str question, str sentence, bool is_for_request)
{
    return subject_fits(a, question,
                        &(struct attribute_sentence){.sentence = sentence,
                                                     .before = S(""),
                                                     .is_for_request = is_for_request});
}

TEST(a_verb_may_say_who_asks)
{
    struct arena *a = &ctx->arena;
    CHECK(fits(a, S("¿Dónde trabajaba antes?"), S("Trabajo en mi taller."), false));
    CHECK(fits(a, S("我住在哪里？"), S("我搬到杭州了。"), false));
    CHECK(!fits(a, S("我住在哪里？"), S("我妹妹搬到杭州了。"), false));
    CHECK(!fits(a, S("Where does one live well?"), S("I live in Oslo."), false));
    CHECK(fits(a, S("Est-ce que j'ai des animaux ?"), S("J'ai un chien."), false));
}

TEST(german_nouns_are_no_names)
{
    struct arena *a = &ctx->arena;
    CHECK(fits(a, S("Habe ich Haustiere?"), S("Ich habe einen Hund."), false));
    CHECK(!fits(a, S("Wo wohnt mein Freund Otto?"), S("Ich wohne in Bonn."), false));
}

TEST(one_of_a_family_is_meant_by_the_word_for_all)
{
    struct arena *a = &ctx->arena;
    const str mia = S("My daughter Mia turned four."), tom = S("My brother Tom is a plumber.");
    const str mum = S("My mum moved to Cork."), own = S("I live in Bristol.");
    CHECK(!fits(a, S("What are my hobbies?"), S("My sister plays chess."), false));
    CHECK(fits(a, S("Do I have any kids?"), mia, false));
    CHECK(fits(a, S("How old are my children?"), mia, false));
    CHECK(fits(a, S("Habe ich Kinder?"), S("Meine Tochter heißt Mia."), false));
    CHECK(fits(a, S("What do my siblings do?"), tom, false));
    CHECK(fits(a, S("Where do my parents live?"), mum, false));
    CHECK(!fits(a, S("Where do my parents live?"), own, false));
    CHECK(!fits(a, S("Where do my kids live?"), tom, false));
    CHECK(!fits(a, S("Where does my son live?"), mia, false));
}

/* Of whom the line itself says: an allergy of anybody may count for a meal. */
TEST(for_a_request_what_is_told_of_those_around_the_asker_counts)
{
    static const char *const told[] = {
        "My friend Ana came by and I told her I am allergic to nuts.",
        "My wife Carlene is diabetic.",
        "Leela has a severe peanut allergy.",
        "We live in Leeds and I am allergic to nuts.",
        "The test came back and it's diabetes.",
        NULL};
    struct arena *a = &ctx->arena;
    for (const char *const *text = told; *text; text++)
        CHECK(fits(a, S("Suggest a dessert"), str_of(*text), true));
    CHECK(fits(a, S("Schlag ein Dessert vor"), S("Ich vertrage keine Laktose."), true));
    CHECK(fits(a, S("Suggest a dessert for Chisom"), S("My sister Chisom has asthma."), true));
}

TEST(she_is_whom_the_sentence_before_names)
{
    struct arena *a = &ctx->arena;
    const struct attribute_sentence hers = {.sentence = S("She is allergic to penicillin."),
                                            .before = S("My sister Ana has a new hip. ")};
    const struct attribute_sentence own = {.sentence = S("I am allergic to penicillin."),
                                           .before = hers.before};
    CHECK(subject_fits(a, S("What is my sister allergic to?"), &hers));
    CHECK(subject_fits(a, S("What is Ana allergic to?"), &hers));
    CHECK(!subject_fits(a, S("What is Ana allergic to?"), &own));
}

TEST(the_boss_is_nobody_else_where_the_boss_is_asked_for)
{
    struct arena *a = &ctx->arena;
    str said = S("We charged them twice, priya (my manager) wants it by noon.");
    CHECK(fits(a, S("What's my boss's name?"), said, true));
}
