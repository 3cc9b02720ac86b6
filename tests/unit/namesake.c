/* namesake.c - names that look like words, and whom a question is about. */
#include "engine/questions/namesake.h"

#include "engine/questions/relatives.h"
#include "engine/recall/subject.h"
#include "engine/text/attributes.h"
#include "lib/store.h"

static bool are_namesakes(struct ctx *ctx, const char *question, const char *statement)
{
    struct words w = words_of(&ctx->arena, str_of(question), 100);
    return is_namesake(&ctx->arena, &w, str_of(question), str_of(statement));
}

TEST(a_word_is_not_the_name)
{
    static const char *const pairs[][2] = {
        {"What goes into a bath bomb?", "We rent a flat in Bath."},
        {"How do I mark a date?", "My boss Mark is away."},
        {"When do you prune a rose?", "My aunt Rose keeps bees."},
        {"How long does one roast a turkey?", "We flew to Turkey."},
        {"Which apple is the sweetest?", "I work at Apple."},
        {"Can a faith be lost?", "Ask Faith, our nanny, about it."},
        {"Was kann man dort gut essen?", "Wir wohnen in Essen."},
        {"What does Mark want?", "Please mark the page with a pencil."},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (!are_namesakes(ctx, pairs[i][0], pairs[i][1]))
            fail_msg("%s / %s", pairs[i][0], pairs[i][1]);
}

TEST(the_same_thing_is_no_namesake)
{
    static const char *const pairs[][2] = {
        {"Where does Rose live?", "My aunt Rose lives in Kinsale."},
        {"where does rose live?", "My aunt Rose lives in Kinsale."},
        {"What is my netflix plan?", "I have Netflix with four screens."},
        {"Rose: where does she live?", "My aunt Rose lives in Kinsale."},
        {"How is the bath?", "The bath leaks."},
        {"When is the flat in Bath free?", "We rent a flat in Bath."},
        {"Wann ist das Schwimmen?", "Zum Schwimmen gehe ich dienstags."},
        {"What of Toyota do I drive, a hybrid?", "I drive a Toyota hybrid."},
        {"How do we get there in December?", "We start on 18 December, by ferry."},
        {"Is anything on in May?", "May 5 is my exam."},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (are_namesakes(ctx, pairs[i][0], pairs[i][1]))
            fail_msg("%s / %s", pairs[i][0], pairs[i][1]);
}

static bool fits(struct arena *a, str question, str sentence, uint32_t wanted, bool is_for_request)
{
    return subject_fits(a, question,
                        &(struct told_sentence){.sentence = sentence,
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

static bool is_of_another(struct ctx *ctx, const char *question, const char *statement)
{
    struct words q = words_of(&ctx->arena, str_of(question), 100);
    return is_other_name(&ctx->arena, &q, str_of(statement));
}

TEST(the_name_of_another_is_no_answer)
{
    CHECK(is_of_another(ctx, "What is my sister called?", "My manager is called Ingrid."));
    CHECK(is_of_another(ctx, "what's the name of my dentist?", "Our band is called The Larks."));
    CHECK(is_of_another(ctx, "Do you know my cousin's name?", "The vet's name is Doctor Vos."));
    CHECK(!is_of_another(ctx, "What is my sister called?", "My sister is called Ada."));
    CHECK(!is_of_another(ctx, "What is my dog called?", "The puppy is called Otis."));
    CHECK(!is_of_another(ctx, "What is my sister called?", "Ada came to stay."));
    CHECK(!is_of_another(ctx, "What's my dog's name?", "I got a pitbull mix named Biscuit."));
    CHECK(!is_of_another(ctx, "Where does my sister live?", "My manager is called Ingrid."));
    CHECK(!is_of_another(ctx, "What is my name?", "I am called Ravi."));
    CHECK(!is_of_another(ctx, "What is my boat called, and what is the release branch called?",
                         "The release branch is called kestrel."));
}

TEST(an_acronym_is_one_thing_in_every_place)
{
    CHECK(!are_namesakes(ctx, "When is my MOT due?", "My car needs its MOT by 9 June."));
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
    struct told_sentence of = {.before = S(""),
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
    const struct told_sentence hers = {.sentence = S("She is allergic to penicillin."),
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

TEST(a_name_behind_an_article_is_one)
{
    CHECK(!are_namesakes(ctx, "What colour is the Berlingo?", "My van is a white Berlingo."));
    CHECK(are_namesakes(ctx, "Wann beginnt das Schwimmen?", "Frau Schwimmen rief an."));
}

TEST(what_is_said_of_another_relative_is_told_apart)
{
    static const struct {
        const char *question, *statement;
        bool is_other;
    } cases[] = {
        {"When is my mother's birthday?", "My sister Megan has moved to Cardiff.", true},
        {"What is my landlord's name?", "My boss is called Harold.", true},
        {"Wie alt ist meine Mutter?", "Mein Bruder wohnt jetzt in Kiel.", true},
        {"When is my mother's birthday?", "Mum turns seventy in May.", false},
        {"When is my mother's birthday?", "My parents were both born in May.", false},
        {"When is my mother's birthday?", "My sister's birthday is in May.", false},
        {"When is my mother's birthday?", "Megan has moved to Cardiff.", false},
        {"What is my nephew called?", "My sister's boy Jonah turns six.", false},
        {"What is my mother called?", "My mother-in-law is coming, and my sister.", false},
        {"When is the party?", "My sister Megan has moved to Cardiff.", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct words w = words_of(&ctx->arena, str_of(cases[i].question), 100);
        if (is_of_other_relative(&ctx->arena, &w, str_of(cases[i].statement)) != cases[i].is_other)
            fail_msg("%s / %s", cases[i].question, cases[i].statement);
    }
}
