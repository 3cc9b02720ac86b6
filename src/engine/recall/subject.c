/* subject.c - whether a statement is about the one whom a question is about. */
#include "engine/recall/subject.h"

#include "engine/recall/currency.h"
#include "engine/recall/unspaced.h"
#include "engine/text/lexicon.h"

/*
 * "Where does my sister live?" must not be answered with "I live in Bergen", although both tell of
 * a home. Names and words of kinship in the question must be in the statement; a question of one's
 * own needs a statement in the first person, or a short one without a subject ("Home: Bergen").
 */

enum { WORDS = 120, FRONT = 3 };

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
                                        "avevo",     "vivíamos", "trabajábamos", NULL};
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
        if (!currency_is_kin(w->stem) &&
            !(w->is_name && !is_date(w) && !lexicon_is(w->text, LEX_SELF | LEX_SELF_TOO)))
            continue;
        names = true;
        if (holds_stem(&s, w->stem))
            return true;
    }
    bool is_own = is_first_person(&q) || has_own_verb(&q);
    return !names && is_own && !is_of_other(&s) && (is_first_person(&s) || s.n <= BARE);
}
