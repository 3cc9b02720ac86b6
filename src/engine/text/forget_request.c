/* forget_request.c - messages that ask to forget something. */
#include "engine/text/forget_request.h"

#include "engine/text/lexicon.h"
#include "engine/text/phrases.h"
#include "engine/text/sentences.h"
#include "engine/text/utterance.h"
#include "lang/forget_request_lists.h"
#include "words/words.h"

/*
 * A phrase begins the request, and the rest of the sentence is what to forget. People also say
 * "forget" of what they do not mean so: "forget that idea", "forget my last question", "I want to
 * forget that …". So a phrase alone is not enough: the message must do nothing else, and what
 * follows must read as a clause, or name something.
 */

enum { MESSAGE_MAX = 300, WORDS_MAX = 60, VERB_WITHIN = 4, ASKED_WITHIN = 4 };

enum shape { ALL, TOPIC, CLAUSE, THAT, MINE, FROM };

static const enum shape shapes[] = {
#define ASKS(shape, phrase) shape,
#include "lang/forget_request.def"
};

static const char *const phrases[] = {
#define ASKS(shape, phrase) phrase,
#include "lang/forget_request.def"
    NULL};

/* --- how it begins --- */

static bool has_modal(const struct phrase_words *t)
{
    for (size_t i = 0; i < t->n && i < ASKED_WITHIN; i++)
        if (str_is_one_of(t->v[i].text, asking_modals))
            return true;
    return false;
}

/* "Can you forget", "I want you to forget", and not "You forget", "I want to forget", "Vergessen,
 * dass", "Oublier que". */
static bool is_order(const struct phrase_words *t)
{
    bool is_wish = false, has_you = false;
    for (size_t i = 0; i < t->n && !str_is_one_of(t->v[i].text, memory_verbs); i++) {
        str word = t->v[i].text;
        bool is_you = str_is(word, "you") || str_is(word, "u");
        if (is_you && !(i && str_is_one_of(t->v[i - 1].text, before_you)))
            return false;
        if (str_is_one_of(word, forget_infinitives))
            return has_modal(t);
        is_wish |= str_is_one_of(word, wishes);
        has_you |= is_you;
    }
    return has_you || !is_wish;
}

/* --- what follows the phrase --- */

/* "Forget that I asked" tells of nothing but the talk. */
static bool tells(const struct words *w)
{
    return SOME(i, w->n,
                !w->v[i].is_stop && !lexicon_is(w->v[i].text, LEX_USER | LEX_STRESS) &&
                    !str_is_one_of(w->v[i].text, topicless_of_talk));
}

/* "owes", "lives", "moved" */
static bool may_be_verb(str word)
{
    return word.n > 2 && (str_ends(word, S("s")) || str_ends(word, S("ed")));
}

/* "I live …", "the dog is called …", "Kinga owes …", and not "recipe with chicken". */
static bool reads_as_clause(const struct words *w)
{
    enum { BEGINS = LEX_SELF | LEX_SELF_TOO | LEX_PERSON | LEX_ARTICLE };
    if (!w->n || lexicon_is(w->v[0].text, BEGINS) ||
        str_is_one_of(w->v[0].text, shortened_starts) || (w->n > 1 && may_be_verb(w->v[1].text)))
        return w->n > 0;
    for (size_t i = 1; i < w->n && i < VERB_WITHIN; i++)
        if (lexicon_is(w->v[i].text, LEX_AUXILIARY))
            return true;
    return false;
}

/* "my last question", "ma question": of the conversation, and not of the one who speaks. And
 * "meine Schwester nicht". */
static bool is_of_chat(const struct words *w)
{
    return words_have(w, of_chat);
}

/* A second clause, an exception, or a time: "… and write an advert", "… but keep her number", "…
 * for tonight". */
static bool has_more(const struct words *w, str what)
{
    while (what.n && char_is_one_of(what.p[what.n - 1], ".!?,; \n"))
        what.n--;
    for (const char *const *t = polite_tails; *t; t++)
        if (str_ends(what, str_of(*t)))
            what.n -= strlen(*t);
    for (size_t i = 0; i < what.n; i++)
        if (char_is_one_of(what.p[i], ",;:?!\"\n()"))
            return true;
    return words_have(w, no_plain_request) || str_find(what, S(" - ")) < what.n;
}

/* --- the whole --- */

static bool is_from_memory(const struct phrase_words *t)
{
    return phrase_find_any(t, from_memory, NULL);
}

static enum forget_request judge(struct arena *a, enum shape shape, const struct phrase_words *t,
                                 str what)
{
    struct words w = words_of(a, what, WORDS_MAX);
    bool is_own = shape == MINE || shape == FROM, is_clear = !has_more(&w, what);
    if (shape == ALL)
        return FORGET_ASKED;
    if (!tells(&w) || char_is_one_of(what.p[0], ",;:") || (shape == THAT && !reads_as_clause(&w)) ||
        (shape == FROM && !is_from_memory(t)) || (is_own && (!is_clear || is_of_chat(&w))))
        return FORGET_NOTHING;
    return is_clear ? FORGET_ASKED : FORGET_UNCLEAR;
}

/* Of a folded sentence. */
static enum forget_request sentence_forgets(struct arena *a, str sentence)
{
    str found;
    struct phrase_words t = phrase_words_of(a, sentence);
    if (!is_order(&t) || (str_ends(sentence, S("?")) && !has_modal(&t)))
        return FORGET_NOTHING;
    for (int row = -1; (row = phrase_next(&t, phrases, row + 1, &found)) >= 0;) {
        size_t behind = (size_t)(found.p + found.n - sentence.p);
        while (behind < sentence.n && sentence.p[behind] == ' ')
            behind++;
        str what = str_sub(sentence, behind, sentence.n);
        enum forget_request r = judge(a, shapes[row], &t, what.n ? what : S(" "));
        if (r != FORGET_NOTHING)
            return r;
    }
    return FORGET_NOTHING;
}

/* The only sentence that is no courtesy must ask for it; a quote or the mark of a list is no
 * beginning. */
enum forget_request forget_request_of(struct arena *a, str message)
{
    struct sentence s, only = {0};
    size_t n = 0;
    str text = str_trim(message);
    if (!text.n || text.n > MESSAGE_MAX || char_is_one_of(text.p[0], "\"'>-*#`([{0123456789"))
        return FORGET_NOTHING;
    for (str rest = text; sentence_cut(&rest, &s);)
        if (str_trim(s.text).n && !sentence_is_courtesy(a, s.text)) {
            only = s;
            n++;
        }
    str folded = n == 1 ? str_trim(phrase_fold(a, only.text)) : S("");
    return folded.n ? sentence_forgets(a, folded) : FORGET_NOTHING;
}
