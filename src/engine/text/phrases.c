/* phrases.c - the words of a text, and the phrases of a list that stand in it. */
#include "engine/text/phrases.h"

#include "base/fields.h"
#include "base/once.h"
#include "base/utf8.h"
#include "engine/text/bytes.h"
#include "engine/text/lexicon.h"
#include "engine/text/sentences.h"
#include "words/word_index.h"

/* --- the words of a text --- */

/* A text becomes folded words with "." between sentences, so that no phrase reaches over the end of
 * one. Apostrophes belong to a word ("what's"), hyphens inside it, too ("follow-up"). */

enum { TOKENS_MAX = 2000 };

/* Of a folded text: capitals are gone. */
bool phrase_has_byte(char c)
{
    return is_lower(c) || is_digit(c) || (unsigned char)c >= 0x80 || c == '\'';
}

static void add_token(struct arena *a, struct phrase_words *t, str token, size_t from)
{
    assert(token.n && t->n <= TOKENS_MAX);
    if (t->n == TOKENS_MAX)
        return;
    ARENA_ADD(a, t->v, t->n, t->cap) = (struct phrase_word){token, from};
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

str phrase_fold(struct arena *a, str message)
{
    str lower = utf8_lower(a, message);
    char *p = (char *)lower.p; /* its own copy, which gets no longer */
    size_t n = 0;
    for (size_t i = 0; i < lower.n; i++) {
        str rest = str_sub(lower, i, lower.n);
        bool is_wide = (unsigned char)lower.p[i] >= 0x80;
        bool is_quote = is_wide && str_starts(rest, S("\xE2\x80\x99"));
        bool is_mark = is_wide && (str_starts(rest, S("¿")) || str_starts(rest, S("¡")));
        p[n++] = is_quote ? '\'' : is_mark ? ' ' : lower.p[i];
        i += is_quote ? 2 : is_mark;
    }
    return (str){p, n};
}

/* --- reading a list --- */

/*
 * A list of phrases is read once and cached by its address, so lists must be static. Of each phrase
 * the place with the fewest choices is its anchor; the words of a text are looked up in an index of
 * anchors, and only phrases with a hit are compared place by place. So a text costs one look-up for
 * each word, however many phrases the list has. Phrases without a place that must be there (only
 * "*" or optional words) are compared always.
 */

enum choice_kind { CHOICE_ANY, CHOICE_DATE, CHOICE_MONTH, CHOICE_WEEKDAY, CHOICE_WORDS };
static const char *const choice_names[] = {"*", "#", "@month", "@weekday", NULL};

/* What may stand at one place of a phrase. */
struct phrase_choice {
    enum choice_kind kind;
    bool is_optional;
    struct strs words; /* one of these, for CHOICE_WORDS */
};

struct phrase {
    const struct phrase_choice *choices;
    size_t n;
    bool is_opening; /* it must begin the text */
};

/* A word that a phrase needs, unless another of the same place stands there. */
struct phrase_anchor {
    str word;
    size_t phrase;
};

enum { PHRASES_MAX = 512 };

/* Which phrases of a list are worth a closer look: bit i is the ith. */
struct phrase_marks {
    uint64_t v[PHRASES_MAX / 64];
};

struct phrase_set {
    const struct phrase *v;
    size_t n;
    struct phrase_anchor *anchors; /* sorted */
    size_t n_anchors, cap_anchors;
    struct word_index index;        /* of anchors: finds the first one of a word */
    struct phrase_marks unanchored; /* phrases of which no word is needed */
    struct arena arena;
};

/* An optional place that does not fit is skipped; there is no going back, so a list must not rely
 * on an optional "*" before a word that it could swallow. */
static struct phrase_choice choice_of(struct arena *a, str text)
{
    struct phrase_choice c = {.is_optional = text_cut_front(&text, S("?"))};
    c.kind = (enum choice_kind)name_index(choice_names, text, CHOICE_WORDS);
    if (c.kind != CHOICE_WORDS)
        return c;
    c.words.v = NEW_N(a, str, text.n + 1);
    while (text.n)
        c.words.v[c.words.n++] = str_cut(&text, '|');
    return c;
}

static struct phrase phrase_of(struct arena *a, str text)
{
    struct phrase p = {.is_opening = text_cut_front(&text, S("^ "))};
    struct phrase_choice *choices = NEW_N(a, struct phrase_choice, text.n + 1);
    while (text.n)
        choices[p.n++] = choice_of(a, str_cut(&text, ' '));
    p.choices = choices;
    return p;
}

/* The end of the text ends a sentence as "." does, so "." need not be there. */
static bool is_needed(const struct phrase_choice *c)
{
    return c->kind == CHOICE_WORDS && !c->is_optional && c->words.n &&
           !strs_have(&c->words, S("."));
}

/* By the place with the fewest words to choose from. */
static void anchor_phrase(struct phrase_set *set, size_t at)
{
    const struct phrase *p = &set->v[at];
    const struct phrase_choice *best = NULL;
    for (size_t i = 0; i < p->n; i++)
        if (is_needed(&p->choices[i]) && (!best || p->choices[i].words.n < best->words.n))
            best = &p->choices[i];
    for (size_t i = 0; best && i < best->words.n; i++)
        ARENA_ADD(&set->arena, set->anchors, set->n_anchors, set->cap_anchors) =
            (struct phrase_anchor){best->words.v[i], at};
    if (!best)
        set->unanchored.v[at / 64] |= (uint64_t)1 << at % 64;
}

ORDER(by_word, struct phrase_anchor, BY_TEXT(word));

static const char *row_at(const void *column, size_t i, size_t size)
{
    return *(const char *const *)((const char *)column + i * size);
}

static void *read_list(const void *column, size_t n, size_t size)
{
    while (row_at(column, n, size))
        n++;
    assert(n <= PHRASES_MAX);
    struct phrase_set *set = heap_alloc(sizeof *set);
    struct phrase *v = NEW_N(&set->arena, struct phrase, n + 1);
    set->v = v;
    set->n = n;
    for (size_t i = 0; i < n; i++) {
        v[i] = phrase_of(&set->arena, str_of(row_at(column, i, size)));
        anchor_phrase(set, i);
    }
    SORT(set->anchors, set->n_anchors, by_word);
    set->index = word_index_make(set->anchors, set->n_anchors, sizeof *set->anchors);
    return set;
}

/* --- finding --- */

/* YYYY-MM-DD. */
static bool is_date(str w)
{
    static const char shape[] = "0000-00-00";
    return w.n == sizeof shape - 1 &&
           EVERY(i, w.n, shape[i] == '-' ? w.p[i] == '-' : is_digit(w.p[i]));
}

static bool choice_allows(const struct phrase_choice *c, str w)
{
    return c->kind == CHOICE_ANY       ? !str_is(w, ".")
           : c->kind == CHOICE_DATE    ? is_date(w)
           : c->kind == CHOICE_MONTH   ? lexicon_is(w, LEX_MONTH)
           : c->kind == CHOICE_WEEKDAY ? lexicon_is(w, LEX_WEEKDAY)
                                       : strs_have(&c->words, w);
}

/* How many tokens from at on are the phrase's, or 0. The end of the message ends a sentence. */
static size_t phrase_at(const struct phrase_words *t, size_t at, const struct phrase *p)
{
    size_t i = at;
    for (size_t k = 0; k < p->n; k++) {
        if (choice_allows(&p->choices[k], i < t->n ? t->v[i].text : S(".")))
            i++;
        else if (!p->choices[k].is_optional)
            return 0;
    }
    return i - at;
}

/* The part of the text that the tokens stand for. */
static str words_of_tokens(const struct phrase_words *t, size_t at, size_t n)
{
    size_t last = at + n - 1;
    while (last > at && (last >= t->n || str_is(t->v[last].text, ".")))
        last--;
    return str_sub(t->text, t->v[at].from, t->v[last].from + t->v[last].text.n);
}

static bool phrase_stands(const struct phrase_words *t, const struct phrase *p, str *out)
{
    for (size_t at = 0; at < t->n && (at == 0 || !p->is_opening); at++) {
        size_t n = phrase_at(t, at, p);
        if (n && out)
            *out = words_of_tokens(t, at, n);
        if (n)
            return true;
    }
    return false;
}

/* The phrases that a word of the text is an anchor of: most texts have few. */
static struct phrase_marks mark_phrases(const struct phrase_words *t, const struct phrase_set *set)
{
    struct phrase_marks marks = set->unanchored;
    for (size_t i = 0; i < t->n; i++) {
        str word = t->v[i].text;
        for (size_t k = word_index_find(&set->index, word);
             k < set->n_anchors && str_eq(set->anchors[k].word, word); k++)
            marks.v[set->anchors[k].phrase / 64] |= (uint64_t)1 << set->anchors[k].phrase % 64;
    }
    return marks;
}

/* Lists are in the order of precedence. */
int phrase_next(const struct phrase_words *t, const char *const *column, size_t size, int from,
                str *out)
{
    const struct phrase_set *set = once_of(column, 0, size, read_list);
    struct phrase_marks marks = mark_phrases(t, set);
    for (size_t i = (size_t)from; i < set->n; i++)
        if (marks.v[i / 64] >> i % 64 & 1 && phrase_stands(t, &set->v[i], out))
            return (int)i;
    return -1;
}

bool phrase_find_any(const struct phrase_words *t, const char *const *phrases)
{
    return phrase_next(t, phrases, sizeof *phrases, 0, NULL) >= 0;
}
