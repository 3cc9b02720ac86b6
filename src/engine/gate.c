/* gate.c - the phrases by which people ask for what was said before. */
#include "engine/gate.h"

#include "base/words.h"

const char *const gate_section_names[] = {"none",    "identity", "transcript",
                                          "episode", "pinned",   NULL};

enum { TOKENS_MAX = 2000, ENTITY_MIN = 4 };

#define SAID "said|wrote|typed"
#define SAY "say|write|type"
#define MONTHS                                                                                     \
    "january|february|march|april|may|june|july|august|september|october|november|december"
#define WEEKDAYS "monday|tuesday|wednesday|thursday|friday|saturday|sunday"

/*
 * Words that must stand next to each other: a|b is either, ?a may be missing, * is any word, . is
 * the end of a sentence, # a date in digits. ^ at the front: the message must begin so. Rows are
 * asked in order. ENTITIES stands where known names are looked for.
 */
struct rule {
    enum gate_section section;
    const char *phrase;
    bool is_weak;
};

#define ENTITIES NULL

static const struct rule rules[] = {
    {GATE_IDENTITY, "what's|whats my name|job|role", false},
    {GATE_IDENTITY, "what is my name|job|role", false},
    {GATE_IDENTITY, "who am i", false},
    {GATE_IDENTITY, "tell me about myself", false},
    {GATE_IDENTITY, "what do you know|remember about me", false},
    {GATE_IDENTITY, "what do i do .", false},
    {GATE_IDENTITY, "what do i do for|professionally", false},
    {GATE_IDENTITY, "where do i work|live", false},
    {GATE_IDENTITY, "where am i from", false},
    {GATE_IDENTITY, "how old am i", false},
    {GATE_TRANSCRIPT, "^ exact words", false},
    {GATE_TRANSCRIPT, "what ?were my exact words", false},
    {GATE_TRANSCRIPT, "what exact words did i " SAY, false},
    {GATE_TRANSCRIPT, "what ?exactly did i " SAY, false},
    {GATE_TRANSCRIPT, "what i " SAID, false},
    {GATE_TRANSCRIPT, "quote|repeat ?back my ?exact words", false},
    {GATE_EPISODE, "yesterday", false},
    {GATE_EPISODE, "last week|month|year|time|session", false},
    {GATE_EPISODE, "earlier", false},
    {GATE_EPISODE, "previously", false},
    {GATE_EPISODE, "before .", false},
    {GATE_EPISODE, "day|week|month|year before", false},
    {GATE_EPISODE, "ago", false},
    {GATE_EPISODE, "when did i|we|you", false},
    {GATE_EPISODE, "on " WEEKDAYS, false},
    {GATE_EPISODE, "in " MONTHS, false},
    {GATE_EPISODE, "#", false},
    {GATE_EPISODE, "we discussed|talked", false},
    {GATE_EPISODE, "did we discuss|talk|decide", false},
    {GATE_EPISODE, "you said|mentioned", false},
    {GATE_EPISODE, "you told me", false},
    {GATE_EPISODE, "remember|recall when|that|the", false},
    {GATE_EPISODE, "as i said|mentioned", false},
    {GATE_EPISODE, "like i said", false},
    {GATE_EPISODE, "that thing we|i", false},
    {GATE_PINNED, ENTITIES, .is_weak = true},
    {GATE_PINNED, "remember|recall|forget", false},
    {GATE_PINNED, "did i say|tell", false},
    {GATE_PINNED, "do you know about my", false},
    {GATE_PINNED, "my|our *", .is_weak = true},
};

/* The message's words in lower case, each with its place, and "." for the end of a sentence. */
struct tokens {
    str *v;
    size_t *from, *to;
    size_t n;
};

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80 ||
           c == '\'';
}

static bool ends_sentence(char c)
{
    return c == '.' || c == '?' || c == '!' || c == '\n';
}

static void add(struct tokens *t, str text, size_t from, size_t to)
{
    t->v[t->n] = str_sub(text, from, to);
    t->from[t->n] = from;
    t->to[t->n] = to;
    t->n++;
}

static struct tokens tokens_in(struct arena *a, str text)
{
    struct tokens t = {NEW_N(a, str, TOKENS_MAX), NEW_N(a, size_t, TOKENS_MAX),
                       NEW_N(a, size_t, TOKENS_MAX), 0};
    for (size_t i = 0; i < text.n && t.n < TOKENS_MAX;) {
        size_t from = i;
        while (i < text.n && (is_word(text.p[i]) || (i > from && text.p[i] == '-')))
            i++;
        if (i > from)
            add(&t, text, from, i);
        else if (ends_sentence(text.p[i++]))
            add(&t, S("."), 0, 1);
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
    while (choice.n)
        if (str_eq(str_cut(&choice, '|'), word))
            return true;
    return false;
}

/* How many tokens from at on are the phrase's, or 0. The end of the message ends a sentence. */
static size_t phrase_at(const struct tokens *t, size_t at, str phrase)
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
static str words_of_tokens(const struct tokens *t, str text, size_t at, size_t n)
{
    size_t last = at + n - 1;
    while (last > at && (last >= t->n || str_is(t->v[last], ".")))
        last--;
    return str_sub(text, t->from[at], t->to[last]);
}

/* Which bytes a phrase can begin with: nearly every place of a long message is passed over so. */
static void first_bytes(str phrase, bool set[256])
{
    bool optional = true;
    memset(set, 0, 256);
    while (phrase.n && optional) {
        str choice = str_cut(&phrase, ' ');
        if (str_is(choice, "^"))
            continue;
        optional = str_starts(choice, S("?"));
        if (optional)
            choice = str_sub(choice, 1, choice.n);
        if (str_is(choice, "*"))
            memset(set, 1, 256);
        if (str_is(choice, "#"))
            memset(set + '0', 1, 10);
        while (choice.n)
            set[(unsigned char)str_cut(&choice, '|').p[0]] = true;
    }
}

static bool find_phrase(const struct tokens *t, str text, const char *phrase, str *out)
{
    bool may_begin[256];
    first_bytes(str_of(phrase), may_begin);
    for (size_t at = 0; at < t->n; at++) {
        if (!may_begin[(unsigned char)t->v[at].p[0]])
            continue;
        size_t n = phrase_at(t, at, str_of(phrase));
        if (n) {
            *out = words_of_tokens(t, text, at, n);
            return true;
        }
    }
    return false;
}

/* In lower case and with plain apostrophes. */
static str folded(struct arena *a, str message)
{
    str lower = utf8_lower(a, message);
    char *p = arena_alloc(a, lower.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < lower.n; i++) {
        if (str_starts(str_sub(lower, i, lower.n), S("\xE2\x80\x99"))) {
            p[n++] = '\'';
            i += 2;
        } else {
            p[n++] = lower.p[i];
        }
    }
    return (str){p, n};
}

/* A known name as whole words. */
static bool find_entity(struct arena *a, str text, const str *entities, size_t n, str *out)
{
    for (size_t i = 0; i < n; i++) {
        str name = folded(a, str_trim(entities[i]));
        if (utf16_length(name) < ENTITY_MIN)
            continue;
        for (size_t at = 0; at + name.n <= text.n; at++) {
            size_t next = at + str_find(str_sub(text, at, text.n), name);
            bool starts = next == 0 || !is_word(text.p[next - 1]);
            size_t end = next + name.n;
            if (end > text.n)
                break;
            if (starts && (end == text.n || !is_word(text.p[end]) || text.p[end] == '\'')) {
                *out = str_sub(text, next, end);
                return true;
            }
            at = next;
        }
    }
    return false;
}

struct gate gate_of(struct arena *a, str message, const str *entities, size_t n)
{
    str text = folded(a, str_trim(message)), phrase;
    if (utf16_length(text) < 3)
        return (struct gate){GATE_NONE, S(""), false};
    struct tokens t = tokens_in(a, text);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        bool fires = rules[i].phrase == ENTITIES ? find_entity(a, text, entities, n, &phrase)
                                                 : find_phrase(&t, text, rules[i].phrase, &phrase);
        if (fires)
            return (struct gate){rules[i].section, phrase, rules[i].is_weak};
    }
    return (struct gate){GATE_NONE, S(""), false};
}
