/* currency.c - which statement a later one replaces, and which it does not. */
#include "engine/recall/currency.h"

#include "lib/store.h"

static const char *question = "";

static enum currency older_is(struct ctx *ctx, const char *older, const char *newer)
{
    struct dated_line v[] = {{.text = str_of(older), .created = 1, .id = S("a")},
                             {.text = str_of(newer), .created = 2, .id = S("b")}};
    currency_judge(&ctx->arena, str_of(question), v, 2);
    CHECK_INT(v[1].is, CURRENT);
    return v[0].is;
}

struct pair {
    const char *older, *newer;
};

#define CHECK_ALL(PAIRS, IS)                                                                       \
    for (size_t i = 0; i < sizeof(PAIRS) / sizeof *(PAIRS); i++) {                                 \
        enum currency is = older_is(ctx, (PAIRS)[i].older, (PAIRS)[i].newer);                      \
        if (!(IS))                                                                                 \
            fprintf(stderr, "%d: %s / %s\n", (int)is, (PAIRS)[i].older, (PAIRS)[i].newer);         \
        CHECK(IS);                                                                                 \
    }

TEST(the_same_sentence_with_another_value_replaces)
{
    static const struct pair pairs[] = {
        {"My favourite tea is Assam.", "My favourite tea is Sencha."},
        {"Our weekly call is at nine.", "Our weekly call is at half past ten."},
        {"My laptop is a Dell with a sticky key.", "My laptop is a Framework now."},
        {"We will tile the bathroom in slate.",
         "Change of mind: we will tile the bathroom in terracotta."},
        {"Project Wren is written in Perl.", "Good riddance: project Wren is written in Ruby now."},
        {"My hip operation is on 3 March.", "Postponed, my hip operation is on 17 April."},
        {"After the exams I'm going to do a term at the sea school in Kiel.",
         "So, dad talked sense into me. After the exams I'm going to begin a course as a smith."},
        {"Ich trainiere beim SV Nord in Kiel.", "Ich trainiere jetzt beim TSV in Lübeck."},
        {"I take 20 mg of ramipril in the morning.", "I take 40 mg of ramipril from now on."},
    };
    CHECK_ALL(pairs, is != CURRENT)
}

TEST(a_word_of_change_replaces_what_one_has_once)
{
    static const struct pair pairs[] = {
        {"We live in Oslo, close to the harbour.", "We finally moved! Home is Bergen now."},
        {"I'm engaged to Ravi.", "Ravi and I got married on Friday!"},
        {"My brother lives in Leeds.", "My brother moved to York last week."},
        {"My cousin Otto lives in Kiel.", "My cousin Otto has a new address, he lives in Husum."},
        {"Ich wohne in Bonn.", "Ich bin umgezogen und wohne jetzt in Trier."},
        {"J'habite à Lille.", "J'ai déménagé, maintenant j'habite à Nantes."},
        {"Vivo en Sevilla.", "Me he mudado, ahora vivo en Cádiz."},
        {"Moro em Braga.", "Mudei de casa: agora moro em Faro."},
        {"Abito a Torino.", "Mi sono trasferito, adesso abito a Lecce."},
    };
    CHECK_ALL(pairs, is == REPLACED)
    CHECK_INT(older_is(ctx, "I work as a baker in the old town.",
                       "I quit the bakery, since May I teach at a school."),
              DOUBTFUL);
}

TEST(what_is_moved_or_has_ended_is_replaced)
{
    static const struct pair pairs[] = {
        {"My vet appointment is on Monday at ten.",
         "The vet moved my appointment to Friday at two."},
        {"The Halley launch is on 4 May.", "The Halley launch slips to 9 June."},
        {"We're going to Crete for Whitsun.", "Crete for Whitsun is cancelled, the boss needs me."},
        {"I am vegan since January.", "I'm no longer vegan."},
        {"Kestrel runs on MySQL with one replica.", "We switched Kestrel from MySQL to DuckDB."},
    };
    CHECK_ALL(pairs, is != CURRENT)
    CHECK_INT(older_is(ctx, "I do judo and rowing.", "I gave up judo, rowing stays."), PARTLY);
    CHECK_INT(older_is(ctx, "I take aspirin and heparin.",
                       "Heparin made me ill, it was replaced: I take apixaban."),
              PARTLY);
}

TEST(what_adds_replaces_nothing)
{
    static const struct pair pairs[] = {
        {"I have a dog called Bosun.", "We adopted a second dog, he's called Skipper."},
        {"I speak Welsh.", "I speak Basque, too."},
        {"I play the oboe.", "I also play the harp now."},
        {"I like figs.", "I like dates."},
        {"In the book club we have read Emma.", "In the book club we have read Ulysses."},
        {"I go sailing twice a week.", "I've taken up weaving."},
        {"On my team are Ana and Bo.", "Chidi joined my team this Monday."},
    };
    CHECK_ALL(pairs, is == CURRENT)
}

TEST(another_subject_replaces_nothing)
{
    static const struct pair pairs[] = {
        {"My sister lives in Turin.", "My brother moved to Milan."},
        {"I live in Turin.", "My brother moved to Milan last week."},
        {"Project Lark is written in Go.", "Project Finch is written in C now."},
        {"My phone is a Nokia.", "My work phone is a Pixel now."},
        {"On the upper deck we keep bees.", "On the lower deck we keep ducks now."},
        {"On the lower field we grow sugar beet this year.",
         "Too wet, we had to sow anew: on the north field we grow red clover this year."},
        {"On the upper deck we keep carrier pigeons this year.",
         "Too dry, we had to start over: on the rear deck we keep black swans this year."},
        {"We live in Berlin.", "We moved the standup to Monday."},
        {"Katja lives in Oslo.", "Noor moved to Bergen."},
    };
    CHECK_ALL(pairs, is == CURRENT)
}

TEST(who_does_it_may_change)
{
    question = "Who feeds the goats on Sundays?";
    CHECK(older_is(ctx, "On Sundays Uncle Bela feeds the goats.",
                   "New plan: on Sundays Miriam feeds the goats.") != CURRENT);
    question = "";
}

TEST(of_several_changes_the_last_one_counts)
{
    struct dated_line v[] = {
        {.text = S("We launch Osprey on 1 March."), .created = 1},
        {.text = S("The Osprey launch slips to 15 April."), .created = 2},
        {.text = S("New Osprey launch date is 2 June."), .created = 3},
    };
    currency_judge(&ctx->arena, S("When do we launch Osprey?"), v, 3);
    CHECK_INT(v[0].is, REPLACED);
    CHECK_INT(v[1].is, REPLACED);
    CHECK_INT(v[2].is, CURRENT);
}

TEST(a_memory_does_not_replace_its_source)
{
    struct dated_line v[] = {
        {.text = S("My favourite tea is Assam, by far."), .created = 1, .id = S("m")},
        {.text = S("My favourite tea is Assam now"), .created = 2, .id = S("f"), .source = S("m")},
    };
    currency_judge(&ctx->arena, S(""), v, 2);
    CHECK_INT(v[0].is, CURRENT);
}

TEST(questions_about_the_past_are_known)
{
    static const char *const past[] = {"Where did I live before?",
                                       "What was my previous job?",
                                       "Where did I use to work? I used to like it.",
                                       "Wo habe ich früher gewohnt?",
                                       "Où habitais-je avant ?",
                                       "Where was my old flat?",
                                       NULL};
    static const char *const now[] = {"Where do I live?", "How old am I?",
                                      "When is my appointment?", "Wo wohne ich?", NULL};
    for (const char *const *q = past; *q; q++)
        CHECK(currency_asks_past(&ctx->arena, str_of(*q)));
    for (const char *const *q = now; *q; q++)
        CHECK(!currency_asks_past(&ctx->arena, str_of(*q)));
}
