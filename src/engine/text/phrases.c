/* phrases.c - finding a phrase of several words in a text. */
#include "engine/text/phrases.h"

#include <assert.h>

#include "base/words.h"
#include "engine/text/lexicon.h"
#include "engine/text/sentences.h"

enum { TOKENS_MAX = 2000 };

bool phrase_has_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80 ||
           c == '\'';
}

static void add_token(struct phrase_words *t, str token, size_t from)
{
    assert(token.n && t->n <= t->most);
    if (t->n == t->most)
        return;
    t->v[t->n] = token;
    t->from[t->n] = from;
    t->to[t->n] = from + token.n;
    t->first[(unsigned char)token.p[0] / 32] |= 1u << ((unsigned char)token.p[0] % 32);
    t->n++;
}

static void add_words(struct phrase_words *t, str text, size_t at)
{
    for (size_t i = 0; i < text.n && t->n < t->most;) {
        size_t from = i;
        while (i < text.n && (phrase_has_byte(text.p[i]) || (i > from && text.p[i] == '-')))
            i++;
        if (i > from)
            add_token(t, str_sub(text, from, i), at + from);
        else
            i++;
    }
}

struct phrase_words phrase_words_of(struct arena *a, str text)
{
    size_t most = text.n + 2 < TOKENS_MAX ? text.n + 2 : TOKENS_MAX;
    struct phrase_words t = {
        NEW_N(a, str, most), NEW_N(a, size_t, most), NEW_N(a, size_t, most), 0, most, text, {0}};
    struct sentence s;
    for (str rest = text; rest.n && t.n < t.most;)
        for (str line = str_cut(&rest, '\n'); t.n < t.most && sentence_cut(&line, &s);) {
            add_words(&t, s.body, (size_t)(s.body.p - text.p));
            add_token(&t, S("."), 0);
        }
    return t;
}

/* YYYY-MM-DD. */
static bool is_date(str w)
{
    static const char shape[] = "0000-00-00";
    if (w.n != sizeof shape - 1)
        return false;
    for (size_t i = 0; i < w.n; i++)
        if (shape[i] == '-' ? w.p[i] != '-' : w.p[i] < '0' || w.p[i] > '9')
            return false;
    return true;
}

/* Whether one word of a phrase allows this word of the message. */
static bool allows(str choice, str word)
{
    if (str_is(choice, "*"))
        return !str_is(word, ".");
    if (str_is(choice, "#"))
        return is_date(word);
    if (str_is(choice, "@month"))
        return lexicon_is(word, LEX_MONTH);
    if (str_is(choice, "@weekday"))
        return lexicon_is(word, LEX_WEEKDAY);
    while (choice.n)
        if (str_eq(str_cut(&choice, '|'), word))
            return true;
    return false;
}

/* How many tokens from at on are the phrase's, or 0. The end of the message ends a sentence. */
static size_t phrase_at(const struct phrase_words *t, size_t at, str phrase)
{
    size_t i = at;
    if (str_starts(phrase, S("^ "))) {
        if (at != 0)
            return 0;
        phrase = str_sub(phrase, 2, phrase.n);
    }
    while (phrase.n) {
        str choice = str_cut(&phrase, ' ');
        bool optional = str_starts(choice, S("?"));
        str word = i < t->n ? t->v[i] : S(".");
        if (allows(optional ? str_sub(choice, 1, choice.n) : choice, word))
            i++;
        else if (!optional)
            return 0;
    }
    return i - at;
}

/* The part of the text that the tokens stand for. */
static str words_of_tokens(const struct phrase_words *t, size_t at, size_t n)
{
    size_t last = at + n - 1;
    while (last > at && (last >= t->n || str_is(t->v[last], ".")))
        last--;
    return str_sub(t->text, t->from[at], t->to[last]);
}

static bool begins_some_word(const struct phrase_words *t, char c)
{
    unsigned char byte = (unsigned char)c;
    return t->first[byte / 32] >> (byte % 32) & 1;
}

/* Whether a word of the text begins as one that the choice allows. */
static bool choice_may_stand(const struct phrase_words *t, str choice)
{
    if (choice.p[0] == '*' || choice.p[0] == '@' || choice.p[0] == '#')
        return true;
    while (choice.n)
        if (begins_some_word(t, str_cut(&choice, '|').p[0]))
            return true;
    return false;
}

/* False when a word that the phrase needs cannot be there: most phrases end here for most texts. */
static bool phrase_may_stand(const struct phrase_words *t, str phrase)
{
    while (phrase.n) {
        str choice = str_cut(&phrase, ' ');
        bool is_needed = choice.p[0] != '?' && choice.p[0] != '^' && choice.p[0] != '.';
        if (is_needed && !choice_may_stand(t, choice))
            return false;
    }
    return true;
}

bool phrase_find(const struct phrase_words *t, const char *phrase, str *out)
{
    str needed = str_of(phrase);
    if (!phrase_may_stand(t, needed))
        return false;
    for (size_t at = 0; at < t->n; at++) {
        size_t n = phrase_at(t, at, needed);
        if (!n)
            continue;
        if (out)
            *out = words_of_tokens(t, at, n);
        return true;
    }
    return false;
}

bool phrase_find_any(const struct phrase_words *t, const char *const *phrases, str *out)
{
    for (const char *const *p = phrases; *p; p++)
        if (phrase_find(t, *p, out))
            return true;
    return false;
}

/* "¿" or "¡", which is no letter of the word behind it. */
static bool opens_sentence(str s)
{
    return str_starts(s, S("\xC2\xBF")) || str_starts(s, S("\xC2\xA1"));
}

str phrase_fold(struct arena *a, str message)
{
    str lower = utf8_lower(a, message);
    char *p = arena_alloc(a, lower.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < lower.n; i++) {
        if (str_starts(str_sub(lower, i, lower.n), S("\xE2\x80\x99"))) {
            p[n++] = '\'';
            i += 2;
        } else if (opens_sentence(str_sub(lower, i, lower.n))) {
            p[n++] = ' ';
            i++;
        } else {
            p[n++] = lower.p[i];
        }
    }
    return (str){p, n};
}
