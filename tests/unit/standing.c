/* standing.c - standing instructions: recognised, applied, ended. */
#include "engine/questions/standing.h"

#include "engine/engine.h"
#include "lib/judged.h"

static struct engine *open_engine(struct ctx *ctx)
{
    static const struct settings settings;
    struct engine *e;
    CHECK_OK(engine_open(ctx, NULL, &settings, &e));
    return e;
}

/* The first instruction that extraction keeps of a text of the user's; "" when it keeps none. */
static str instruction_of(struct ctx *ctx, struct engine *e, const char *text)
{
    size_t n;
    const struct memory *v = engine_extract(ctx, e, EXTRACT_USER, NULL, str_of(text), &n);
    for (size_t i = 0; i < n; i++)
        if (str_is(v[i].category, STANDING_CATEGORY)) {
            CHECK(str_starts(v[i].key, S(STANDING_CATEGORY ":")));
            return v[i].content;
        }
    return S("");
}

TEST(standing_instructions_are_recognised)
{
    static const char *const cases[][2] = {
        {"Always format dates as DD.MM.YYYY", "asks to always format dates as DD.MM.YYYY"},
        {"Always include version numbers when I ask about software dependencies.",
         "asks to always include version numbers when I ask about software dependencies"},
        {"Always confirm time zones when I ask about meetings",
         "asks to always confirm time zones when I ask about meetings"},
        {"From now on answer in bullet points", "asks from now on: answer in bullet points"},
        {"Going forward, please be brief.", "asks from now on: please be brief"},
        {"From now on, the answers should have no tables",
         "asks from now on: the answers should have no tables"},
        {"Never use emojis", "asks to never use emojis"},
        {"Don't ever use emojis.", "asks to never use emojis"},
        {"Please don't use emojis any more.", "asks to never use emojis any more"},
        {"I want you to always answer in French.", "asks to always answer in French"},
        {"Answer in German from now on.", "asks from now on: answer in German from now on"},
        {"Whenever I ask about recipes, use metric units.",
         "asks from now on: use metric units when I ask about recipes"},
        {"Keep your answers short.", "asks to always keep answers short"},
        {"No more emojis, please.", "asks to never use emojis"},
        {"In future, please use metric units", "asks from now on: use metric units"},
        {"Stop using bullet points.", "asks to stop using bullet points"},
        {"You can use emojis again.", "takes an instruction back: may use emojis again"},
        {"You don't have to answer in German any more.",
         "takes an instruction back: need not answer in German any more"},
        {"Antworte bitte immer auf Deutsch.", "asks to always: antworte auf Deutsch"},
        {"Bitte antworte mir ab jetzt auf Englisch", "asks to always: antworte auf Englisch"},
        {"Ab jetzt bitte nur Stichpunkte", "asks from now on: nur Stichpunkte"},
        {"Verwende nie Emojis.", "asks to never: verwende Emojis"},
        {"Benutze bitte keine Emojis mehr.", "asks from now on: benutze keine Emojis mehr"},
        {"Du darfst wieder Emojis verwenden.", "takes an instruction back: may Emojis verwenden"},
        {"Du brauchst mich nicht mehr duzen.", "takes an instruction back: need not duzen"},
        {"Du musst nicht mehr auf Deutsch antworten",
         "takes an instruction back: need not auf Deutsch antworten"},
    };
    struct engine *e = open_engine(ctx);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str found = instruction_of(ctx, e, cases[i][0]);
        if (!str_eq_nocase(found, str_of(cases[i][1])))
            fail_msg("%s: \"%.*s\"", cases[i][0], S_ARG(found));
    }
    engine_close(e);
}

TEST(what_is_asked_once_is_no_standing_instruction)
{
    static const char *const texts[] = {
        "always is a long time",
        "Write me a poem, always rhyming",
        "Write a function that always returns a list",
        "Use metric units",
        "Answer in German",
        "Should I always use sunscreen?",
        "I always use vim",
        "Never mind",
        "Always a pleasure",
        "From now on I live in Porto",
        "The coach wants it so, from now on he goes first and I am second.",
        "Going forward, the meetings are on Mondays",
        "In the future I will be rich",
        "She told me: \"always use bullet points\"",
        "> Always use bullet points",
        "Translate this: always use bullet points",
        "The manual says you should always use gloves",
        "You can use my car again",
        "Ab jetzt wohne ich in Porto",
        "Ab jetzt bin ich Vegetarier",
        "Immer wieder sonntags",
        "If I ask nicely, will you help?",
        "Every time I ask, she laughs",
    };
    struct engine *e = open_engine(ctx);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        str found = instruction_of(ctx, e, texts[i]);
        if (found.n)
            fail_msg("%s: \"%.*s\"", texts[i], S_ARG(found));
    }
    engine_close(e);
}

TEST(an_instruction_reaches_what_its_condition_names)
{
    static const struct {
        const char *instruction, *question;
        enum standing_reach reach;
    } cases[] = {
        {"asks to never use emojis", "What is a monad?", STANDING_ALWAYS},
        {"asks to always include version numbers when I ask about libraries",
         "Which libraries are used in this project?", STANDING_HERE},
        {"asks to always include version numbers when I ask about libraries",
         "What did I eat yesterday?", STANDING_OTHER},
        {"asks to always: nenne Quellen wenn ich nach Medikamenten frage",
         "Welche Medikamente helfen?", STANDING_OTHER},
        {"asks from now on: use metric units when I ask about recipes",
         "A recipe for pancakes, please", STANDING_HERE},
        {"When I ask about recipes, use metric units", "What is a monad?", STANDING_OTHER},
        {"Quand je demande une recette, donne toujours les calories", "Une recette de crêpes ?",
         STANDING_HERE},
        {"Cuando te pregunte por correos, usa siempre el usted", "What is a monad?",
         STANDING_OTHER},
        {"Gdy pytam o pociągi, podawaj peron", "What is a monad?", STANDING_OTHER},
        {"Immer wenn ich nach Zügen frage, nenne Gleise", "What is a monad?", STANDING_OTHER},
        {"Respóndeme en español cuando puedas", "What is a monad?", STANDING_ALWAYS},
        {"Responde com exemplos sempre que possível", "What is a monad?", STANDING_ALWAYS},
        {"asks to always answer briefly when I ask", "What is a monad?", STANDING_ALWAYS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct words q = words_of(&ctx->arena, str_of(cases[i].question), 50);
        struct standing s = standing_of_text(&ctx->arena, str_of(cases[i].instruction));
        if (standing_reach(&s, &q) != cases[i].reach)
            fail_msg("%s / %s", cases[i].instruction, cases[i].question);
    }
}

TEST(a_later_instruction_ends_an_earlier_one)
{
    static const struct {
        const char *newer, *older;
        bool ends;
    } cases[] = {
        {"takes an instruction back: may use emojis again", "asks to never use emojis", true},
        {"takes an instruction back: may use emojis again",
         "asks from now on: answer in bullet points", false},
        {"takes an instruction back: need not answer in German any more",
         "asks to always answer in German", true},
        {"takes an instruction back: may Emojis verwenden", "asks to never: verwende Emojis", true},
        {"asks to always answer in English", "asks to always answer in German", true},
        {"asks to always: antworte auf Englisch", "asks to always answer in German", true},
        {"asks to always answer in bullet points", "asks to always answer in German", false},
        {"asks to always format dates as YYYY-MM-DD", "asks to always format dates as DD.MM.YYYY",
         true},
        {"asks to always format prices as EUR", "asks to always format dates as DD.MM.YYYY", false},
        {"asks to always use metric units", "asks to never use emojis", false},
        {"asks to stop using bullet points", "asks from now on: use bullet points please", true},
        {"asks to always use emojis", "asks to never use emojis", true},
        {"asks to always use emojis", "In future, no emojis", true},
        {"asks to never: verwende Emojis", "asks to always: verwende Emojis", true},
        {"asks to never use emojis", "asks to never use emojis in mails", false},
        {"asks to never use emojis in mails", "asks to always use emojis", false},
        {"asks to never use comments in code", "asks to always explain code in German", false},
        {"asks to always format dates as MM/DD when I ask about work",
         "asks to always format dates as DD.MM. when I ask about travel", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct standing newer = standing_of_text(&ctx->arena, str_of(cases[i].newer));
        struct standing older = standing_of_text(&ctx->arena, str_of(cases[i].older));
        if (standing_ends(&newer, &older) != cases[i].ends)
            fail_msg("%s / %s", cases[i].newer, cases[i].older);
    }
}

struct judging {
    struct ctx *ctx;
    struct engine *e;
};

enum { NOT_KEPT, KEPT, TAKES_BACK };

static int judge(void *own, str text)
{
    const struct judging *j = own;
    str found = instruction_of(j->ctx, j->e, str_dup(&j->ctx->arena, text).p);
    return !found.n ? NOT_KEPT : str_starts(found, S(STANDING_TAKEN_BACK)) ? TAKES_BACK : KEPT;
}

/* Of each kind how many there are, and how many are not kept: wishes and takings back at most, the
 * others at least. */
struct floors {
    const char *file;
    int wishes, wishes_lost, wishes_reversed, backs, backs_lost, once, once_left, others,
        others_left;
};

/* Nobody who made the fit read what the first three writers wrote; the fourth wrote when the fit
 * and its bars were done, the fifth (wish-blind) after those of trial 106. */
TEST(wishes_of_strangers_are_recognised)
{
    static const struct floors files[] = {
        {"wish-kept.json", 360, 184, 5, 90, 63, 180, 179, 330, 326},
        {"wish-fresh.json", 120, 50, 2, 30, 22, 60, 59, 110, 108},
        {"wish-blind.json", 84, 47, 1, 12, 7, 72, 71, 72, 70},
    };
    struct judging own = {ctx, open_engine(ctx)};
    for (const struct floors *f = files; f < files + sizeof files / sizeof *files; f++) {
        const struct json *list = judged_file(ctx, f->file);
        struct judged wish = judged_count(list, "standing", ANY_WRITER, judge, &own),
                      back = judged_count(list, "back", ANY_WRITER, judge, &own),
                      once = judged_count(list, "once", ANY_WRITER, judge, &own),
                      other = judged_count(list, "other", ANY_WRITER, judge, &own);
        CHECK(wish.of == f->wishes && wish.verdicts[NOT_KEPT] <= f->wishes_lost);
        CHECK(wish.verdicts[TAKES_BACK] <= f->wishes_reversed);
        CHECK(back.of == f->backs && back.verdicts[NOT_KEPT] <= f->backs_lost);
        CHECK(once.of == f->once && once.verdicts[NOT_KEPT] >= f->once_left);
        CHECK(other.of == f->others && other.verdicts[NOT_KEPT] >= f->others_left);
    }
    engine_close(own.e);
}

static int judge_topic(void *own, str text)
{
    return standing_of_text(own, text).topic.n > 0;
}

/* English wishes of a writer who is not in the fit. By their openings ("when I ask about") 5 of
 * these 30 are seen to be for a topic, and 3 of the others (trial 105). */
TEST(wishes_for_a_topic_are_told_from_those_for_every_chat)
{
    const struct json *list = judged_file(ctx, "topic-kept.json");
    struct judged topic = judged_count(list, "topic", ANY_WRITER, judge_topic, &ctx->arena),
                  always = judged_count(list, "always", ANY_WRITER, judge_topic, &ctx->arena);
    CHECK(topic.of == 30 && topic.verdicts[true] >= 24);
    CHECK(always.of == 30 && always.verdicts[true] <= 3);
}
