/* sentences.c - a text's sentences, whole, with what they end in. */
#include "engine/text/sentences.h"
#include "base/buf.h"
#include "engine/text/bytes.h"
#include "engine/text/memory_intent.h"

#include "t.h"

static str cut(struct ctx *ctx, const char *text)
{
    struct buf b = buf_make(&ctx->arena, 1 << 16);
    struct sentence s;
    for (str rest = str_of(text); sentence_cut(&rest, &s);)
        buf_printf(&b, "[" S_FMT "%s%s]", S_ARG(s.text), s.asks ? " asks" : "",
                   s.goes_on ? " goes on" : "");
    return buf_str(&b);
}

TEST(sentences_are_cut_with_their_marks)
{
    CHECK_STR(cut(ctx, "One. Two!  Three?! Four"), S("[One.][ Two!][  Three?! asks][ Four]"));
    CHECK_STR(cut(ctx, "Yes... and no. \"Go!\" she said."),
              S("[Yes... goes on][ and no.][ \"Go!\" goes on][ she said.]"));
    CHECK_STR(cut(ctx, "one\n\ntwo\nthree"), S("[one][\n\ntwo\nthree]"));
    CHECK_STR(cut(ctx, "\xE7\x8C\xAB\xEF\xBC\x9F\xE7\x8A\xAC"),
              S("[\xE7\x8C\xAB\xEF\xBC\x9F asks][\xE7\x8A\xAC]"));
    CHECK_STR(cut(ctx, "मुझे डर है।मेरी बहन गाती है। आप?"), S("[मुझे डर है।][मेरी बहन गाती है।][ आप? asks]"));
    CHECK_STR(cut(ctx, "أين أسكن؟ أختي هنا."), S("[أين أسكن؟ asks][ أختي هنا.]"));
    CHECK_STR(cut(ctx, "میں یہاں ہوں۔ تم؟!"), S("[میں یہاں ہوں۔][ تم؟! asks]"));
    CHECK_STR(cut(ctx, ""), S(""));
}

TEST(a_dot_inside_a_sentence_ends_none)
{
    CHECK_STR(cut(ctx, "Dr. J. R. Miller of the U.S. Army, e.g. Ben."),
              S("[Dr. J. R. Miller of the U.S. Army, e.g. Ben.]"));
    CHECK_STR(cut(ctx, "1. buy tea. 2. drink it."), S("[1. buy tea.][ 2. drink it.]"));
    CHECK_STR(cut(ctx, "It is 3. May, 3.14 or v.2."), S("[It is 3. May, 3.14 or v.2.]"));
    CHECK_STR(cut(ctx, "Sie heiratet am 8. M\u00E4rz in Bonn. Er kommt."),
              S("[Sie heiratet am 8. M\u00E4rz in Bonn.][ Er kommt.]"));
}

/* "24.", in German and in languages whose nouns begin with small letters. */
TEST(an_ordinal_ends_no_sentence)
{
    static const char *const whole[] = {
        "Am 24. kommt Anna.",
        "Wir fliegen am 3. und 4. Mai nach Oslo.",
        "Ich wohne im 3. Stock ohne Aufzug.",
        "Mein 40. Geburtstag war im Juni.",
        "24. maja przyjeżdża moja siostra.",
        "Mieszkam na 2. piętrze tego bloku.",
        "Sestra přijede 24. května večer.",
        "Jeg bor på 3. sal i Aarhus.",
        "Vi feirer 17. mai hos mormor.",
        "Muutin Turkuun 24. toukokuuta keväällä.",
        "Der Zahnarzt hat mir den 17. als Termin gegeben.",
        "Vom 3. bis zum 9. bin ich in Wien.",
        "Zum 2. Mal verliert er den Schlüssel.",
        "Ab dem 15. nicht mehr rauchen ist mein Ziel.",
        "Hania idzie do 4. klasy od września.",
        "Zajęła 3. miejsce w biegu.",
        "Bydlím ve 4. patře bez výtahu.",
        "Min datter går i 5. klasse nu.",
        "Hytta ligger i 2. rekke ved vannet.",
        "Asumme 6. kerroksessa Tampereella.",
    };
    static const char *const two[] = {
        "I am 24. My brother is 30.",
        "i am 24. my brother is 30.",
        "She's 31. lives in Leeds with two cats.",
        "Ich bin 24. Mein Bruder ist 30.",
        "ich bin 24. mein bruder ist 30.",
        "We met at gate 12. Then the train left.",
        "Heute ist der 24. Anna kommt morgen.",
        "My locker is number 17. The key is lost.",
        "Ten to zajęło miejsce 2. Potem poszliśmy spać.",
        "Min søn er 12. Han går i skole.",
        "My daughter turned 9. She wants a rabbit.",
        "our flat is number 8. it has no lift.",
        "I ran it in 29. Next year I want 27.",
        "Meine Tochter wird 9. Sie wünscht sich ein Kaninchen.",
        "Wir haben Hausnummer 8. Über uns wohnt Frau Kern.",
        "Die Jacke hat Größe 40. Das Kleid auch.",
        "Mam lat 24. Mój brat ma 30.",
        "Je mi 24. Bratr je starší.",
        "Datteren min er 9. Hun vil ha kanin.",
        "Olen 24. Veljeni on vanhempi.",
    };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        CHECK_STR(cut(ctx, whole[i]), str_printf(&ctx->arena, "[%s]", whole[i]));
    for (size_t i = 0; i < sizeof two / sizeof *two; i++) {
        struct sentence s;
        str rest = str_of(two[i]);
        CHECK(sentence_cut(&rest, &s) && sentence_cut(&rest, &s) && !rest.n);
        if (!is_digit(s.text.p[-2]))
            fail_msg("%s", two[i]);
    }
}

TEST(an_abbreviation_may_end_one)
{
    CHECK_STR(cut(ctx, "At Acme Inc. We saw plan B. The end. She is 34. He is not."),
              S("[At Acme Inc.][ We saw plan B.][ The end.][ She is 34.][ He is not.]"));
    CHECK_STR(cut(ctx, "I use Node 3.11. Ben left the U.S. He likes tea, etc. and so on."),
              S("[I use Node 3.11.][ Ben left the U.S.][ He likes tea, etc. and so on.]"));
}

/* "Have we met before?" asks for memory where "before" ends the sentence. */
TEST(a_dot_inside_a_word_asks_for_no_memory)
{
    CHECK_STR(gate_of(&ctx->arena, S("what to install before .NET 3.5?"), NULL, 0).phrase, S(""));
    CHECK_STR(gate_of(&ctx->arena, S("had it before. really"), NULL, 0).phrase, S("before"));
}

/* The work grows with the text and not with its square. */
TEST(any_marks_are_cut_in_time)
{
    enum { LONG = 1 << 20 };
    static const char *const runs[] = {".", ".)", "a.", "\n ", "!\"", "1. "};
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        struct buf b = buf_make(&ctx->arena, LONG + 8);
        struct sentence s;
        size_t n = 0;
        buf_byte(&b, 'x');
        while (b.n < LONG)
            buf_add(&b, str_of(runs[r]));
        buf_byte(&b, 'x');
        for (str rest = buf_str(&b); sentence_cut(&rest, &s);)
            n += s.text.n;
        CHECK_INT(n, b.n);
    }
}
