/* rewrite.c - questions that need what was said before. */
#include "ext/eval/followups.h"
#include "lib/engine.h"

#define S_(text)                                                                                   \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

struct case_of {
    const char *question, *want; /* NULL: as it was */
};

static const struct said boundaries[] = {
    {S_("user"), S_("What are the Planetary Boundaries?"), {0}},
    {S_("assistant"),
     S_("The Planetary Boundaries framework defines nine limits, such as climate change and "
        "biodiversity."),
     {0}},
};
static const struct said caroline[] = {
    {S_("user"), S_("When did Caroline go to the LGBTQ support group?"), {0}},
    {S_("assistant"), S_("On 7 May 2023."), {0}},
};

static struct rewritten ask(struct ctx *ctx, struct engine *e, const struct said *before, size_t n,
                            const char *question)
{
    struct rewritten out;
    const struct rewrite_in in = {.pool = mine,
                                  .question = str_of(question),
                                  .before = before,
                                  .n = n};
    engine_rewrite(ctx, e, &in, &out);
    CHECK(ctx->failed == OK);
    return out;
}

static void check_all(struct ctx *ctx, struct engine *e, const struct said *before, size_t n,
                      const struct case_of *cases)
{
    for (; cases->question; cases++) {
        struct rewritten is = ask(ctx, e, before, n, cases->question);
        const char *want = cases->want ? cases->want : cases->question;
        if (!str_is(is.search, want))
            fail_msg("%s: '" S_FMT "', not '%s'", cases->question, S_ARG(is.search), want);
        CHECK_STR(is.how, cases->want ? S("rules") : S("none"));
        CHECK(!is.why.n == !cases->want);
    }
}

/* What it calls follow-ups because "it" is a part of "capital". */
TEST(a_question_that_stands_alone_stays)
{
    static const struct case_of cases[] = {{"Explain photosynthesis in plants", NULL},
                                           {"What is the capital of France today in the year 2024?",
                                            NULL},
                                           {"Hi", NULL},
                                           {"What is photosynthesis?", NULL},
                                           {"Why is the sky blue?", NULL},
                                           {"Write a list of items with limits", NULL},
                                           {"What time is it?", NULL},
                                           {"Is it safe to eat raw salmon?", NULL},
                                           {"What did Ann and her dog do?", NULL},
                                           {"Which game that Nate plays is new?", NULL},
                                           {"What did I do this year?", NULL},
                                           {"How do I reverse a list and print it?", NULL},
                                           {"Is there a bakery in Lisbon?", NULL},
                                           {"How many people live in Oslo?", NULL},
                                           {"Do they live in the same city?",
                                            "Do they live in the same city? (Planetary Boundaries "
                                            "Planetary Boundaries framework defines nine limits "
                                            "climate change biodiversity)"},
                                           {0}};
    ENGINE(e, s, p);
    check_all(ctx, e, boundaries, 2, cases);
}

/* Only "and" goes on from what was said: the rest asks for something known of the user. */
TEST(a_question_for_what_is_known_of_the_user_stays_behind_and)
{
    static const struct case_of cases[] = {{"And where do I live?", NULL},
                                           {"Und wo wohne ich?", NULL},
                                           {0}};
    ENGINE(e, s, p);
    check_all(ctx, e, boundaries, 2, cases);
    struct rewritten is = ask(ctx, e, boundaries, 2, "And where does he live?");
    CHECK_STR(is.how, S("rules"));
}

/* The stand-in's own words are no topic; what it quotes is. */
TEST(the_stand_in_is_not_spoken_of)
{
    static const struct said before[] = {
        {S_("user"), S_("Which tea should I buy?"), {0}},
        {S_("assistant"),
         S_("I am rememberd/demo, the built-in offline stand-in, not a real model: I only repeat "
            "what is remembered. What I remember about this: \xE2\x80\x9CMy favourite tea is Earl "
            "Grey.\xE2\x80\x9D"),
         {0}},
    };
    ENGINE(e, s, p);
    struct rewritten is = ask(ctx, e, before, 2, "And how much of it?");
    CHECK(str_find(is.search, S("Earl Grey")) < is.search.n);
    CHECK(str_find(is.search, S("stand-in")) == is.search.n);
    CHECK(str_find(is.search, S("model")) == is.search.n);
}

TEST(follow_ups_are_known_by_whole_words)
{
    static const char *const questions[] = {
        "Why?",           "How many?",        "and the second one?", "What about biodiversity?",
        "Tell me more.",  "Is it expensive?", "When was that?",      "What does this mean?",
        "In which year?", "Anything else?",   "yes, please",         "Which ones are new?"};
    ENGINE(e, s, p);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        struct rewritten is = ask(ctx, e, boundaries, 2, questions[i]);
        if (!str_is(is.how, "rules") || str_find(is.search, S("Planetary")) == is.search.n ||
            !str_starts(is.search, str_of(questions[i])))
            fail_msg("%s: " S_FMT " '" S_FMT "'", questions[i], S_ARG(is.how), S_ARG(is.search));
        CHECK(is.why.n);
    }
}

TEST(whom_a_pronoun_means_is_searched_by_name)
{
    static const struct case_of cases[] = {
        {"What did she realize?", "What did she realize? (Caroline LGBTQ)"},
        {"Did Melanie walk her dog?", NULL},
        {"What did she feel after it?",
         "What did she feel after it? (Caroline go LGBTQ support group 7 2023)"},
        {0}};
    ENGINE(e, s, p);
    check_all(ctx, e, caroline, 2, cases);
}

TEST(a_month_is_nobodys_name)
{
    static const struct said mum[] = {
        {S_("user"), S_("What is my mum's birthday?"), {0}},
        {S_("assistant"), S_("Saturday, 5 December."), {0}},
    };
    static const struct case_of cases[] = {
        {"What does she like?", "What does she like? (mum birthday Saturday 5 December)"}, {0}};
    ENGINE(e, s, p);
    check_all(ctx, e, mum, 2, cases);
}

/* Names of the user's last question, else of its answer. */
TEST(the_last_exchange_is_meant)
{
    static const struct said before[] = {
        {S_("user"), S_("Where did Melanie camp?"), {0}},
        {S_("assistant"), S_("At the beach."), {0}},
        {S_("user"), S_("Who paints on this beach?"), {0}},
        {S_("tool"), S_("Robert is here."), {0}},
        {S_("assistant"), S_("It was Tim."), {0}},
    };
    ENGINE(e, s, p);
    CHECK_STR(ask(ctx, e, before, 5, "What does Caroline think of him?").search,
              S("What does Caroline think of him? (Tim)"));
    CHECK_STR(ask(ctx, e, before, 2, "Where did she sleep?").search,
              S("Where did she sleep? (Melanie)"));
}

TEST(without_a_history_or_the_setting_nothing_is_done)
{
    static const struct case_of cases[] = {{"How many of them?", NULL}, {0}};
    static const struct said tools[] = {{S_("tool"), S_("Planetary Boundaries"), {0}},
                                        {S_("user"), S_(" "), {0}}};
    ENGINE(e, s, p);
    check_all(ctx, e, NULL, 0, cases);
    check_all(ctx, e, tools, 2, cases);
    settings.query_rewriting = REWRITE_OFF;
    check_all(ctx, e, boundaries, 2, cases);
}

/* What has no long word in it gives its short ones; what has none at all gives nothing. */
TEST(a_short_history_is_searched_as_it_is)
{
    static const struct said cat[] = {{S_("user"), S_("Is my cat ill?"), {0}},
                                      {S_("assistant"), S_("No."), {0}}};
    static const struct said ida[] = {{S_("user"), S_("Where does my sister Ida live?"), {0}},
                                      {S_("assistant"), S_("In Oslo."), {0}}};
    static const struct case_of cases[] = {{"why?", NULL}, {0}};
    static const struct said wife[] = {{S_("user"), S_("My wife loves tea."), {0}},
                                       {S_("assistant"), S_("Lovely."), {0}}};
    static const struct said nothing[] = {{S_("user"), S_("so?"), {0}},
                                          {S_("assistant"), S_("it is so"), {0}}};
    ENGINE(e, s, p);
    CHECK_STR(ask(ctx, e, cat, 2, "why?").search, S("why? (cat ill)"));
    CHECK_STR(ask(ctx, e, ida, 2, "why?").search, S("why? (sister Ida live Oslo)"));
    CHECK_STR(ask(ctx, e, wife, 2, "What's her name?").search,
              S("What's her name? (wife loves tea Lovely)"));
    check_all(ctx, e, nothing, 2, cases);
}

/* Whatever the bytes and however long: it ends, and gives text. */
TEST(any_text_is_taken)
{
    ENGINE(e, s, p);
    uint64_t seed = 7;
    char text[2000];
    static const char some[] = "it them her She Ann's \xC3\xA9\xE7\x8C\xAB\xFF, of about ()\n?\0-";
    for (int round = 0; round < 300; round++) {
        size_t n = 0;
        while (n + 1 < sizeof text &&
               (seed = seed * 6364136223846793005u + 1442695040888963407u) >> 60)
            text[n++] = some[(seed >> 33) % (sizeof some - 1)];
        const struct said before[] = {{S_("user"), {text, n}, {0}},
                                      {S_("assistant"), {text, n / 2}, {0}}};
        struct rewritten out;
        const struct rewrite_in in = {.pool = mine,
                                      .question = {text, n},
                                      .before = before,
                                      .n = 2};
        engine_rewrite(ctx, e, &in, &out);
        CHECK(out.search.n >= n);
    }
}

/* --- what it is measured on --- */

TEST(a_question_is_made_a_follow_up_of_another)
{
    static const struct {
        const char *question, *before, *want;
        int persons, things;
    } cases[] = {
        {"What did Ann realize after the charity race?", "When did Ann run the charity race?",
         "What did she realize after it?", 1, 1},
        {"What is Bo's favourite book?", "Where does Bo live?", "What is his favourite book?", 1,
         0},
        {"What did Cleo say to Bo?", "Where does Bo live?", "What did Cleo say to him?", 1, 0},
        {"How do Ann and Bo relax?", "How did Bo meet Ann?", "How do they relax?", 1, 0},
        {"How do Ann and Bo relax?", "Where does Bo live?", "How do Ann and Bo relax?", 0, 0},
        {"Who feeds the dogs?", "What are the dogs called?", "Who feeds them?", 0, 1},
        {"What kind of dogs are there?", "What are the dogs called?",
         "What kind of dogs are there?", 0, 0},
        {"Is it dog-free in the dog-house?", "Is the dog ill?", "Is it dog-free in the dog-house?",
         0, 0},
        {"Who swam?", "Who sang?", "Who swam?", 0, 0},
    };
    const struct person people[2] = {{S("Ann"), true}, {S("Bo"), false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct follow_up is =
            follow_up_of(&ctx->arena, str_of(cases[i].question), str_of(cases[i].before), people);
        CHECK_STR(is.question, str_of(cases[i].want));
        CHECK_INT(is.persons, cases[i].persons);
        CHECK_INT(is.things, cases[i].things);
    }
}
