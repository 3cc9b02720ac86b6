/* memory_intent.c - the phrases by which people ask for what was said before. */
#include "engine/text/memory_intent.h"

#include "base/utf8.h"
#include "engine/text/lexicon.h"
#include "engine/text/phrases.h"

const char *const gate_section_names[] = {"none",    "identity", "transcript",
                                          "episode", "pinned",   NULL};

enum { ENTITY_MIN = 4 };

/* Rows are asked in order. ENTITIES, which no text holds, stands where known names are sought. */
#define ENTITIES "*|*"

enum { EPISODE_asks, EPISODE_time };

static const struct rule {
    const char *phrase;
    enum gate_section section; /* GATE_NONE: none of the rows behind it fires, either */
    bool is_weak, is_time;
} rules[] = {
#define IDENTITY(phrase) {phrase, GATE_IDENTITY, false, false},
#define TRANSCRIPT(phrase) {phrase, GATE_TRANSCRIPT, false, false},
#define EPISODE(is, phrase) {phrase, GATE_EPISODE, false, EPISODE_##is},
#include "lang/memory_intent.def"
    {ENTITIES, GATE_PINNED, true, false},
#define PINNED(phrase) {phrase, GATE_PINNED, false, false},
#define NOT_PINNED(phrase) {phrase, GATE_NONE, false, false},
#define ALSO_PINNED(phrase) {phrase, GATE_PINNED, false, false},
#define OWN(phrase) {phrase, GATE_PINNED, true, false},
#include "lang/memory_intent.def"
    {0}};

static int next_rule(const struct phrase_words *t, int from, str *phrase)
{
    return phrase_next(t, &rules->phrase, sizeof *rules, from, phrase);
}

/* A known name as whole words. */
static bool find_entity(struct arena *a, str text, const str *entities, size_t n, str *out)
{
    for (size_t i = 0; i < n; i++) {
        str name = phrase_fold(a, str_trim(entities[i]));
        if (utf16_length(name) < ENTITY_MIN)
            continue;
        for (size_t at = 0; (at += str_find(str_sub(text, at, text.n), name)) < text.n; at++) {
            size_t end = at + name.n;
            bool starts = at == 0 || !phrase_has_byte(text.p[at - 1]);
            if (starts && (end == text.n || !phrase_has_byte(text.p[end]) || text.p[end] == '\'')) {
                *out = str_sub(text, at, end);
                return true;
            }
        }
    }
    return false;
}

/* "What did I do yesterday?" asks, "Who won yesterday?" does not: an "I" or another phrase must. */
static bool is_time_alone(const struct phrase_words *t, int row)
{
    int next = row;
    if (!rules[row].is_time || SOME(i, t->n, lexicon_is(t->v[i].text, LEX_SELF | LEX_SELF_TOO)))
        return false;
    do
        next = next_rule(t, next + 1, NULL);
    while (next >= 0 && (rules[next].is_time || rules[next].is_weak));
    return next < 0;
}

/* Example: "who am I" opens GATE_IDENTITY, with the phrase for the receipt; a message shorter than
 * three characters opens none. entities may be NULL where n is 0. */
struct gate gate_of(struct arena *a, str message, const str *entities, size_t n)
{
    str text = phrase_fold(a, str_trim(message)), phrase;
    if (utf16_length(text) < 3)
        return (struct gate){GATE_NONE, S(""), false, false};
    struct phrase_words t = phrase_words_of(a, text);
    int row = next_rule(&t, 0, &phrase), names = 0;
    while (strcmp(rules[names].phrase, ENTITIES) != 0) /* phrases before it win over a name */
        names++;
    if ((row < 0 || row > names) && find_entity(a, text, entities, n, &phrase))
        return (struct gate){rules[names].section, phrase, rules[names].is_weak, false};
    if (row < 0)
        return (struct gate){GATE_NONE, S(""), false, false};
    return (struct gate){rules[row].section, phrase, rules[row].is_weak, is_time_alone(&t, row)};
}
