/* relatives.c - persons without a name: the speaker, others, and who they are to the speaker. */
#include "engine/questions/relatives.h"

#include "engine/text/lexicon.h"
#include "lang/pronouns_lists.h"
#include "words/stem_table.h"

enum {
    MOTHER = 1 << 0,
    FATHER = 1 << 1,
    SISTER = 1 << 2,
    BROTHER = 1 << 3,
    SON = 1 << 4,
    DAUGHTER = 1 << 5,
    PARTNER = 1 << 6,
    AUNT = 1 << 7,
    UNCLE = 1 << 8,
    NIECE = 1 << 9,
    NEPHEW = 1 << 10,
    COUSIN = 1 << 11,
    GRANDMOTHER = 1 << 12,
    GRANDFATHER = 1 << 13,
    GRANDCHILD = 1 << 14,
    BOSS = 1 << 15,
    LANDLORD = 1 << 16,
    NEIGHBOUR = 1 << 17,
    ROOMMATE = 1 << 18,
    COLLEAGUE = 1 << 19
};

static const struct stem_row rows[] = {
#define RELATIVE(who, words) {who, words},
#include "lang/relatives.def"
};

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
    static const struct stem_row kin[] = {
#define KIN(words) {1, words},
#include "lang/kin.def"
    };
    return stem_bits(STEM_TABLE(kin), stem);
}

bool is_said_of_relative(const struct words *sentence, const struct term_set *but)
{
    enum { FRONT = 5 };
    const struct stem_table *t = STEM_TABLE(rows);
    uint32_t who = 0;
    for (size_t i = 0; i < sentence->n; i++) {
        if (word_is_speaker(sentence->v[i].text))
            return false;
        who |= i < FRONT ? stem_bits(t, sentence->v[i].stem) : 0;
    }
    return who && !SOME(i, t->n, t->v[i].bits & who && terms_have(but, str_hash(t->v[i].text)));
}
