/* persons.c - single words that name a person without a name. */
#include "engine/questions/persons.h"

#include "engine/text/lexicon.h"
#include "lang/pronouns_lists.h"
#include "words/stem_table.h"

bool word_is_speaker(str word)
{
    return str_is_one_of(word, self_pronouns);
}

bool word_is_pronoun(str word)
{
    return lexicon_is(word, LEX_PERSON | LEX_THING) || str_is_one_of(word, other_pronouns);
}

bool word_is_kin(str stem)
{
    static const struct stem_row rows[] = {
#define KIN(words) {1, words},
#include "lang/kin.def"
    };
    return stem_bits(stem_table_of(rows, sizeof rows / sizeof *rows), stem);
}
