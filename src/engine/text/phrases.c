/* phrases.c - the words of a text, as phrases of several words are looked for in it. */
#include "engine/text/phrases.h"

#include "base/utf8.h"
#include "engine/text/sentences.h"

/*
 * A text becomes folded words with "." between sentences, so that no phrase reaches over the end of
 * one. Apostrophes belong to a word ("what's"), hyphens inside it, too ("follow-up").
 */

enum { TOKENS_MAX = 2000 };

/* Of a folded text: capitals are gone. */
bool phrase_has_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80 ||
           c == '\'';
}

static void add_token(struct arena *a, struct phrase_words *t, str token, size_t from)
{
    assert(token.n && t->n <= TOKENS_MAX);
    if (t->n == TOKENS_MAX)
        return;
    ARENA_ADD(a, t->v, t->n, t->cap) = (struct phrase_word){token, from, str_hash(token)};
}

static void add_words(struct arena *a, struct phrase_words *t, str text, size_t at)
{
    for (size_t i = 0; i < text.n && t->n < TOKENS_MAX;) {
        size_t from = i;
        while (i < text.n && (phrase_has_byte(text.p[i]) || (i > from && text.p[i] == '-')))
            i++;
        if (i > from)
            add_token(a, t, str_sub(text, from, i), at + from);
        else
            i++;
    }
}

/* text must be folded (phrase_fold) and live as long as the result; words beyond TOKENS_MAX are
 * left out. */
struct phrase_words phrase_words_of(struct arena *a, str text)
{
    struct phrase_words t = {.text = text};
    struct sentence s;
    for (str rest = text; rest.n && t.n < TOKENS_MAX;)
        for (str line = str_cut(&rest, '\n'); t.n < TOKENS_MAX && sentence_cut(&line, &s);) {
            add_words(a, &t, s.body, (size_t)(s.body.p - text.p));
            add_token(a, &t, S("."), 0);
        }
    return t;
}

/* "¿" or "¡", which is no letter of the word behind it. */
static bool opens_sentence(str s)
{
    return str_starts(s, S("\xC2\xBF")) || str_starts(s, S("\xC2\xA1"));
}

/*
 * Lower case, curly apostrophes straight, "¿" and "¡" blank. Never longer than the lower-case text.
 */
str phrase_fold(struct arena *a, str message)
{
    str lower = utf8_lower(a, message);
    char *p = (char *)lower.p; /* its own copy, which gets no longer */
    size_t n = 0;
    for (size_t i = 0; i < lower.n; i++) {
        bool is_wide = (unsigned char)lower.p[i] >= 0x80;
        if (is_wide && str_starts(str_sub(lower, i, lower.n), S("\xE2\x80\x99"))) {
            p[n++] = '\'';
            i += 2;
        } else if (is_wide && opens_sentence(str_sub(lower, i, lower.n))) {
            p[n++] = ' ';
            i++;
        } else {
            p[n++] = lower.p[i];
        }
    }
    return (str){p, n};
}
