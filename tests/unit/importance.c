/* importance.c - how important what people say is, and everyday words that only sound so. */
#include <math.h>

#include "lib/engine.h"

static double of(struct ctx *ctx, const char *content)
{
    struct memory m = {.content = str_of(content)};
    return importance_by_rule(&ctx->arena, &m);
}

static void all_are(struct ctx *ctx, double level, const char *const *contents)
{
    for (; *contents; contents++) {
        double got = of(ctx, *contents);
        if (fabs(got - level) > 1e-9)
            fail_msg("'%s' is %.2f, not %.2f", *contents, got, level);
    }
}

TEST(health_and_safety_come_first)
{
    static const char *const said[] = {"User is allergic to peanuts",
                                       "is deathly allergic to bee stings",
                                       "User has a severe shellfish allergy",
                                       "User carries an EpiPen",
                                       "User takes blood pressure medication every morning",
                                       "User takes 20 mg of warfarin",
                                       "User was prescribed insulin",
                                       "User has type 1 diabetes",
                                       "User's son is asthmatic",
                                       "User had a stroke in 2019",
                                       "User had a heart attack last year",
                                       "User was diagnosed with Crohn's disease",
                                       "User is pregnant",
                                       "User can't eat gluten",
                                       "User cannot eat nuts",
                                       "User must not eat shellfish",
                                       "User is lactose intolerant",
                                       "User suffers from depression",
                                       "User has anxiety attacks",
                                       "User gets migraines from red wine",
                                       "User's blood type is AB negative",
                                       "User's emergency contact is Anna",
                                       "In case of emergency call 555 0199",
                                       "User uses a wheelchair",
                                       "User is color-blind",
                                       "User beat breast cancer",
                                       "Nutzer ist allergisch gegen Nüsse",
                                       "Es alérgico a la penicilina",
                                       NULL};
    all_are(ctx, 0.9, said);
}

/* What only sounds so. "Allergic to meetings" is not among them: who tells the jest from the
 * illness by a list of words is wrong about an illness one day. */
TEST(everyday_words_raise_no_alarm)
{
    static const char *const said[] = {"my phone died",
                                       "is sick of waiting",
                                       "User is tired of the bug that kills the server",
                                       "The build is broken and bleeding edge",
                                       "User's zodiac sign is Cancer",
                                       "User read about the Great Depression",
                                       "User works at the hospital",
                                       "User studies medicine",
                                       "User is a doctor",
                                       "The release gave the team a heart attack",
                                       "This code gives me a migraine",
                                       "It was a stroke of luck",
                                       "User had a blind date",
                                       "User drives with a blind spot",
                                       "User's words fell on deaf ears",
                                       "User called an emergency meeting",
                                       "User shipped an emergency patch",
                                       "User is addicted to chocolate",
                                       "User has a sore spot for puns",
                                       "User is dying to see the movie",
                                       "The heart of the matter is the cache",
                                       "User cooked kidney beans",
                                       "User can't eat out tonight",
                                       "User bought prescription glasses",
                                       "User diagnosed the bug in the parser",
                                       "User was diagnosed with a race condition",
                                       "The bipolar transistor is hot",
                                       "There was a pregnant pause",
                                       "User's pet project is healthy",
                                       "User has a virus scanner",
                                       "User runs a pain-free deployment",
                                       "User is anxious to see the result",
                                       "There is some anxiety over the release",
                                       "User drinks non-alcoholic beer",
                                       "User hired a tree surgery firm",
                                       "User pulled a tablet out of the drawer",
                                       NULL};
    for (const char *const *s = said; *s; s++)
        if (of(ctx, *s) > 0.85)
            fail_msg("'%s' is %.2f", *s, of(ctx, *s));
    CHECK(of(ctx, "User is allergic to meetings") == 0.9);
}

TEST(who_one_is_what_one_likes_and_what_one_plans)
{
    static const char *const who[] = {"User's name is Sebastian", "User is called Sebastian",
                                      "my name is Sebastian",     "User lives in Rotterdam",
                                      "User works as a nurse",    "User's birthday is 14 March",
                                      "User is 34 years old",     "User's phone number is 555 0123",
                                      "wants to be called Seb",   NULL};
    static const char *const likes[] = {
        "User prefers dark mode",    "User likes green tea",     "User really enjoys sailing",
        "my favorite color is blue", "doesn't like olives",      "User can't stand loud music",
        "User is a fan of Ajax",     "User wants short answers", NULL};
    static const char *const plans[] = {
        "decided to use PostgreSQL",   "User chose the blue one", "User plans to move to Oslo",
        "User plans a trip to Norway", "will use Rust",           NULL};
    static const char *const rest[] = {"User has a bicycle",
                                       "Her name is Shadow",
                                       "User plays chess on Mondays",
                                       "User has a boat like that of Anna",
                                       "The meeting went well",
                                       "User usually gets up at six",
                                       "",
                                       "你好",
                                       NULL};
    all_are(ctx, 0.85, who);
    all_are(ctx, 0.7, likes);
    all_are(ctx, 0.65, plans);
    all_are(ctx, 0.5, rest);
}

TEST(layers_and_categories_count)
{
    struct arena *a = &ctx->arena;
    struct memory m = {.content = S("They spoke of an allergy"), .layer = LAYER_SUMMARY};
    CHECK(importance_by_rule(a, &m) == 0.75);
    m.layer = LAYER_EPISODE;
    CHECK(importance_by_rule(a, &m) == 0.75);
    m = (struct memory){.content = S("an engineer"), .layer = LAYER_IDENTITY};
    CHECK(importance_by_rule(a, &m) == 0.85);
    m.content = S("User is diabetic");
    CHECK(importance_by_rule(a, &m) == 0.9);
    static const struct {
        const char *category, *content;
        double level;
    } cases[] = {{"health", "can't eat papaya", 0.9},
                 {"health", "is left-handed", 0.7},
                 {"health", "is vegetarian", 0.7},
                 {"preference", "olives", 0.7},
                 {"decision", "blue", 0.65},
                 {"relationship", "my wife is Anna", 0.7},
                 {"pattern", "often sails", 0.5},
                 {"note", "the key is under the mat", 0.5},
                 {"preference", "insulin pens by Acme", 0.9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        m = (struct memory){.category = str_of(cases[i].category),
                            .content = str_of(cases[i].content)};
        if (fabs(importance_by_rule(a, &m) - cases[i].level) > 1e-9)
            fail_msg("%s '%s' is %.2f", cases[i].category, cases[i].content,
                     importance_by_rule(a, &m));
    }
}

/* --- what chats say --- */

static double extracted(struct ctx *ctx, struct engine *e, enum extract_rules rules,
                        const char *said)
{
    size_t n;
    struct memory *v = engine_extract(ctx, e, rules, NULL, str_of(said), &n);
    CHECK(n < 2 && (!n || v[0].salience == v[0].importance));
    return n ? v[0].importance : -1;
}

TEST(extracted_facts_weigh_by_rule_and_slight_ones_are_not_kept)
{
    ENGINE(e, s, p);
    CHECK(extracted(ctx, e, EXTRACT_USER, "I'm allergic to peanuts.") == 0.9);
    CHECK(extracted(ctx, e, EXTRACT_USER, "My name is Sebastian.") == 0.85);
    CHECK(extracted(ctx, e, EXTRACT_USER, "I love green tea.") == 0.7);
    CHECK(extracted(ctx, e, EXTRACT_USER, "I decided to learn Rust.") == 0.65);
    CHECK(extracted(ctx, e, EXTRACT_USER, "I usually get up at six.") == 0.5);
    CHECK(extracted(ctx, e, EXTRACT_USER, "Remember that the key is under the mat.") == 0.8);
    settings.importance_min = 0.6;
    CHECK(extracted(ctx, e, EXTRACT_USER, "I usually get up at six.") == -1);
    CHECK(extracted(ctx, e, EXTRACT_USER, "I love green tea.") == 0.7);
    CHECK(extracted(ctx, e, EXTRACT_TABLE, "I usually get up at six.") == 0.5);
}

TEST(importance_decays_as_cortex_has_it)
{
    static const struct {
        int64_t days;
        double weight;
    } cases[] = {{-3, 1},      {0, 1},       {1, 0.9512}, {7, 0.7047},
                 {14, 0.4966}, {30, 0.2231}, {90, 0.0111}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(fabs(importance_after(1, 0.05, cases[i].days) - cases[i].weight) < 0.00005);
    CHECK(fabs(importance_after(0.9, 0.05, 30) - 0.9 * importance_after(1, 0.05, 30)) < 1e-12);
    CHECK(importance_after(0.7, 0, 1000) == 0.7);
}
