/* unspaced.c - lines that a later one replaces in Chinese and Japanese, which part no words. */
#include "engine/recall/unspaced.h"

#include "base/utf8.h"
#include "engine/text/term_set.h"

/*
 * These scripts part no words, so a text is searched for short strings of data/lang: cues of
 * change ("now", "no longer"), cues of slots (home, work …) and words of kinship. Two lines with a
 * cue of the same slot about the same person are a change; without one, shared pairs of characters
 * tell whether they have a topic in common, and then a cue of change is needed. Coarser than
 * clause_parse.c.
 */

enum cue { CHANGES, OVER, ADDS, SUPPOSES, PAST };

/* Bytes of one character of these scripts, and of a text that are looked at. */
enum { WIDE = 3, LOOKED_AT = 600, CLEAR = 2 };

/* Anywhere: no boundary of words can be asked for. */
static bool has_part(str text, str part)
{
    return str_find(text, part) < text.n;
}

/* One bit for each kind of cue. */
static unsigned cues_of(str text)
{
    static const struct {
        enum cue cue;
        const char *text;
    } cues[] = {
#define CUE(cue, text) {cue, text},
#include "lang/unspaced.def"
    };
    unsigned found = 0;
    for (size_t i = 0; i < sizeof cues / sizeof *cues; i++)
        if (!(found >> cues[i].cue & 1) && has_part(text, str_of(cues[i].text)))
            found |= 1u << cues[i].cue;
    return found;
}

static const struct {
    int slot;
    const char *text;
} in[] = {
#define IN(slot, text) {slot, text},
#include "lang/unspaced.def"
};

/* One bit for each slot of which a word stands in the text. */
static unsigned slots_of(str text)
{
    unsigned found = 0;
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        if (has_part(text, str_of(in[i].text)))
            found |= 1u << in[i].slot;
    return found;
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

/* Hiragana are mostly endings and particles, which tell no topic. */
static bool is_hiragana(str c)
{
    unsigned second = (unsigned char)c.p[1], third = (unsigned char)c.p[2];
    return (unsigned char)c.p[0] == 0xE3 && (second == 0x81 || (second == 0x82 && third < 0xA0));
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

/* Pairs of neighbours that tell a topic, and in Japanese what stands before a particle. */
static struct term_set topics_of(struct arena *a, str text)
{
    static const char plain[] =
#define PLAIN(pairs) pairs " "
#include "lang/unspaced.def"
        ;
    struct term_set out = terms_with_room(a, text.n);
    for (size_t i = 0; i + 2 * WIDE <= text.n; i++) {
        if (!is_unspaced_at(text, i) || !is_unspaced_at(text, i + WIDE))
            continue;
        str first = str_sub(text, i, i + WIDE), pair = str_sub(text, i, i + 2 * WIDE);
        str second = str_sub(pair, WIDE, pair.n);
        bool is_topic = str_is(second, "は") || str_is(second, "を") || str_is(second, "が");
        if (is_topic && !is_hiragana(first))
            terms_add(a, &out, str_hash(first));
        if (!is_hiragana(first) && !is_hiragana(second) && !has_part(str_of(plain), pair))
            terms_add(a, &out, str_hash(pair));
        i += WIDE - 1;
    }
    terms_sort(&out);
    return out;
}

/*
 * What adds ("also") or supposes ("perhaps") replaces nothing, nor does a line about somebody else.
 */
enum supersession unspaced_supersession(struct arena *a, str older, str newer)
{
    older = utf8_cut(older, LOOKED_AT);
    newer = utf8_cut(newer, LOOKED_AT);
    unsigned cues = cues_of(newer);
    bool changes = cues & (1u << CHANGES | 1u << OVER);
    if ((cues & (1u << ADDS | 1u << SUPPOSES)) || kin_of(older) != kin_of(newer))
        return CURRENT;
    if (slots_of(older) & slots_of(newer))
        return changes ? REPLACED : DOUBTFUL;
    if (!changes)
        return CURRENT;
    struct term_set x = topics_of(a, older), y = topics_of(a, newer);
    size_t shared = terms_shared(&x, &y);
    if (shared >= CLEAR && cues >> OVER & 1)
        return REPLACED;
    return shared ? DOUBTFUL : CURRENT;
}

bool unspaced_asks_past(str question)
{
    return text_is_unspaced(question) && (cues_of(question) >> PAST & 1);
}

bool unspaced_subject_fits(str question, str statement)
{
    return kin_of(question) == kin_of(statement);
}
