/* namesake.c - names that look like words, and whom a question is about. */
#include "engine/questions/namesake.h"

#include "engine/recall/subject.h"
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
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (are_namesakes(ctx, pairs[i][0], pairs[i][1]))
            fail_msg("%s / %s", pairs[i][0], pairs[i][1]);
}

TEST(a_verb_may_say_who_asks)
{
    struct arena *a = &ctx->arena;
    CHECK(subject_fits(a, S("¿Dónde trabajaba antes?"), S("Trabajo en mi taller."), false));
    CHECK(subject_fits(a, S("我住在哪里？"), S("我搬到杭州了。"), false));
    CHECK(!subject_fits(a, S("我住在哪里？"), S("我妹妹搬到杭州了。"), false));
    CHECK(!subject_fits(a, S("Where does one live well?"), S("I live in Oslo."), false));
    CHECK(subject_fits(a, S("Est-ce que j'ai des animaux ?"), S("J'ai un chien."), false));
}

TEST(german_nouns_are_no_names)
{
    struct arena *a = &ctx->arena;
    CHECK(subject_fits(a, S("Habe ich Haustiere?"), S("Ich habe einen Hund."), false));
    CHECK(!subject_fits(a, S("Wo wohnt mein Freund Otto?"), S("Ich wohne in Bonn."), false));
}

TEST(one_of_a_family_is_meant_by_the_word_for_all)
{
    struct arena *a = &ctx->arena;
    const str mia = S("My daughter Mia turned four."), tom = S("My brother Tom is a plumber.");
    const str mum = S("My mum moved to Cork."), own = S("I live in Bristol.");
    CHECK(subject_fits(a, S("Do I have any kids?"), mia, false));
    CHECK(subject_fits(a, S("How old are my children?"), mia, false));
    CHECK(subject_fits(a, S("Habe ich Kinder?"), S("Meine Tochter heißt Mia."), false));
    CHECK(subject_fits(a, S("What do my siblings do?"), tom, false));
    CHECK(subject_fits(a, S("Where do my parents live?"), mum, false));
    CHECK(!subject_fits(a, S("Where do my parents live?"), own, false));
    CHECK(!subject_fits(a, S("Where do my kids live?"), tom, false));
    CHECK(!subject_fits(a, S("Where does my son live?"), mia, false));
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
    CHECK(!is_of_another(ctx, "Where does my sister live?", "My manager is called Ingrid."));
    CHECK(!is_of_another(ctx, "What is my name?", "I am called Ravi."));
    CHECK(!is_of_another(ctx, "What is my boat called, and what is the release branch called?",
                         "The release branch is called kestrel."));
}

TEST(an_acronym_is_one_thing_in_every_place)
{
    CHECK(!are_namesakes(ctx, "When is my MOT due?", "My car needs its MOT by 9 June."));
}
