/* memory_intent.c - the phrases by which people ask for what was said before. */
#include "engine/text/memory_intent.h"

#include "base/words.h"
#include "engine/text/phrases.h"

const char *const gate_section_names[] = {"none",    "identity", "transcript",
                                          "episode", "pinned",   NULL};

enum { ENTITY_MIN = 4 };

/* Rows are asked in order. ENTITIES stands where known names are looked for. */
struct rule {
    enum gate_section section; /* GATE_NONE: none of the rows behind it fires, either */
    const char *phrase;
    bool is_weak;
};

#define ENTITIES NULL

static const struct rule rules[] = {
#define ASKS(section, phrase) {GATE_##section, phrase, false},
#define WEAK(section, phrase) {GATE_##section, phrase, true},
#include "engine/text/memory_intent.def"
#undef ASKS
#undef WEAK
};

/* A known name as whole words. */
static bool find_entity(struct arena *a, str text, const str *entities, size_t n, str *out)
{
    for (size_t i = 0; i < n; i++) {
        str name = phrase_fold(a, str_trim(entities[i]));
        if (utf16_length(name) < ENTITY_MIN)
            continue;
        for (size_t at = 0; at + name.n <= text.n; at++) {
            size_t next = at + str_find(str_sub(text, at, text.n), name);
            bool starts = next == 0 || !phrase_has_byte(text.p[next - 1]);
            size_t end = next + name.n;
            if (end > text.n)
                break;
            if (starts && (end == text.n || !phrase_has_byte(text.p[end]) || text.p[end] == '\'')) {
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
    str text = phrase_fold(a, str_trim(message)), phrase;
    if (utf16_length(text) < 3)
        return (struct gate){GATE_NONE, S(""), false};
    struct phrase_words t = phrase_words_of(a, text);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        bool fires = rules[i].phrase == ENTITIES ? find_entity(a, text, entities, n, &phrase)
                                                 : phrase_find(&t, rules[i].phrase, &phrase);
        if (fires)
            return (struct gate){rules[i].section, phrase, rules[i].is_weak};
    }
    return (struct gate){GATE_NONE, S(""), false};
}
