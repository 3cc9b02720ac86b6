/* forget_request.c - what a message asks to be forgotten. */
#include "engine/text/forget_request.h"

#include "base/words.h"
#include "engine/text/lexicon.h"
#include "engine/text/phrases.h"
#include "engine/text/sentences.h"
#include "engine/text/utterance.h"

/*
 * A phrase begins the request, and the rest of the sentence is what to forget. People also say
 * "forget" of what they do not mean to be erased: "forget that idea", "forget my last question",
 * "forget that I'm vegetarian and write an advert". Whoever calls this erases, so a phrase alone is
 * not enough: the message must do nothing else, and what follows must read as one clause, or name
 * something that texts can be searched for. Where that fails but something was asked, the caller is
 * told, as a model would answer that it has forgotten it.
 */

enum {
    MESSAGE_MAX = 300,
    WORDS_MAX = 60,
    CLAUSE_TELLS = 2,
    VERB_WITHIN = 4,
    ASKED_WITHIN = 4,
    THING_WORDS = 3
};

enum shape { ALL, TOPIC, CLAUSE, THAT, SELF, MINE, FROM, NAME, VAGUE };

static const enum shape shapes[] = {
#define ALL(phrase) ALL,
#define TOPIC(phrase) TOPIC,
#define CLAUSE(phrase) CLAUSE,
#define THAT(phrase) THAT,
#define SELF(phrase) SELF,
#define MINE(phrase) MINE,
#define FROM(phrase) FROM,
#define NAME(phrase) NAME,
#define VAGUE(phrase) VAGUE,
#include "engine/text/forget_request.def"
#undef ALL
#undef TOPIC
#undef CLAUSE
#undef THAT
#undef SELF
#undef MINE
#undef FROM
#undef NAME
#undef VAGUE
};

static const char *const phrases[] = {
#define ALL(phrase) phrase,
#define TOPIC(phrase) phrase,
#define CLAUSE(phrase) phrase,
#define THAT(phrase) phrase,
#define SELF(phrase) phrase,
#define MINE(phrase) phrase,
#define FROM(phrase) phrase,
#define NAME(phrase) phrase,
#define VAGUE(phrase) phrase,
#include "engine/text/forget_request.def"
#undef ALL
#undef TOPIC
#undef CLAUSE
#undef THAT
#undef SELF
#undef MINE
#undef FROM
#undef NAME
#undef VAGUE
    NULL};

/* --- what follows the phrase --- */

static bool has_word_byte(char c)
{
    return phrase_has_byte(c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c);
}

/* The part of the sentence, as it was written, from its nth word on, as phrases count them. */
static str from_word(str sentence, size_t n)
{
    size_t i = 0;
    for (;; n--) {
        while (i < sentence.n && !has_word_byte(sentence.p[i]))
            i++;
        if (!n || i == sentence.n)
            return str_sub(sentence, i, sentence.n);
        size_t from = i;
        while (i < sentence.n &&
               (has_word_byte(sentence.p[i]) || (i > from && sentence.p[i] == '-')))
            i++;
    }
}

static size_t words_in(const struct phrase_words *t, str part)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += !str_is(t->v[i].text, ".") && t->text.p + t->v[i].from < part.p + part.n;
    return n;
}

/* Without marks at its end. */
static str bare(str text)
{
    while (text.n && !has_word_byte(text.p[text.n - 1]))
        text.n--;
    return text;
}

/* Without marks, "please" and the like at its end, and without "from your memory". */
static str without_tail(str text, bool is_from_memory)
{
    static const char *const tails[] = {"please",  "pls",     "thanks",      "thank",    "you",
                                        "now",     "ok",      "okay",        "then",     "forever",
                                        "anymore", "again",   "bitte",       "danke",    "wieder",
                                        "merci",   "stp",     "svp",         "favor",    "por",
                                        "per",     "favore",  "completely",  "gracias",  "grazie",
                                        "gesagt",  "erzählt", "habe",        "hab",      "haben",
                                        "weißt",   "weisst",  "geschrieben", "obrigado", "obrigada",
                                        NULL};
    static const char *const memory[] = {"from", "your", "my", "the", "memory", "memories", NULL};
    for (;;) {
        text = bare(text);
        size_t from = text.n;
        while (from && has_word_byte(text.p[from - 1]))
            from--;
        str last = str_sub(text, from, text.n);
        if (!last.n ||
            !(str_is_one_of(last, tails) || (is_from_memory && str_is_one_of(last, memory))))
            return text;
        text = str_sub(text, 0, from);
    }
}

/* --- whether it is meant, and clear --- */

static bool is_idle(const struct word *w)
{
    static const char *const idle[] = {"said",  "told", "asked",     "mentioned", "anything",
                                       "thing", "ever", "something", NULL};
    return w->is_stop || lexicon_is(w->text, LEX_USER | LEX_STRESS) || str_is_one_of(w->text, idle);
}

static size_t telling_words(const struct words *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += !is_idle(&w->v[i]);
    return n;
}

static bool has_capital(str word)
{
    return word.n && ((word.p[0] >= 'A' && word.p[0] <= 'Z') || (unsigned char)word.p[0] >= 0xC3);
}

/* "I live …", "the dog is called …", "Kinga owes …", and not "recipe with chicken". */
static bool reads_as_clause(const struct words *w)
{
    enum { BEGINS = LEX_SELF | LEX_SELF_TOO | LEX_PERSON | LEX_ARTICLE };
    if (!w->n)
        return false;
    bool begins = has_capital(w->v[0].text) || lexicon_is(w->v[0].text, BEGINS) ||
                  str_is(w->v[0].text, "im") || str_is(w->v[0].text, "ive");
    for (size_t i = 1; i < w->n && i < VERB_WITHIN && !begins; i++)
        begins = lexicon_is(w->v[i].text, LEX_AUXILIARY);
    return begins;
}

static bool has_one_of(const struct words *w, const char *const *list)
{
    for (size_t i = 0; i < w->n; i++)
        if (str_is_one_of(w->v[i].text, list))
            return true;
    return false;
}

/* "my last question", "ma question": of the conversation, and not of the one who speaks. */
static bool is_of_chat(const struct words *w)
{
    static const char *const of_chat[] = {
        "last",       "previous",     "earlier",   "first",    "question",  "questions",
        "message",    "messages",     "request",   "prompt",   "comment",   "idea",
        "suggestion", "instructions", "mistake",   "typo",     "point",     "letzte",
        "letzten",    "frage",        "nachricht", "dernière", "demande",   "pregunta",
        "mensaje",    "pergunta",     "mensagem",  "domanda",  "messaggio", NULL};
    return has_one_of(w, of_chat);
}

/* A second clause, an exception, or a time: "… and write an advert", "… but keep her number", "…
 * for tonight". */
static bool has_more(const struct words *w, str what)
{
    static const char *const more[] = {"and",    "but",     "or",     "if",     "except",
                                       "unless", "besides", "apart",  "while",  "until",
                                       "und",    "aber",    "oder",   "außer",  "wenn",
                                       "bis",    "et",      "mais",   "ou",     "sauf",
                                       "pero",   "excepto", "salvo",  "mas",    "exceto",
                                       "tranne", "tonight", "moment", "minute", "second",
                                       "once",   NULL};
    for (size_t i = 0; i < what.n; i++)
        if (char_is_one_of(what.p[i], ",;:?!\"\n()"))
            return true;
    return has_one_of(w, more);
}

/* A topic: a name, or more than one word; "work" or "moving" is in too many sentences. */
static enum forget_kind kind_of_topic(const struct words *w, size_t tells)
{
    if (!tells || !w->n)
        return FORGET_UNCLEAR;
    bool has_name = has_capital(w->v[0].text);
    for (size_t i = 1; i < w->n; i++)
        has_name |= w->v[i].is_name;
    if (!has_name && lexicon_is(w->v[0].text, LEX_SELF | LEX_SELF_TOO))
        return FORGET_PHRASE;
    return tells > 1 || has_name ? FORGET_TOPIC : FORGET_UNCLEAR;
}

static bool is_from_memory(struct arena *a, str text)
{
    static const char *const ends[] = {"from ?your|my|the memory|memories .", NULL};
    struct phrase_words t = phrase_words_of(a, phrase_fold(a, text));
    return phrase_find_any(&t, ends, NULL);
}

/* Of what follows a phrase of this shape, without its tail. */
static enum forget_kind kind_of(struct arena *a, enum shape shape, str what)
{
    struct words w = words_of(a, what, WORDS_MAX);
    size_t tells = telling_words(&w);
    bool is_clear = !has_more(&w, what);
    switch (shape) {
    case ALL:
        return FORGET_EVERYTHING;
    case TOPIC:
        return is_clear ? kind_of_topic(&w, tells) : FORGET_UNCLEAR;
    case VAGUE:
        return FORGET_UNCLEAR;
    case FROM: /* "erase my address": where, it does not say */
        return w.n <= THING_WORDS && tells && is_clear && !is_of_chat(&w) ? FORGET_UNCLEAR
                                                                          : FORGET_NOTHING;
    case MINE:
        return !tells || is_of_chat(&w) || !is_clear ? FORGET_NOTHING : FORGET_PHRASE;
    case NAME:
        return w.n == 1 && tells && has_capital(what) ? FORGET_UNCLEAR : FORGET_NOTHING;
    case THAT:
        if (!reads_as_clause(&w))
            return FORGET_NOTHING;
        break;
    case SELF:
    case CLAUSE:
        break;
    }
    return !tells                  ? FORGET_NOTHING
           : !is_clear             ? FORGET_UNCLEAR
           : tells >= CLAUSE_TELLS ? FORGET_CLAUSE
                                   : FORGET_PHRASE;
}

/* "Could you forget that …?" asks; "Forget that I'm allergic?!" does not. */
static bool may_ask(const struct phrase_words *t, const struct sentence *s)
{
    static const char *const modals[] = {"can",     "could",       "would",       "will",
                                         "kannst",  "könntest",    "können",      "könnten",
                                         "peux-tu", "pouvez-vous", "pourrais-tu", "puedes",
                                         "podrías", "pode",        "podes",       "poderia",
                                         "puoi",    "potresti",    NULL};
    for (size_t i = 0; s->asks && i < t->n && i < ASKED_WITHIN; i++)
        if (str_is_one_of(t->v[i].text, modals))
            return true;
    return !s->asks;
}

/* "Can you forget", "I want you to forget", and not "You forget" or "I want to forget". */
static bool is_order(const struct phrase_words *t)
{
    static const char *const verbs[] = {"forget", "unremember", "delete", "erase",
                                        "remove", "clear",      "wipe",   "empty",
                                        "stop",   "remember",   NULL};
    static const char *const before_you[] = {"can",  "could", "would", "will",
                                             "want", "need",  "like",  NULL};
    bool has_i = false, has_you = false;
    for (size_t i = 0; i < t->n && !str_is_one_of(t->v[i].text, verbs); i++) {
        has_i |= str_is(t->v[i].text, "i") || str_is(t->v[i].text, "i'd");
        bool is_you = str_is(t->v[i].text, "you") || str_is(t->v[i].text, "u");
        if (is_you && !(i && str_is_one_of(t->v[i - 1].text, before_you)))
            return false;
        has_you |= is_you;
    }
    return has_you || !has_i;
}

/* "forget that, let's do pasta" */
static bool follows_comma(str text, str what)
{
    while (what.p > text.p && what.p[-1] == ' ')
        what.p--;
    return what.p > text.p && char_is_one_of(what.p[-1], ",;:");
}

static struct forget_request request_of(struct arena *a, const struct sentence *s)
{
    str found, text = str_trim(s->text);
    struct phrase_words t = phrase_words_of(a, phrase_fold(a, text));
    for (int row = -1; (row = phrase_next(&t, phrases, row + 1, &found)) >= 0;) {
        enum shape shape = shapes[row];
        bool has_last = shape == SELF || shape == MINE || shape == FROM;
        str what = from_word(text, words_in(&t, found) - has_last);
        bool is_memory = shape == FROM && is_from_memory(a, what);
        if (shape == THAT && follows_comma(text, what))
            continue;
        what = shape == ALL ? S("") : without_tail(what, is_memory);
        enum forget_kind kind = kind_of(a, is_memory ? MINE : shape, what);
        if (kind != FORGET_NOTHING && may_ask(&t, s) && is_order(&t))
            return (struct forget_request){kind, kind == FORGET_UNCLEAR ? S("") : what};
    }
    return (struct forget_request){FORGET_NOTHING, S("")};
}

/* The only sentence that is no courtesy; false where there are several. */
static bool only_sentence(struct arena *a, str text, struct sentence *out)
{
    struct sentence s;
    size_t n = 0;
    for (str rest = text; sentence_cut(&rest, &s);) {
        if (!str_trim(s.text).n || sentence_is_courtesy(a, s.text))
            continue;
        *out = s;
        n++;
    }
    return n == 1;
}

struct forget_request forget_request_of(struct arena *a, str message)
{
    struct sentence only = {0};
    str text = str_trim(message);
    bool is_one = text.n && text.n <= MESSAGE_MAX && has_word_byte(text.p[0]);
    if (!is_one || !only_sentence(a, text, &only))
        return (struct forget_request){FORGET_NOTHING, S("")};
    return request_of(a, &only);
}
