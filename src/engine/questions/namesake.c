/* namesake.c - names that look like words: "a bath bomb" is not about the town of Bath. */
#include "engine/questions/namesake.h"

#include "engine/text/attributes.h"
#include "engine/text/lexicon.h"
#include "lang/namesake_lists.h"

/*
 * "How do I mark a date?" shares "mark" with "I told Mark about the report". In the question it is
 * a word, in the statement a name, and nothing else is shared, so the statement counts for nothing.
 * One shared word with the same sense, or one that cannot be judged, is enough to keep the result:
 * this only removes what has no other reason to be there. There is no list of names
 * (decisions/022).
 */

enum { WORDS_MAX = 200 };

enum sense { EITHER, NAME, WORD };

static bool is_capital(const struct word *w)
{
    return w->text.p[0] >= 'A' && w->text.p[0] <= 'Z';
}

/* "its MOT" is the same as "my MOT". */
static bool is_acronym(const struct word *w)
{
    bool all = w->text.n > 1;
    for (size_t i = 0; i < w->text.n; i++)
        all &= w->text.p[i] >= 'A' && w->text.p[i] <= 'Z';
    return all;
}

/* "zum Schwimmen", "im Essen": an article is in it, as in "the". */
static bool is_article(str word)
{
    return lexicon_is(word, LEX_ARTICLE | LEX_DETERMINER | LEX_SELF | LEX_SELF_TOO) ||
           str_is_one_of(word, name_articles);
}

/* "called", "name", "names", "named" */
static bool is_naming(const struct word *w)
{
    return str_eq(w->stem, S("call")) || str_eq(w->stem, S("name"));
}

/* "Rose, my aunt": who it is stands behind. */
static bool is_explained(const struct words *w, size_t i, str text)
{
    size_t behind = w->v[i].at + w->v[i].text.n;
    return behind < text.n && text.p[behind] == ',' && i + 1 < w->n &&
           lexicon_is(w->v[i + 1].text, LEX_DETERMINER | LEX_ARTICLE);
}

/* "in May", "on 18 December", "May 5": no name. */
static bool is_in_date(const struct words *w, size_t i)
{
    const struct word *before = i ? &w->v[i - 1] : NULL;
    bool is_behind =
        before && (before->is_number || lexicon_is(before->text, LEX_PREPOSITION | LEX_DATE));
    return is_behind || (i + 1 < w->n && w->v[i + 1].is_number);
}

/* Capitals within a sentence make names, small letters words; numbers, acronyms, accented
 * beginnings and the first word of a sentence prove nothing. is_lazy: the text has no capitals at
 * all. */
static enum sense sense_in(const struct words *w, size_t i, str text, bool is_lazy)
{
    const struct word *at = &w->v[i], *before = i ? at - 1 : NULL;
    if (at->is_number || (unsigned char)at->text.p[0] >= 0x80 || is_acronym(at))
        return EITHER;
    if (!is_capital(at)) {
        unsigned owner = before ? lexicon_classes(before->text) : 0;
        bool is_own = (owner & LEX_SELF_TOO) || ((owner & LEX_SELF) && (owner & LEX_DETERMINER));
        return is_lazy || is_own ? EITHER : WORD;
    }
    if (is_explained(w, i, text))
        return NAME;
    if (!at->is_name) {
        bool is_order = i + 1 < w->n && lexicon_is(w->v[i + 1].text, LEX_ARTICLE);
        return is_order ? WORD : EITHER;
    }
    if (lexicon_is(at->text, LEX_MONTH | LEX_WEEKDAY) && is_in_date(w, i))
        return WORD;
    if (before && lexicon_is(before->text, LEX_ARTICLE | LEX_DETERMINER | LEX_SELF))
        return EITHER; /* "the Berlingo" is a name, "the Bath" may be none */
    return before && is_article(before->text) ? WORD : NAME;
}

/* Of a word that stands there several times: EITHER when they differ. */
static enum sense sense_of(const struct words *w, str stem, str text, bool is_lazy, bool *is_there)
{
    enum sense sense = EITHER;
    for (size_t i = 0; i < w->n; i++) {
        if (!str_eq(w->v[i].stem, stem))
            continue;
        enum sense here = sense_in(w, i, text, is_lazy);
        sense = *is_there && here != sense ? EITHER : here;
        *is_there = true;
    }
    return sense;
}

/* Nothing in it is written with a capital. */
static bool is_all_small(const struct words *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (is_capital(&w->v[i]) && !str_is(w->v[i].text, "I"))
            return false;
    return true;
}

/* One of the two must be a name, and names have capitals. Most questions and many statements need
 * no closer look. */
static bool may_differ(const struct words *question, str question_text, str statement)
{
    bool is_lazy = is_all_small(question), has_name = false, has_word = false, is_there = false;
    for (size_t i = 0; i < question->n; i++) {
        if (question->v[i].is_stop)
            continue;
        enum sense sense = sense_in(question, i, question_text, is_lazy);
        has_name |= sense == NAME;
        has_word |= sense == WORD;
    }
    for (size_t i = 0; i < statement.n && has_word && !has_name && !is_there; i++)
        is_there = statement.p[i] >= 'A' && statement.p[i] <= 'Z';
    return has_name || is_there;
}

/*
 * False also when no word is shared: then meaning found it, and that is not for this rule to judge.
 */
bool is_namesake(struct arena *a, const struct words *question, str question_text, str statement)
{
    if (!may_differ(question, question_text, statement))
        return false;
    struct words s = words_of(a, statement, WORDS_MAX);
    bool lazy_question = is_all_small(question), lazy_statement = is_all_small(&s), found = false;
    for (size_t i = 0; i < question->n; i++) {
        const struct word *w = &question->v[i];
        bool is_there = false, is_asked = false;
        if (w->is_stop)
            continue;
        enum sense there = sense_of(&s, w->stem, statement, lazy_statement, &is_there);
        if (!is_there)
            continue;
        enum sense here = sense_of(question, w->stem, question_text, lazy_question, &is_asked);
        if (here == EITHER || there == EITHER || here == there)
            return false;
        found = true;
    }
    return found;
}

/* Whose name is asked for: the place of the word; w->n when it is nobody's. "My sister's name",
 * "what is my sister called", "the name of my sister". */
static size_t asked_name_of(const struct words *w)
{
    bool asks = false;
    size_t of = w->n;
    for (size_t i = 0; i < w->n; i++) {
        asks |= is_naming(&w->v[i]);
        if (i + 1 < w->n && of == w->n && lexicon_is(w->v[i].text, LEX_SELF) &&
            lexicon_is(w->v[i].text, LEX_DETERMINER))
            of = i + 1;
    }
    return asks && of < w->n && !is_naming(&w->v[of]) ? of : w->n;
}

bool is_other_name(struct arena *a, const struct words *question, str statement)
{
    size_t of = asked_name_of(question);
    if (of == question->n)
        return false;
    const struct words one = {.v = &question->v[of], .n = 1};
    struct words s = words_of(a, statement, WORDS_MAX);
    bool names = false, owns = false; /* "my manager"; of "a pitbull named Biscuit" who can tell? */
    for (size_t i = 0; i < s.n; i++) {
        bool is_named = is_naming(&s.v[i]);
        names |= is_named;
        owns |= lexicon_is(s.v[i].text, LEX_DETERMINER) || str_eq_nocase(s.v[i].text, S("the"));
        for (size_t k = 0; k < question->n && !is_named && !s.v[i].is_stop; k++)
            if (str_eq(s.v[i].stem, question->v[k].stem))
                return false;
    }
    return names && owns && !(attributes_told(&one) & attributes_told(&s));
}
