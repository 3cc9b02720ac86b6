/* lexicon.c - words are found with their classes, whatever their case. */
#include "engine/text/lexicon.h"

#include "t.h"

static const char *const words[] = {
#define WORD(w, c) w,
#define NTH(w, c, n) w,
#include "lang/lexicon.def"
};
enum { WORDS = sizeof words / sizeof *words };

/* The search by halves would miss a word that stands in the wrong place. */
TEST(every_word_is_found)
{
    for (size_t i = 0; i < WORDS; i++)
        if (!lexicon_classes(str_of(words[i])) ||
            (i && str_cmp(str_of(words[i - 1]), str_of(words[i])) >= 0))
            fail_msg("'%s' is in the wrong place", words[i]);
    CHECK_INT(lexicon_classes(S("")), 0);
    CHECK_INT(lexicon_classes(S("aardvark")), 0);
    CHECK_INT(lexicon_classes(S("a-word-longer-than-all-of-them")), 0);
}

TEST(a_word_may_be_of_several_classes)
{
    CHECK(lexicon_is(S("May"), LEX_MONTH) && lexicon_is(S("may"), LEX_AUXILIARY));
    CHECK(lexicon_is(S("NICHT"), LEX_NEGATION) && !lexicon_is(S("nicht"), LEX_SELF_TOO));
}

TEST(months_have_their_number_short_or_long)
{
    CHECK_INT(lexicon_month(S("January")), 0);
    CHECK_INT(lexicon_month(S("sept")), 8);
    CHECK_INT(lexicon_month(S("Sep")), 8);
    CHECK_INT(lexicon_month(S("december")), 11);
    CHECK_INT(lexicon_month(S("monday")), -1);
    CHECK_INT(lexicon_month(S("mayor")), -1);
}
