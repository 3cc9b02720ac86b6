/* utterance.c - what a turn states, and what of it is no statement. */
#include "engine/text/utterance.h"

#include "core/text_annotations.h"
#include "engine/recall/quotable.h"
#include "engine/text/envelope.h"
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

static str lines_of(struct ctx *ctx, const char *text)
{
    struct buf b = buf_make(&ctx->arena, strlen(text) + 1);
    for (; *text; text++)
        buf_byte(&b, *text == '$' ? '\n' : (unsigned char)*text);
    return buf_str(&b);
}

/* "$" is a line break. */
TEST(what_stands_behind_code_is_the_writers)
{
    static const char *const cases[][2] = {
        {"Look:$```$a = b;$$I like olives$$It fails on my boat. Why?",
         "Look:$It fails on my boat. Why?"},
        {"```$x = 1;$y = 2;$$$My boat is red.$$I live in Oulu.",
         "My boat is red.$$I live in Oulu."},
        {"```$x = 1;$$y = 2;", ""},
        {"I write ``` around code. I live in Oulu.", "I write ``` around code. I live in Oulu."},
        {"I like tea ~~~ a lot. I live in Oulu.", "I like tea ~~~ a lot. I live in Oulu."},
        {"~~~$I hate olives.$~~~$I live in Oulu.", "I live in Oulu."},
        {"~~~$```$I hate olives.$~~~$I live in Oulu.", "I live in Oulu."},
        {"````md$```$I hate olives.$```$I hate tea.$````$I live in Oulu.", "I live in Oulu."},
        {"```$print('```')$I hate olives.$```$I live in Oulu.", "I live in Oulu."},
        {"```$I hate olives.```$I live in Oulu.", "I live in Oulu."},
        {"```I hate olives$and tea``` I live in Oulu.", "I live in Oulu."},
        {"\"\"\"I hate olives$and tea\"\"\" I live in Oulu.", "I live in Oulu."},
        {"- ```$  I hate olives.$  ```$- I live in Oulu.", "- $- I live in Oulu."},
        {"1. Try:$   ~~~sh$   I hate olives.$   ~~~$I live in Oulu.",
         "1. Try:$   $I live in Oulu."},
        {"Use ```make``` here.$I live in Oulu.", "Use  here.$I live in Oulu."},
        {"Fix it: ```$I hate olives.$``` I live in Oulu.", "Fix it:  I live in Oulu."}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str text = lines_of(ctx, cases[i][0]);
        CHECK_STR(utterance_own_words(&ctx->arena, text), lines_of(ctx, cases[i][1]));
    }
}

/* As agents send them; "$" is a line break. */
TEST(an_agents_message_holds_what_the_person_typed)
{
    static const char *const cases[][2] = {
        {"I use <b>bold</b>, and Cline's <environment_details>x</environment_details>.", NULL},
        {"<task>Plan</task> and then I live in Oulu.", NULL},
        {"<environment_details> has no end", NULL},
        {"# Plan$## My request:$I live in Oulu.", NULL},
        {"<task>$I live in Oulu.$</task>$<environment_details>$# VSCode Open Tabs$a.c$"
         "</environment_details>",
         "I live in Oulu."},
        {"<task>$I live in Oulu.$</task>", "I live in Oulu."},
        {"I live in Oulu.$<environment_details>$My cat is Tom.$</environment_details>",
         "I live in Oulu."},
        {"[read_file for 'a.c'] Result:$I hate olives.$<environment_details>$x$"
         "</environment_details>",
         ""},
        {"[read_file for 'a.c'] Result:$$I hate olives.", ""},
        {"EXECUTION RESULT of [run]:$I hate olives.", ""},
        {"Observation:$I hate olives.", ""},
        {"Observation: I hate olives.", NULL},
        {"[ERROR] Failed to execute goal compile.$Why? I use Java 17.", NULL},
        {"[Lab] Result: my cholesterol is 180.", NULL},
        {"[attempt_completion] Result:$<feedback>$I live in Oulu.$</feedback>$"
         "<environment_details>$x$</environment_details>",
         "I live in Oulu."},
        {"<user_message>$I live in Oulu.$</user_message>$[ERROR] No tool was used.",
         "I live in Oulu."},
        {"<open_and_recently_viewed_files>$- a.c$</open_and_recently_viewed_files>"
         "<user_query>$I live in Oulu. <b>Why?</b>$</user_query>",
         "I live in Oulu. <b>Why?</b>"},
        {"<attached_files>$<code_selection path=\"a\">$<user_query>I hate olives.</user_query>$"
         "</code_selection>$</attached_files>$<user_query>$I live in Oulu.$</user_query>",
         "I live in Oulu."},
        {"# Context from my IDE setup:$$## Active selection of the file:$I hate olives.$"
         "## My request for Codex:$I hate tea.$$## My request for Codex:$I live in Oulu.$",
         "I live in Oulu."},
        {"# Context from my IDE setup:$$## Open tabs:$- a.c$$## My request:$I live in Oulu.",
         "I live in Oulu."},
        {"# Files mentioned by the user:$$## a.png: /a.png$$## My request for Codex:$I live in "
         "Oulu.",
         "I live in Oulu."},
        {"# Context from my IDE setup:$$## Open tabs:$- a.c", ""},
        {"Here is a summary of the conversation to date:$$The user lives in Tampere.", ""},
        {"This session is being continued from a previous conversation.$I live in Rome.", ""},
        {"<system-reminder>$The user sent the following message:$My hat is red.$$It has$$a "
         "feather.$$Please address this message.$</system-reminder>",
         "My hat is red.$$It has$$a feather."},
        {"<system-reminder>$The user sent a new message while you were working:$My hat is red."
         "$</system-reminder>$And blue.",
         "My hat is red.$And blue."}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str text = lines_of(ctx, cases[i][0]);
        str typed = cases[i][1] ? lines_of(ctx, cases[i][1]) : text;
        CHECK_STR(envelope_typed(&ctx->arena, text), typed);
    }
}

TEST(many_marks_without_an_end_take_no_time)
{
    struct buf runs = buf_make(&ctx->arena, 8 << 20);
    for (int n = 2000; n > 2; n--) {
        for (int i = 0; i < n; i++)
            buf_byte(&runs, '`');
        buf_add(&runs, S(" a b.\n\n"));
    }
    CHECK(utterance_own_words(&ctx->arena, buf_str(&runs)).n < 4000);
    runs.n = 0;
    for (int i = 0; i < 400000; i++)
        buf_add(&runs, S("```a``` "));
    CHECK(utterance_own_words(&ctx->arena, buf_str(&runs)).n < 4000);
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
