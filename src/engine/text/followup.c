/* followup.c - questions that need the words before them, known by their own words. */
#include "engine/text/followup.h"
#include "engine/text/bytes.h"
#include "engine/text/lexicon.h"
#include "lang/followup_lists.h"
#include "lang/pronouns_lists.h"

/*
 * The RAG backend's list is asked as parts of words there, so that "it" in "capital" makes nearly
 * every question a follow-up; here words are whole, and what they may stand for in the question
 * itself is looked for first. A wrong yes costs recall little (what was spoken of is searched as
 * well, with the words of the question), a wrong no costs the answer.
 */

/* "" behind the end, so that rules may look one word ahead without a check. */
static str text_at(const struct words *w, size_t i)
{
    return i < w->n ? w->v[i].text : S("");
}

static bool is_at(const struct words *w, size_t i, unsigned classes)
{
    return i < w->n && lexicon_is(w->v[i].text, classes);
}

/* --- what explains a pronoun in the question itself --- */

/* A capital at the beginning is a name's unless it is a stop word, a request or a reply. */
static bool is_name(const struct words *w, size_t i)
{
    bool opens = i == 0 && !w->v[i].is_stop && is_upper(w->v[i].text.p[0]) &&
                 !is_at(w, i, LEX_REQUEST | LEX_REPLY);
    return w->v[i].is_name || opens;
}

/* Somebody was named before; parted: with a clause between, as nobody is the object of himself. */
static bool has_name(const struct words *w, size_t at, bool parted)
{
    bool named = false, joined = false;
    for (size_t i = 0; i < at; i++) {
        joined |= named && i + 1 < at && is_at(w, i, LEX_JOINT); /* "to her" joins nothing */
        named |= is_name(w, i);
    }
    return named && (joined || !parted);
}

/* "Reverse a list and print it": a thing was named in a clause before. */
static bool has_thing(const struct words *w, size_t at)
{
    bool named = false, joined = false;
    for (size_t i = 0; i < at; i++) {
        joined |= named && is_at(w, i, LEX_JOINT);
        named |= is_at(w, i, LEX_ARTICLE | LEX_DETERMINER) && i + 1 < at && !w->v[i + 1].is_stop;
    }
    return joined;
}

/* --- pronouns --- */

/* "him", and "her" where no noun follows. */
static bool is_object(const struct words *w, size_t i)
{
    return words_are(w, i, "him") ||
           (words_are(w, i, "her") && (i + 1 == w->n || w->v[i + 1].is_stop));
}

/* "Where does she live?" lacks one; "Where does Ana say she lives?" does not. */
static bool lacks_person(const struct words *w, size_t i)
{
    return is_at(w, i, LEX_PERSON) && !has_name(w, i, is_object(w, i));
}

/* "What time is it?", "Is it safe to …?": it stands for nothing. */
static bool is_empty_it(const struct words *w, size_t i)
{
    if (!i || !words_are(w, i, "it") || !str_is_one_of(text_at(w, i - 1), before_empty_it))
        return false;
    return (i > 1 && str_is_one_of(text_at(w, i - 2), times_of_it)) ||
           str_is_one_of(text_at(w, i + 2), behind_empty_it);
}

/* "it", "they" and the like, where nothing in the question explains them. */
static bool is_plain(const struct words *w, size_t i)
{
    bool owns = words_are(w, i, "they") || words_are(w, i, "their");
    if (!is_at(w, i, LEX_THING) || is_empty_it(w, i) || has_thing(w, i))
        return false;
    return !(owns && has_name(w, i, false));
}

/* "What does that mean?", "after that"; neither "the game that he plays" nor "this year". */
static bool is_pointing(const struct words *w, size_t i)
{
    bool is_behind =
        is_at(w, i + 1, LEX_SPAN) || words_are(w, i + 1, "way") || words_are(w, i + 1, "who");
    if (!is_at(w, i, LEX_POINTING) || is_behind || has_thing(w, i))
        return false;
    if (!words_are(w, i, "that"))
        return true;
    bool is_asked = i == 0 || is_at(w, i - 1, LEX_AUXILIARY | LEX_PREPOSITION);
    return i + 1 == w->n || is_at(w, i + 1, LEX_AUXILIARY) ||
           str_is_one_of(text_at(w, i + 1), verbs_of_that) || (is_asked && !is_name(w, i + 1));
}

/* "Which one?", "the other ones", "what did he do there?", "did they both?" */
static bool is_left_out(const struct words *w, size_t i)
{
    if (words_are(w, i, "ones") || (i && words_are(w, i, "one") && is_at(w, i - 1, LEX_ORDINAL)))
        return true;
    return i && i + 1 == w->n && words_are(w, i, "there") && !is_at(w, i - 1, LEX_AUXILIARY);
}

/* --- without a pronoun --- */

/* "And the second?", "what about …": it goes on from what was said. */
static str opening_of(str question)
{
    for (const char *const *o = followup_openings; *o; o++)
        if (text_starts_nocase(question, str_of(*o)))
            return str_trim(str_sub(question, 0, strlen(*o)));
    return S("");
}

/* "Why?", "How old?", "In which city?", "Yes, please": a few words that say nothing alone. */
static bool is_short(const struct words *w)
{
    enum { SHORT = 4 };
    size_t telling = 0;
    for (size_t i = 0; i < w->n; i++)
        telling += !w->v[i].is_stop && !is_at(w, i, LEX_REPLY);
    if (!telling)
        return w->n > 0;
    return telling == 1 && w->n <= SHORT && !lexicon_in(w, LEX_AUXILIARY) &&
           is_at(w, 0, LEX_QUESTION | LEX_PREPOSITION) && !w->v[w->n - 1].is_name;
}

/* "Und wann?", "Et où ?", "¿Cuánto cuesta?": a few words, none of which names a thing. */
static bool is_short_elsewhere(const struct words *w)
{
    enum { FEW = 5 };
    return w->n && w->n <= FEW && EVERY(i, w->n, str_is_one_of(w->v[i].text, topicless));
}

/* "Wo wohnt sie?", "Elle habite où ?": someone who is not named, in a short question. */
static bool has_pronoun_elsewhere(const struct words *w)
{
    enum { FEW = 7 };
    bool has = words_have(w, other_pronouns) || words_have(w, more_pronouns);
    return has && w->n <= FEW && !SOME(i, w->n, i && is_name(w, i));
}

/* "Give it a title: what is my thesis about?": behind the pronoun a whole question stands. */
static bool asks_whole_behind(const struct words *w, size_t pronoun)
{
    size_t asks = pronoun + 1;
    while (asks < w->n && !is_at(w, asks, LEX_QUESTION))
        asks++;
    return SOME(i, w->n,
                i > asks && i + 1 < w->n && is_at(w, i, LEX_SELF) && is_at(w, i, LEX_DETERMINER) &&
                    !w->v[i + 1].is_stop);
}

struct follow follow_of(const struct words *w, str question)
{
    struct follow f = {.because = S("")};
    if (w->n > FOLLOW_WORDS_MAX)
        return f;
    for (size_t i = 0; i < w->n; i++) {
        bool person = lacks_person(w, i) && !f.lacks_person;
        bool thing =
            (is_plain(w, i) || is_pointing(w, i) || is_left_out(w, i)) && !asks_whole_behind(w, i);
        f.lacks_person |= person;
        f.lacks_thing |= thing;
        if ((person || thing) && !f.because.n)
            f.because = text_at(w, i);
    }
    str opening = opening_of(question);
    bool is_bare = !f.lacks_person && !f.lacks_thing &&
                   (is_short(w) || is_short_elsewhere(w) || has_pronoun_elsewhere(w));
    if (f.because.n == 0)
        f.because = opening.n ? opening : is_bare ? question : S("");
    f.only_opens = opening.n && !f.lacks_thing && !is_bare;
    f.lacks_thing |= opening.n || is_bare;
    return f;
}
