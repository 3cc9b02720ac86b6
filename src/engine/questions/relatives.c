/* relatives.c - people by what they are to the one who speaks. */
#include "engine/questions/relatives.h"

#include "engine/text/lexicon.h"
#include "words/stem_table.h"

/*
 * The encoder finds all of a family near to each other, so a question for the mother's birthday got
 * what was said of the sister. Who is in both a question and a statement counts; parents are mother
 * and father, and children are sons and daughters. Relatives by marriage are written with the same
 * words as others, so a text with "law" in it proves nothing.
 */

enum { WORDS_MAX = 200 };

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
    COLLEAGUE = 1 << 19,
    ANYBODY = 1 << 20
};

static const struct stem_row rows[] = {
#define RELATIVE(who, words) {who, words},
#include "lang/relatives.def"
};

static uint32_t relatives_in(const struct words *w)
{
    const struct stem_table *t = stem_table_of(rows, sizeof rows / sizeof *rows);
    uint32_t who = 0;
    for (size_t i = 0; i < w->n; i++)
        who |= stem_bits(t, w->v[i].stem);
    return who;
}

/* A nephew is "my sister's boy", a grandchild "Tess's baby". */
static uint32_t with_kin(uint32_t asked)
{
    enum { NEAR = SISTER | BROTHER | SON | DAUGHTER };
    bool is_far = asked & (NIECE | NEPHEW | COUSIN | GRANDCHILD);
    return is_far ? asked | NEAR | AUNT | UNCLE : asked;
}

bool is_of_other_relative(struct arena *a, const struct words *question, str statement)
{
    uint32_t asked = with_kin(relatives_in(question));
    if (!asked || asked & ANYBODY)
        return false;
    struct words s = words_of(a, statement, WORDS_MAX);
    uint32_t told = relatives_in(&s);
    if (!told || told & (asked | ANYBODY))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        bool tells = !s.v[i].is_stop && !lexicon_is(s.v[i].text, LEX_SELF | LEX_SELF_TOO);
        for (size_t k = 0; k < question->n && tells; k++)
            if (str_eq(s.v[i].stem, question->v[k].stem))
                return false;
    }
    return true;
}

/* Whether one of the words for them is among these. */
static bool are_named(const struct stem_table *t, uint32_t who, const struct term_set *terms)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->v[i].bits & who && terms_have(terms, str_hash(t->v[i].text)))
            return true;
    return false;
}

bool is_said_of_relative(const struct words *sentence, const struct term_set *but)
{
    enum { FRONT = 5 };
    const struct stem_table *t = stem_table_of(rows, sizeof rows / sizeof *rows);
    uint32_t who = 0;
    for (size_t i = 0; i < sentence->n && i < FRONT; i++)
        who |= stem_bits(t, sentence->v[i].stem) & ~(uint32_t)ANYBODY;
    return who && !are_named(t, who, but);
}
