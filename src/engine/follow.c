/* follow.c - whether a question needs what was said before it, by its words. */
#include "engine/rewrite.h"

/*
 * The RAG backend's list is asked as parts of words there, so that "it" in "capital" makes nearly
 * every question a follow-up; here words are whole, and what they may stand for in the question
 * itself is looked for first. A wrong yes costs recall little (what was spoken of is searched as
 * well, with the words of the question), a wrong no costs the answer.
 */

bool word_is_any(str word, const char *const *list)
{
    while (*list && !str_eq_nocase(word, str_of(*list)))
        list++;
    return *list;
}

static str text_at(const struct words *w, size_t i)
{
    return i < w->n ? w->v[i].text : S("");
}

static bool is_at(const struct words *w, size_t i, const char *const *list)
{
    return i < w->n && word_is_any(w->v[i].text, list);
}

static const char *const auxiliaries[] = {"is",    "was",   "are",    "were",  "did",  "does",
                                          "do",    "has",   "have",   "had",   "will", "can",
                                          "would", "could", "should", "might", "may",  NULL};
static const char *const prepositions[] = {"about", "of", "for", "with", "like", "after", "before",
                                           "from",  "at", "in",  "on",   "by",   "than",  NULL};

/* --- what explains a pronoun in the question itself --- */

/* Joins clauses: what stands behind may mean what stands before. */
static bool is_joint(const struct words *w, size_t i)
{
    static const char *const joints[] = {"and",    "but",   "or",    "if",    "when",  "because",
                                         "so",     "then",  "while", "that",  "which", "who",
                                         "before", "after", "since", "where", "to",    NULL};
    return is_at(w, i, joints);
}

static bool is_name(const struct words *w, size_t i)
{
    static const char *const openings[] = {"tell", "explain", "list",   "describe", "show", "give",
                                           "name", "thanks",  "please", "yes",      "ok",   NULL};
    char c = w->v[i].text.p[0];
    bool opens = i == 0 && !w->v[i].is_stop && c >= 'A' && c <= 'Z' && !is_at(w, i, openings);
    return w->v[i].is_name || opens;
}

/* Somebody was named before; parted: with a clause between, as nobody is the object of himself. */
static bool has_name(const struct words *w, size_t at, bool parted)
{
    bool named = false, joined = false;
    for (size_t i = 0; i < at; i++) {
        joined |= named && i + 1 < at && is_joint(w, i); /* "to her" joins nothing */
        named |= is_name(w, i);
    }
    return named && (joined || !parted);
}

/* "Reverse a list and print it": a thing was named in a clause before. */
static bool has_thing(const struct words *w, size_t at)
{
    static const char *const articles[] = {"a",    "an",  "the", "my",   "your",  "our",
                                           "some", "all", "any", "each", "these", NULL};
    bool named = false, joined = false;
    for (size_t i = 0; i < at; i++) {
        joined |= named && is_joint(w, i);
        named |= is_at(w, i, articles) && i + 1 < at && !w->v[i + 1].is_stop;
    }
    return joined;
}

/* --- pronouns --- */

/* "him", and "her" where no noun follows. */
static bool is_object(const struct words *w, size_t i)
{
    static const char *const him[] = {"him", NULL}, *const her[] = {"her", NULL};
    return is_at(w, i, him) || (is_at(w, i, her) && (i + 1 == w->n || w->v[i + 1].is_stop));
}

static bool lacks_person(const struct words *w, size_t i)
{
    static const char *const persons[] = {"he", "she", "him", "her", "his", "hers", NULL};
    return is_at(w, i, persons) && !has_name(w, i, is_object(w, i));
}

/* "What time is it?", "Is it safe to …?": it stands for nothing. */
static bool is_empty_it(const struct words *w, size_t i)
{
    static const char *const be[] = {"is", "was", "will", "would", NULL},
                             *const it[] = {"it", NULL},
                             *const behind[] = {"to", "that", "for", NULL},
                             *const time[] = {"time", "day", "date", NULL};
    if (!i || !is_at(w, i, it) || !is_at(w, i - 1, be))
        return false;
    return (i > 1 && is_at(w, i - 2, time)) || is_at(w, i + 2, behind);
}

static bool is_plain(const struct words *w, size_t i)
{
    static const char *const things[] = {"it",    "its",    "they",   "them",
                                         "their", "theirs", "itself", NULL},
                             *const owners[] = {"they", "their", NULL};
    if (!is_at(w, i, things) || is_empty_it(w, i) || has_thing(w, i))
        return false;
    return !(is_at(w, i, owners) && has_name(w, i, false));
}

/* "What does that mean?", "after that"; neither "the game that he plays" nor "this year". */
static bool is_pointing(const struct words *w, size_t i)
{
    static const char *const pointing[] = {"this", "that", "these", "those", NULL},
                             *const that[] = {"that", NULL},
                             *const others[] = {"year",   "week",    "month",     "morning",
                                                "summer", "weekend", "evening",   "days",
                                                "time",   "spring",  "autumn",    "winter",
                                                "way",    "who",     "afternoon", NULL},
                             *const means[] = {"mean", "means", "happen", "happened",
                                               "work", "come",  "say",    NULL};
    if (!is_at(w, i, pointing) || is_at(w, i + 1, others) || has_thing(w, i))
        return false;
    if (!is_at(w, i, that))
        return true;
    bool is_asked = i == 0 || is_at(w, i - 1, auxiliaries) || is_at(w, i - 1, prepositions);
    return i + 1 == w->n || is_at(w, i + 1, auxiliaries) || is_at(w, i + 1, means) ||
           (is_asked && !is_name(w, i + 1));
}

/* "Which one?", "the other ones", "what did he do there?", "did they both?" */
static bool is_left_out(const struct words *w, size_t i)
{
    static const char *const one[] = {"one", NULL}, *const ones[] = {"ones", NULL},
                             *const there[] = {"there", NULL},
                             *const which[] = {"which",  "other",  "another", "first", "second",
                                               "third",  "last",   "that",    "this",  "same",
                                               "latter", "former", NULL};
    if (is_at(w, i, ones) || (i && is_at(w, i, one) && is_at(w, i - 1, which)))
        return true;
    return i && i + 1 == w->n && is_at(w, i, there) && !is_at(w, i - 1, auxiliaries);
}

/* --- without a pronoun --- */

/* "And the second?", "what about …": it goes on from what was said. */
static str opening_of(str question)
{
    static const char *const openings[] = {
        "and ",          "but ",          "or ",          "what about", "how about", "what else",
        "who else",      "where else",    "when else",    "how else",   "more ",     "go on",
        "anything else", "anyone else",   "tell me more", "why not",    "how so",    "how come",
        "same for",      "same question", "for example",  "such as",    NULL};
    for (const char *const *o = openings; *o; o++)
        if (question.n >= strlen(*o) && str_eq_nocase(str_sub(question, 0, strlen(*o)), str_of(*o)))
            return str_trim(str_sub(question, 0, strlen(*o)));
    return S("");
}

/* "Why?", "How old?", "In which city?", "Yes, please": a few words that say nothing alone. */
static bool is_short(const struct words *w)
{
    static const char *const replies[] = {"yes",      "yeah",  "yep",     "nope",   "sure",   "ok",
                                          "okay",     "right", "exactly", "please", "really", "go",
                                          "continue", "more",  "example", NULL};
    static const char *const asking[] = {"why",   "how", "when", "where", "who", "which", "what",
                                         "whose", "in",  "at",   "with",  "for", NULL};
    enum { SHORT = 4 };
    size_t telling = 0;
    bool has_verb = false;
    for (size_t i = 0; i < w->n; i++) {
        telling += !w->v[i].is_stop && !is_at(w, i, replies);
        has_verb |= is_at(w, i, auxiliaries);
    }
    if (!telling)
        return w->n > 0;
    return telling == 1 && w->n <= SHORT && !has_verb && is_at(w, 0, asking) &&
           !w->v[w->n - 1].is_name;
}

struct follow follow_of(const struct words *w, str question)
{
    struct follow f = {.because = S("")};
    if (w->n > FOLLOW_WORDS_MAX)
        return f;
    for (size_t i = 0; i < w->n; i++) {
        bool person = lacks_person(w, i) && !f.lacks_person;
        bool thing = is_plain(w, i) || is_pointing(w, i) || is_left_out(w, i);
        if (person)
            f.person = i;
        f.lacks_person |= person;
        f.lacks_thing |= thing;
        if ((person || thing) && !f.because.n)
            f.because = text_at(w, i);
    }
    str opening = opening_of(question);
    bool is_bare = !f.lacks_person && !f.lacks_thing && is_short(w);
    if (f.because.n == 0)
        f.because = opening.n ? opening : is_bare ? question : S("");
    f.lacks_thing |= opening.n || is_bare;
    return f;
}
