/* languages.c - words of other languages than English, and what is told in them. */
#include "lib/facts.h"
#include "t.h"
#include "words/language.h"
#include "words/words.h"

/* --- which language --- */

TEST(function_words_tell_the_language)
{
    static const struct {
        const char *text;
        enum language language;
    } rows[] = {
        {"Wo wohnt meine Schwester?", GERMAN},
        {"Je ne sais pas où il habite", FRENCH},
        {"¿Dónde está mi hermano?", SPANISH},
        {"Onde fica o meu escritório?", PORTUGUESE},
        {"Where does my sister live?", ENGLISH},
        {"My son bought a car near Los Angeles", ENGLISH},
        {"car", ENGLISH},
        {"Pizza Margherita 12", ENGLISH},
        {"", ENGLISH},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (language_of(&ctx->arena, str_of(rows[i].text), false) != rows[i].language)
            fail_msg("\"%s\" is of language %d", rows[i].text,
                     language_of(&ctx->arena, str_of(rows[i].text), false));
    CHECK_INT(language_of_script(0x0436), RUSSIAN);
    CHECK_INT(language_of_script(0x0645), ARABIC);
    CHECK_INT(language_of_script(0x0915), HINDI);
    CHECK_INT(language_of_script('a'), ENGLISH);
}

/* --- forms of words --- */

static bool has_stem(const struct words *w, str stem)
{
    bool has = false;
    for (size_t i = 0; i < w->n; i++)
        has |= !w->v[i].is_stop && str_eq(w->v[i].stem, stem);
    return has;
}

/* How many words of the question the text's index has at least, of those that say something; 0:
 * none at all. */
struct asked {
    const char *question, *text;
    size_t least;
};

static void check_asked(struct ctx *ctx, const struct asked *rows, size_t n_rows)
{
    for (const struct asked *r = rows; r < rows + n_rows; r++) {
        struct words q = words_for(&ctx->arena, str_of(r->question), 100, TO_ASK);
        struct words t = words_for(&ctx->arena, str_of(r->text), 100, TO_INDEX);
        size_t n = 0;
        for (size_t i = 0; i < q.n; i++)
            n += !q.v[i].is_stop && has_stem(&t, q.v[i].stem);
        if (r->least ? n < r->least : n > 0)
            fail_msg("\"%s\" has %zu words in \"%s\", not %zu", r->question, n, r->text, r->least);
    }
}

TEST(german_forms_and_compounds_are_found)
{
    static const struct asked rows[] = {
        {"Wann habe ich die Autos gekauft?", "Ich kaufe mir ein Auto", 2},
        {"Wohin zog meine Schwester?", "Meine Schwester ist nach Rostock gezogen", 2},
        {"Wann ist der Termin beim Zahnarzt?", "Mein Zahnarzttermin ist im März", 2},
        {"Wann ist mein Zahnarzttermin?", "Der Termin beim Zahnarzt ist im März", 2},
        {"Wo steht mein Kuehlschrank?", "Der Kühlschrank ist neu", 1},
        {"Wer wohnt in der Hauptstrasse?", "Er wohnt in der Hauptstraße", 2},
        {"Ist das meine?", "Das ist meine Sache", 0},
    };
    check_asked(ctx, rows, sizeof rows / sizeof *rows);
}

TEST(romance_forms_are_found)
{
    static const struct asked rows[] = {
        {"Où avons-nous mangé ?", "Je mange toujours chez Paul", 1},
        {"Quels sont mes chevaux préférés, les chevaux noirs ?", "j'ai un cheval noir", 1},
        {"¿Cuándo fue la operacion?", "La operación de mi hermana fue en mayo", 1},
        {"¿Quién rompía los vasos?", "Mi hermano rompió el vaso", 2},
        {"Onde comprei os pães?", "Compramos pão na padaria", 2},
        {"Quando são as aulas de natação?", "A aula de natacao é na terça", 2},
        {"le café", "the cafe", 1},
    };
    check_asked(ctx, rows, sizeof rows / sizeof *rows);
}

TEST(russian_forms_are_found)
{
    static const struct asked rows[] = {
        {"Где лежат мои ключи?", "Ключ лежал на столе", 2},
        {"Ещё мёд?", "Еще мед", 1},
        {"Что увидела сестра?", "Сёстры видели медведя", 2},
        {"Кому я одалживал палатку?", "Одолжил Тимуру палатки", 2},
    };
    check_asked(ctx, rows, sizeof rows / sizeof *rows);
}

TEST(arabic_forms_are_found)
{
    static const struct asked rows[] = {
        {"أين الحقائب؟", "حقيبة سلمى في البيت", 1},
        {"أين سيارتنا؟", "السيارة في الشارع", 1},
        {"المفاتيح", "وضعت المِفْتـاح هناك", 1},
        {"احمد", "أحمد", 1},
    };
    check_asked(ctx, rows, sizeof rows / sizeof *rows);
}

TEST(hindi_forms_are_found)
{
    static const struct asked rows[] = {
        {"किताबें कहाँ हैं?", "मेरी किताब मेज़ पर है", 1},
        {"हिन्दी पढ़ाया", "हिंदी पढ़ाती हूँ", 2},
        {"मज़दूर", "मजदूर", 1},
    };
    check_asked(ctx, rows, sizeof rows / sizeof *rows);
}

TEST(scripts_without_spaces_are_found)
{
    static const struct asked rows[] = {
        {"我的猫叫什么?", "我养了一只三毛猫", 1},
        {"我的什么?", "我有什么", 0},
        {"猫の名前は何?", "三毛猫の名前はタマです", 3},
        {"コーヒー", "ｺｰﾋｰを飲む", 1},
        {"ＷｉＦｉ", "the wifi", 1},
        {"แมวของฉันสีอะไร", "เลี้ยงแมวสีส้ม", 1},
        {"อะไรของฉัน", "ฉันมีอะไร", 0},
    };
    check_asked(ctx, rows, sizeof rows / sizeof *rows);
}

TEST(korean_particles_and_endings_part_nothing)
{
    static const struct asked rows[] = {
        {"차를 어디서 샀지?", "중고 차가 좋아서 샀어요", 2},
        {"고양이는 뭐야?", "고양이가 있어요", 1},
        {"무엇을 배우지?", "한국어를 배웠어요", 1},
        {"어디야?", "어디에 있어요", 0},
    };
    check_asked(ctx, rows, sizeof rows / sizeof *rows);
}

TEST(english_is_as_it_was)
{
    str text = S("My son sold the cars in Los Angeles, didn't he? Café 3.12 naïve 猫");
    struct words x = words_of(&ctx->arena, text, 100),
                 y = words_for(&ctx->arena, text, 100, TO_ASK);
    CHECK_INT(x.n, y.n);
    for (size_t i = 0; i < x.n; i++) {
        CHECK_STR(x.v[i].stem, y.v[i].stem);
        CHECK_INT(x.v[i].is_stop, y.v[i].is_stop);
    }
}

TEST(a_long_run_goes_by_pieces)
{
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    for (int i = 0; i < 20000; i++)
        buf_add(&b, i % 2 ? S("猫") : S("狗"));
    buf_add(&b, S("咖啡"));
    struct words some = words_for(&ctx->arena, buf_str(&b), 500, TO_INDEX);
    struct words all = words_for(&ctx->arena, buf_str(&b), 100000, TO_INDEX);
    CHECK_INT(some.n, 500);
    CHECK(all.n > 39000 && has_stem(&all, S("咖啡")));
}

TEST(no_text_is_too_strange)
{
    static const char *const texts[] = {
        "\xFF\xC3 ich und \xE0\xA4", "า",   "เ",  "์์",    "ﾞ", "ـ", "ال", "و", "ь", "्", "은",
        "가가가가가가가가",          "des", "ge", "zu t"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        words_for(&ctx->arena, str_of(texts[i]), 100, TO_INDEX);
        words_for(&ctx->arena, str_of(texts[i]), 100, TO_ASK);
        CHECK(words_for(&ctx->arena, S("die Zahnarzttermine und Autos"), 2, TO_INDEX).n <= 2);
    }
}

/* --- what is told --- */

TEST(statements_are_facts_in_five_languages)
{
    static const struct told rows[] = {
#define TELLS(text, want) {text, want},
#include "told.def"
#undef TELLS
    };
    check_facts(ctx, EXTRACT_USER, rows, sizeof rows / sizeof *rows);
}

TEST(what_is_asked_wished_quoted_or_of_others_is_no_fact)
{
    static const char *const rows[] = {
#define NO_FACT(text) text,
#include "told.def"
#undef NO_FACT
    };
    check_no_facts(ctx, rows, sizeof rows / sizeof *rows);
}
