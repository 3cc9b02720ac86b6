/* unspaced.c - short strings of Chinese and Japanese, which part no words. */
#include "engine/recall/unspaced.h"

#include "base/utf8.h"

/* Bytes of one character of these scripts, and of a text that are looked at. */
enum { WIDE = 3, LOOKED_AT = 600 };

/* Anywhere: no boundary of words can be asked for. */
static bool has_part(str text, str part)
{
    return str_find(text, part) < text.n;
}

/* Who is spoken of: the row of the first that stands there; -1: the speaker. */
static int kin_of(str text)
{
    static const char *const kin[] = {
#define KIN(text) text,
#include "lang/unspaced.def"
        NULL};
    size_t first = text.n;
    int who = -1;
    for (int i = 0; kin[i]; i++) {
        size_t at = str_find(text, str_of(kin[i]));
        if (at < first) {
            first = at;
            who = i;
        }
    }
    return who;
}

/* Two bytes are enough: Han begins with E4 to E9, kana with E3 81 to E3 83. */
static bool is_unspaced_at(str text, size_t i)
{
    unsigned char c = (unsigned char)text.p[i];
    return i + WIDE <= text.n &&
           ((c >= 0xE4 && c <= 0xE9) || (c == 0xE3 && (unsigned char)text.p[i + 1] >= 0x81 &&
                                         (unsigned char)text.p[i + 1] <= 0x83));
}

/* More than half of its bytes are Han or kana. */
bool text_is_unspaced(str text)
{
    size_t wide = 0;
    text = utf8_cut(text, LOOKED_AT);
    for (size_t i = 0; i < text.n;) {
        bool is = is_unspaced_at(text, i);
        wide += is ? WIDE : 0;
        i += is ? WIDE : 1;
    }
    return text.n && 2 * wide > text.n;
}

bool unspaced_asks_past(str question)
{
    static const char *const past[] = {
#define PAST(text) text,
#include "lang/unspaced.def"
        NULL};
    bool asks = false;
    for (int i = 0; past[i]; i++)
        asks |= has_part(question, str_of(past[i]));
    return asks && text_is_unspaced(question);
}

bool unspaced_subject_fits(str question, str statement)
{
    return kin_of(question) == kin_of(statement);
}
