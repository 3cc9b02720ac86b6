/* forget_request.c - what a message asks to be forgotten. */
#include "engine/text/forget_request.h"

#include "base/buf.h"
#include "base/words.h"
#include "engine/text/lexicon.h"
#include "engine/text/phrases.h"
#include "engine/text/sentences.h"

/*
 * A phrase begins the request, and what follows it up to the end of the clause is what to forget.
 * People also say "forget" of what they do not mean to be erased: "forget that idea", "forget my
 * last question", "forget about the pasta". Whoever calls this erases, so a phrase alone is not
 * enough: what follows must read as a clause, or name something that texts can be searched for.
 */

enum { MESSAGE_MAX = 600, WORDS_MAX = 100, CLAUSE_TELLS = 2, VERB_WITHIN = 4 };

enum shape { ALL, TOPIC, CLAUSE, THAT, STATE, MINE, FROM };

static const enum shape shapes[] = {
#define ALL(phrase) ALL,
#define TOPIC(phrase) TOPIC,
#define CLAUSE(phrase) CLAUSE,
#define THAT(phrase) THAT,
#define STATE(phrase) STATE,
#define MINE(phrase) MINE,
#define FROM(phrase) FROM,
#include "engine/text/forget_request.def"
#undef ALL
#undef TOPIC
#undef CLAUSE
#undef THAT
#undef STATE
#undef MINE
#undef FROM
};

static const char *const phrases[] = {
#define ALL(phrase) phrase,
#define TOPIC(phrase) phrase,
#define CLAUSE(phrase) phrase,
#define THAT(phrase) phrase,
#define STATE(phrase) phrase,
#define MINE(phrase) phrase,
#define FROM(phrase) phrase,
#include "engine/text/forget_request.def"
#undef ALL
#undef TOPIC
#undef CLAUSE
#undef THAT
#undef STATE
#undef MINE
#undef FROM
    NULL};

/* --- what follows the phrase --- */

/* "I ever said anything" tells of nothing but the talk. */
static size_t telling_words(const struct words *w)
{
    static const char *const idle[] = {"said",     "told",    "asked", "mentioned",
                                       "anything", "thing",   "ever",  "something",
                                       "joking",   "kidding", NULL};
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += !w->v[i].is_stop && !lexicon_is(w->v[i].text, LEX_USER | LEX_STRESS) &&
             !str_is_one_of(w->v[i].text, idle);
    return n;
}

static bool has_word_byte(char c)
{
    return phrase_has_byte(c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c);
}

/* The part of the sentence, as it was written, behind so many words as phrases count them. */
static str behind_words(str sentence, size_t n)
{
    size_t i = 0;
    for (; n > 0 && i < sentence.n; n--) {
        while (i < sentence.n && !has_word_byte(sentence.p[i]))
            i++;
        size_t from = i;
        while (i < sentence.n &&
               (has_word_byte(sentence.p[i]) || (i > from && sentence.p[i] == '-')))
            i++;
    }
    return str_trim(str_sub(sentence, i, sentence.n));
}

static size_t words_in(const struct phrase_words *t, str part)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += !str_is(t->v[i].text, ".") && t->text.p + t->v[i].from < part.p + part.n;
    return n;
}

static bool begins_clause(str text)
{
    struct words w;
    CLEANUP(arena_free) struct arena scratch = {0};
    w = words_of(&scratch, text, 1);
    return w.n && lexicon_is(w.v[0].text, LEX_SELF | LEX_SELF_TOO | LEX_PERSON | LEX_THING |
                                              LEX_JOINT | LEX_POINTING | LEX_AUXILIARY);
}

/* "my sister lives in Leeds, she has moved to York": what follows a comma and begins a clause is
 * news, if it tells enough. */
static str one_clause(struct arena *a, str text, str *news)
{
    for (size_t i = 0; i + 1 < text.n; i++) {
        str behind = str_trim(str_sub(text, i + 1, text.n));
        if (!char_is_one_of(text.p[i], ",;:") || !begins_clause(behind))
            continue;
        struct words w = words_of(a, behind, WORDS_MAX);
        *news = telling_words(&w) >= CLAUSE_TELLS ? behind : S("");
        return str_sub(text, 0, i);
    }
    return text;
}

/* Without its marks, and without "please" and the like at its end, or "from your memory". */
static str without_tail(str text, bool is_from_memory)
{
    static const char *const memory[] = {"from", "your", "my", "the", "memory", "memories", NULL};
    static const char *const tails[] = {"please", "pls",      "thanks",  "thank",      "you",
                                        "now",    "ok",       "okay",    "anymore",    "again",
                                        "then",   "forever",  "bitte",   "danke",      "wieder",
                                        "merci",  "stp",      "svp",     "favor",      "gracias",
                                        "por",    "obrigado", "per",     "obrigada",   "favore",
                                        "grazie", "gesagt",   "erzählt", "habe",       "hab",
                                        "haben",  "weißt",    "weisst",  "completely", NULL};
    for (;;) {
        size_t end = text.n;
        while (end && !has_word_byte(text.p[end - 1]))
            end--;
        size_t from = end;
        while (from && has_word_byte(text.p[from - 1]))
            from--;
        str last = str_sub(text, from, end);
        if (!str_is_one_of(last, tails) && !(is_from_memory && str_is_one_of(last, memory)))
            return str_sub(text, 0, end);
        text = str_sub(text, 0, from);
    }
}

/* --- whether it is meant --- */

/* "I live …", "the dog is called …", "Kinga is …", and not "recipe with chicken". */
static bool reads_as_clause(const struct words *w)
{
    enum { BEGINS = LEX_SELF | LEX_SELF_TOO | LEX_PERSON | LEX_ARTICLE };
    if (!w->n)
        return false;
    bool begins = w->v[0].is_name || lexicon_is(w->v[0].text, BEGINS);
    for (size_t i = 1; i < w->n && i < VERB_WITHIN && !begins; i++)
        begins = lexicon_is(w->v[i].text, LEX_AUXILIARY);
    return begins;
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
    for (size_t i = 0; i < w->n; i++)
        if (str_is_one_of(w->v[i].text, of_chat))
            return true;
    return false;
}

static bool is_from_memory(struct arena *a, str sentence)
{
    static const char *const ends[] = {"from ?your|my|the memory|memories .", NULL};
    struct phrase_words t = phrase_words_of(a, phrase_fold(a, sentence));
    return phrase_find_any(&t, ends, NULL);
}

static bool is_meant(struct arena *a, enum shape shape, str what, bool is_alone)
{
    struct words w = words_of(a, what, WORDS_MAX);
    size_t tells = telling_words(&w);
    if (what.n && char_is_one_of(what.p[0], ",;:")) /* "forget that, let's do pasta" */
        return false;
    switch (shape) {
    case ALL:
        return true;
    case TOPIC:
    case STATE:
        return tells > 0;
    case CLAUSE:
        return tells >= CLAUSE_TELLS;
    case THAT:
        return tells >= CLAUSE_TELLS && reads_as_clause(&w);
    case MINE:
    case FROM:
        return tells > 0 && is_alone && str_find(what, S(",")) == what.n && !is_of_chat(&w) &&
               (shape == MINE || is_from_memory(a, what));
    }
    return false;
}

/* Whether the sentence asks; *news is what it says besides. */
static bool sentence_forgets(struct arena *a, str sentence, bool is_alone,
                             struct forget_request *out, str *news)
{
    str found;
    struct phrase_words t = phrase_words_of(a, phrase_fold(a, sentence));
    for (int row = -1; (row = phrase_next(&t, phrases, row + 1, &found)) >= 0;) {
        enum shape shape = shapes[row];
        *news = S("");
        str what = shape == ALL ? S("") : behind_words(sentence, words_in(&t, found));
        what = one_clause(a, what, news);
        if (!is_meant(a, shape, what, is_alone && !news->n))
            continue;
        out->kind = shape == ALL ? FORGET_EVERYTHING : FORGET_THIS;
        out->what = without_tail(what, shape == FROM);
        return true;
    }
    return false;
}

struct forget_request forget_request_of(struct arena *a, str message)
{
    struct forget_request out = {FORGET_NOTHING, S(""), S("")};
    struct sentence s;
    str news, text = str_trim(message);
    if (text.n > MESSAGE_MAX)
        return out;
    struct buf rest = buf_make(a, text.n + 1);
    for (str left = text; sentence_cut(&left, &s);) {
        bool is_alone = str_trim(s.text).n == text.n;
        bool asks =
            out.kind == FORGET_NOTHING && sentence_forgets(a, s.text, is_alone, &out, &news);
        buf_add(&rest, asks ? news : s.text);
    }
    if (out.kind != FORGET_NOTHING)
        out.rest = str_trim(buf_str(&rest));
    return out;
}
