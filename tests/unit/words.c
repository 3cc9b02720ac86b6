/* words.c - splitting, folding and stemming. */
#include "words/words.h"
#include "base/utf8.h"

#include "t.h"

static str stems(struct ctx *ctx, const char *text)
{
    struct words w = words_of(&ctx->arena, str_of(text), 1000);
    str out = S("");
    for (size_t i = 0; i < w.n; i++)
        out =
            str_printf(&ctx->arena, S_FMT "%s" S_FMT, S_ARG(out), i ? " " : "", S_ARG(w.v[i].stem));
    return out;
}

TEST(words_are_folded_and_stemmed)
{
    CHECK_STR(stems(ctx, "Running dogs, the Café's größe"), S("run dog the cafe s gross"));
    CHECK_STR(stems(ctx, "Python 3.12 and 1,000."), S("python 3.12 and 1 000"));
    CHECK_STR(stems(ctx, ""), S(""));
}

TEST(irregular_forms_lead_to_their_base)
{
    CHECK_STR(stems(ctx, "She went, bought; children"), S("she go buy child"));
    CHECK_STR(stems(ctx, "go buy child"), S("go buy child"));
    CHECK_STR(stems(ctx, "left saw"), S("left saw"));
}

TEST(words_as_written_are_the_same_words)
{
    str text = S("I told Zoë that Python 3.12 is fine. お寿司 On Monday, it's I");
    struct words x = words_of(&ctx->arena, text, 1000);
    struct words y = words_as_written(&ctx->arena, text, 1000);
    CHECK_INT(x.n, y.n);
    for (size_t i = 0; i < x.n; i++) {
        CHECK_STR(x.v[i].text, y.v[i].text);
        CHECK_INT(x.v[i].at, y.v[i].at);
    }
    CHECK_INT(words_as_written(&ctx->arena, text, 3).n, 3);
}

TEST(british_spellings_are_the_american_ones)
{
    CHECK_STR(stems(ctx, "favourite colours, grey tyres; organised travelling theatre"),
              stems(ctx, "favorite colors, gray tires; organized traveling theater"));
}

TEST(scripts_without_spaces_give_pairs)
{
    CHECK_STR(stems(ctx, "お寿司 x"), S("お寿 寿司 x"));
    CHECK_STR(stems(ctx, "猫"), S("猫"));
}

TEST(stop_words_and_names_are_marked)
{
    struct words w = words_of(&ctx->arena, S("When did Caroline meet Bob? The end. I am"), 100);
    CHECK(w.v[0].is_stop && w.v[1].is_stop && !w.v[0].is_name);
    CHECK(w.v[2].is_name && !w.v[2].is_stop);
    CHECK(w.v[4].is_name);
    CHECK(!w.v[5].is_name);
}

TEST(contractions_without_an_apostrophe_say_nothing_either)
{
    struct words w = words_of(&ctx->arena, S("whats my dogs name, i dont know"), 10);
    CHECK(w.v[0].is_stop && !w.v[2].is_stop && w.v[5].is_stop);
}

TEST(bytes_that_are_no_utf8_do_no_harm)
{
    struct words w = words_of(&ctx->arena, S("a\xFF\xC3 b\xE3\x81"), 100);
    CHECK_INT(w.n, 2);
}

TEST(utf8_checks_and_cuts)
{
    CHECK(utf8_is_valid(S("plain é 寿 😀")));
    CHECK(!utf8_is_valid(S("\xC0\x80")));
    CHECK(!utf8_is_valid(S("\xED\xA0\x80")));
    CHECK(!utf8_is_valid(S("\xF4\x90\x80\x80")));
    CHECK(!utf8_is_valid(S("12345678\xE3\x81")));
    CHECK_STR(utf8_cut(S("aé"), 2), S("a"));
    CHECK_INT(utf16_length(S("a😀é")), 4);
    CHECK_INT(utf8_length(S("a😀é")), 3);
}

/* A selector behind an emoji, a mark and a filler that nobody sees are no words. */
TEST(what_folds_to_nothing_is_no_word)
{
    CHECK_STR(stems(ctx, "I \u2764\uFE0F you \u0301 \u3164"), S("i you"));
    CHECK_STR(stems(ctx, "\u0301abc \u0915\u094D\u0937"), S("abc \u0915\u094D\u0937"));
    CHECK_INT(words_of(&ctx->arena, S("\u2600\uFE0F"), 10).n, 0);
    CHECK_STR(stems(ctx, "\u0621"), S("\u0621"));
}

/* The first letter is an old form of a Cyrillic one, far behind all others: folding gives the same
 * word, whose rules are chosen by that letter. */
TEST(a_word_has_one_stem_whatever_was_split_before)
{
    str before = stems(ctx, "\u1C80\u043E\u0434\u044B");
    CHECK(before.n > 0);
    CHECK_STR(stems(ctx, "\u0432\u043E\u0434\u044B"), S("\u0432\u043E\u0434"));
}
