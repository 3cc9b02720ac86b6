/* lexicon.c - the classes of words that rules ask for: months, pronouns, negations and so on. */
#include "engine/text/lexicon.h"

#include "words/word_index.h"

/* A word has a set of classes, so one look-up answers several questions. Longer words than WORD_MAX
 * are in no class. */

enum { WORD_MAX = 15 };

static const struct entry {
    str word;
    unsigned classes;
    int number;
} entries[] = {
#define WORD(w, c) {{w, sizeof w - 1}, c, -1},
#define NTH(w, c, n) {{w, sizeof w - 1}, c, n},
#include "lang/lexicon.def"
};

static const struct entry *entry_of(str word)
{
    if (!word.n || word.n > WORD_MAX)
        return NULL;
    uint32_t at = word_index_find_lower(WORD_INDEX(entries), word);
    return at == NO_WORD ? NULL : &entries[at];
}

unsigned lexicon_classes(str word)
{
    const struct entry *e = entry_of(word);
    return e ? e->classes : 0;
}

bool lexicon_is(str word, unsigned classes)
{
    return lexicon_classes(word) & classes;
}

bool lexicon_in(const struct words *w, unsigned classes)
{
    return SOME(i, w->n, lexicon_is(w->v[i].text, classes));
}

int lexicon_month(str word)
{
    const struct entry *e = entry_of(word);
    return e && (e->classes & (LEX_MONTH | LEX_MONTH_SHORT)) ? e->number : -1;
}

bool word_says_nothing(const struct word *w)
{
    return w->is_stop || lexicon_is(w->text, LEX_USER | LEX_MONTH | LEX_WEEKDAY);
}
