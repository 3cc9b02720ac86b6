/* subject.c - whether a statement is about the one whom a question is about. */
#include "engine/recall/subject.h"

#include "base/stem_table.h"
#include "engine/recall/currency.h"
#include "engine/recall/unspaced.h"
#include "engine/text/attributes.h"
#include "engine/text/lexicon.h"

/*
 * "Where does my sister live?" must not be answered with "I live in Bergen", although both tell of
 * a home. Names and words of kinship in the question must be in the statement; a question of one's
 * own needs a statement in the first person, or a short one without a subject ("Home: Bergen"). My
 * daughter is one of my kids.
 */

enum { WORDS = 120, FRONT = 3 };

/* Words for several kinds of relatives, and those whom they may mean. */
enum { CHILDREN = 1, SIBLINGS = 2, PARENTS = 4, GRANDPARENTS = 8 };
static const struct stem_row general_rows[] = {
    {CHILDREN, "child children kid kids kind kinder enfant enfants hijos filhos figli"},
    {SIBLINGS, "sibling siblings geschwister"},
    {PARENTS, "parent parents eltern padres pais genitori"},
    {GRANDPARENTS, "grandparent grandparents großeltern abuelos avós nonni"},
};
static const struct stem_row relative_rows[] = {
    {CHILDREN, "son daughter lad lads boy boys girl girls baby toddler twins sohn tochter fils "
               "fille hijo hija filho filha figlio figlia"},
    {SIBLINGS, "brother sister bruder schwester frère sœur soeur hermano hermana irmão irmã "
               "fratello sorella"},
    {PARENTS, "mother father mum mom dad mutter vater mère père madre padre mãe pai"},
    {GRANDPARENTS, "grandmother grandfather grandma grandpa granny oma opa großmutter großvater "
                   "abuela abuelo avó avô nonna nonno"},
};

/* 0 of a word that is none of the general ones. */
static uint32_t general_of(str stem)
{
    return stem_bits(stem_table_of(general_rows, sizeof general_rows / sizeof *general_rows), stem);
}

static bool holds_relative(const struct words *w, uint32_t general)
{
    const struct stem_table *relatives =
        stem_table_of(relative_rows, sizeof relative_rows / sizeof *relative_rows);
    for (size_t i = 0; i < w->n; i++)
        if (stem_bits(relatives, w->v[i].stem) & general)
            return true;
    return false;
}

static bool holds_stem(const struct words *w, str stem)
{
    for (size_t i = 0; i < w->n; i++)
        if (str_eq(w->v[i].stem, stem))
            return true;
    return false;
}

/* "Monday" and "May" are written like names and name nobody. */
static bool is_date(const struct word *w)
{
    return lexicon_is(w->text, LEX_MONTH | LEX_WEEKDAY);
}

/* German nouns are written like names, too: "Haustiere" is what is asked for, and nobody. */
static bool names_someone(const struct word *w)
{
    struct words one = {.v = (struct word *)w, .n = 1};
    return w->is_name && !is_date(w) && !lexicon_is(w->text, LEX_SELF | LEX_SELF_TOO) &&
           !attributes_told(&one);
}

/* "My sister …", "Otto …": someone else in front, before any "I". */
static bool is_of_other(const struct words *w)
{
    for (size_t i = 0; i < w->n && i < FRONT; i++) {
        if (currency_is_kin(w->v[i].stem))
            return !(i + 2 < w->n && str_eq_nocase(w->v[i + 2].text, S("I")));
        if (lexicon_is(w->v[i].text, LEX_SELF) && !str_eq_nocase(w->v[i].text, S("my")) &&
            !str_eq_nocase(w->v[i].text, S("our")))
            return false;
    }
    return false;
}

static bool is_first_person(const struct words *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (lexicon_is(w->v[i].text, LEX_SELF | LEX_SELF_TOO))
            return true;
    return false;
}

/* "¿Dónde trabajaba?": the verb says who, without a pronoun. */
static bool has_own_verb(const struct words *w)
{
    static const char *const verbs[] = {"vivo",      "vivía",    "vivía",        "trabajo",
                                        "trabajaba", "tengo",    "tenía",        "moro",
                                        "morava",    "vivia",    "trabalho",     "trabalhava",
                                        "tenho",     "tinha",    "abito",        "abitavo",
                                        "vivevo",    "lavoro",   "lavoravo",     "ho",
                                        "avevo",     "vivíamos", "trabajábamos", "j",
                                        NULL};
    for (size_t i = 0; i < w->n; i++)
        if (str_is_one_of(w->v[i].text, verbs))
            return true;
    return false;
}

/* requests: it is a request and no question, and any statement of the user's own bears on it. */
bool subject_fits(struct arena *a, str question, str statement, bool requests)
{
    enum { BARE = 24 };
    struct words q = words_of(a, question, WORDS), s = words_of(a, statement, WORDS);
    bool names = false;
    if (text_is_unspaced(question) && text_is_unspaced(statement))
        return requests || unspaced_subject_fits(question, statement);
    if (requests)
        return is_first_person(&s) || s.n <= BARE;
    for (size_t i = 0; i < q.n; i++) {
        const struct word *w = &q.v[i];
        uint32_t general = general_of(w->stem);
        if (!general && !currency_is_kin(w->stem) && !names_someone(w))
            continue;
        names = true;
        if (holds_stem(&s, w->stem) || holds_relative(&s, general))
            return true;
    }
    bool is_own = is_first_person(&q) || has_own_verb(&q);
    return !names && is_own && !is_of_other(&s) && (is_first_person(&s) || s.n <= BARE);
}
