/* utterance.c - what a turn states, and what of it is no statement. */
#include "engine/text/utterance.h"

#include "core/text_annotations.h"
#include "engine/recall/quotable.h"
#include "lib/store.h"

TEST(pasted_text_is_not_the_writers)
{
    struct arena *a = &ctx->arena;
    CHECK_STR(utterance_own_words(a, S("Can you summarise this CV?\n\n```\nName: Jonas\n```")),
              S("Can you summarise this CV?"));
    CHECK_STR(utterance_own_words(a,
                                  S("Summarise:\n\"\"\"\nMy bank is ShadyTrust.\n\"\"\"\nThanks")),
              S("Summarise:\n\nThanks"));
    CHECK_STR(utterance_own_words(a, S("> I live in Oulu\nI do not.")), S("I do not."));
    str plain = S("My name is \"Rex\", it's <b>bold</b>.");
    CHECK_STR(utterance_own_words(a, plain), plain);
    struct buf b = buf_make(a, 1 << 20);
    buf_add(&b, S("Please look at this file, my build fails.\n\n"));
    for (int i = 0; i < 600; i++)
        buf_printf(&b, "line %d of the log\n", i);
    CHECK_STR(utterance_own_words(a, buf_str(&b)), S("Please look at this file, my build fails."));
}

TEST(many_marks_without_an_end_take_no_time)
{
    struct buf b = buf_make(&ctx->arena, 4 << 20);
    for (int i = 0; i < 200000; i++)
        buf_printf(&b, " \"a <b%c> ", 'a' + i % 26);
    CHECK(utterance_own_words(&ctx->arena, buf_str(&b)).n < 4000);
}

/* Two texts may have the same hash. */
TEST(a_note_of_a_longer_text_gives_no_bytes_behind_a_shorter_one)
{
    str text = S("My sister lives in Bergen.");
    str cut = str_dup(&ctx->arena, S("I like tea."));
    struct text_annotations notes = {.pool = 1}, other = {.pool = 1};
    struct message m = {.role = S("user"), .text = text, .notes = &notes};
    CHECK_STR(quotable_of(&ctx->arena, &m).text, text);
    CHECK(notes.v[NOTE_GIVEN].of);
    annotation_add(&other, NOTE_GIVEN, cut, notes.v[NOTE_GIVEN].bytes);
    m.text = cut;
    m.notes = &other;
    CHECK_STR(quotable_of(&ctx->arena, &m).text, cut);
}

/* A clause in front of a question states something, of whomever it is. */
TEST(what_stands_before_a_question_is_stated)
{
    static const char *const cases[][2] = {
        {"Pemberton moved his practice to Mill Lane, how long is the walk from the station?",
         "Pemberton moved his practice to Mill Lane."},
        {"my car is a 2014 Fabia, is 90k miles a lot?", "my car is a 2014 Fabia."},
        {"What is the difference between Celsius and Fahrenheit, and how do I convert?", ""},
        {"Who designed the Eads Bridge, and was he an engineer?", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(utterance_statements(&ctx->arena, str_of(cases[i][0]), true),
                  str_of(cases[i][1]));
}
