/* unspaced_words.c - words of scripts that part none, and Korean, whose words have particles. */
#include "words/unspaced_words.h"

#include <utf8proc.h>

#include "base/utf8.h"

/*
 * Nobody knows where a word ends without a dictionary, so a run gives each pair of neighbouring
 * characters. The index has the single Han characters and Thai syllables, too: "猫" asks for
 * "三毛猫". In a question the places of particles and question words are covered, and what stands
 * there or reaches over it is left out: "我的猫叫什么名字" asks for 猫, 叫 and 名字. Korean parts
 * its words; they are found without particles and endings, and the last syllable of a verb also as
 * it is without what it was contracted with ("샀어요": 사).
 */

/* Of a character of these scripts. */
enum { LEAST_BYTES = 3 };

/* One character; in Thai and Lao a consonant with the vowels and tones that belong to it. */
enum script { OTHER_SCRIPT, HAN, KANA, HANGUL, SYLLABLES };
struct cell {
    size_t from, to;
    int32_t first;
    enum script script;
    bool is_covered;
};

struct cells {
    struct cell *v;
    size_t n;
};

bool is_unspaced(int32_t c)
{
    static const struct {
        int32_t from, to;
    } ranges[] = {{0x0E00, 0x0EFF}, {0x1000, 0x109F},  {0x1780, 0x17FF}, {0x3040, 0x30FF},
                  {0x3400, 0x4DBF}, {0x4E00, 0x9FFF},  {0xAC00, 0xD7AF}, {0xF900, 0xFAFF},
                  {0xFF66, 0xFF9F}, {0x20000, 0x3FFFF}};
    return SOME(i, sizeof ranges / sizeof *ranges, c >= ranges[i].from && c <= ranges[i].to);
}

static enum script script_of(int32_t c)
{
    return c < 0x0F00                   ? SYLLABLES
           : c < 0x3040                 ? OTHER_SCRIPT
           : c < 0x3100                 ? KANA
           : c >= 0xFF66 && c <= 0xFF9F ? KANA
           : c >= 0xAC00 && c <= 0xD7AF ? HANGUL
                                        : HAN;
}

/* The Thai and the Lao block have one order. */
static bool is_leading_vowel(int32_t c)
{
    return c >= 0x0E00 && c < 0x0F00 && (c & 0x7F) >= 0x40 && (c & 0x7F) <= 0x44;
}

static bool is_following(int32_t c)
{
    int32_t in_block = c & 0x7F;
    return utf8proc_category(c) == UTF8PROC_CATEGORY_MN || in_block == 0x30 || in_block == 0x32 ||
           in_block == 0x33 || in_block == 0x45;
}

static struct cells cells_of(struct arena *a, str run)
{
    struct cells out = {NEW_N(a, struct cell, run.n / LEAST_BYTES + 1), 0};
    bool leads = false;
    for (size_t i = 0, n; i < run.n; i += n) {
        int32_t c = utf8_at(run, i, &n);
        enum script script = script_of(c);
        bool joins =
            out.n && script == out.v[out.n - 1].script &&
            (script == SYLLABLES ? leads || is_following(c)
                                 : c == 0xFF9E || c == 0xFF9F); /* voices kana in half width */
        leads = script == SYLLABLES && is_leading_vowel(c);
        if (joins)
            out.v[out.n - 1].to = i + n;
        else
            out.v[out.n++] = (struct cell){i, i + n, c, script, false};
    }
    return out;
}

bool has_kana(str text)
{
    const unsigned char *p = (const unsigned char *)text.p;
    return SOME(i, text.n, i + 2 < text.n && p[i] == 0xE3 && p[i + 1] >= 0x81 && p[i + 1] <= 0x83);
}

static void add_token(struct run_tokens *out, size_t from, str text, bool is_part)
{
    out->v[out->n++] = (struct run_token){text, from, is_part};
}

static str part_of(str run, const struct cells *c, size_t from, size_t to)
{
    return str_sub(run, c->v[from].from, c->v[to - 1].to);
}

/* --- covering --- */

enum covers { CHINESE, JAPANESE, THAI, COVERS_COUNT };

static const char *const covers[COVERS_COUNT] = {
#define COVERS(language, words) [language] = words,
#include "lang/unspaced_words.def"
};

/* Of a list of words parted by blanks, the longest that begins or ends the text: its bytes. */
static size_t longest_of(const char *list, str text, bool at_end)
{
    size_t longest = 0;
    for (str rest = str_of(list); rest.n;) {
        str word = str_cut(&rest, ' ');
        if (word.n > longest && (at_end ? str_ends(text, word) : str_starts(text, word)))
            longest = word.n;
    }
    return longest;
}

static void cover_cells(str run, struct cells *c, bool is_japanese)
{
    for (size_t i = 0; i < c->n; i++) {
        enum covers by = c->v[i].script == SYLLABLES ? THAI : is_japanese ? JAPANESE : CHINESE;
        str rest = str_sub(run, c->v[i].from, run.n);
        size_t bytes = c->v[i].script == HANGUL ? 0 : longest_of(covers[by], rest, false);
        size_t end = c->v[i].from + bytes, last = i;
        while (last < c->n && c->v[last].to <= end)
            c->v[last++].is_covered = true;
        i = last > i ? last - 1 : i;
    }
}

/* --- Korean --- */

enum { SYLLABLE_BASE = 0xAC00, FINALS = 28, VOWELS = 21 };
enum { FINAL_N = 4, FINAL_L = 8, FINAL_M = 16, FINAL_B = 17, FINAL_SS = 20 };

static const char tails[] =
#define TAIL(words) words " "
#include "lang/unspaced_words.def"
    ;
static const char empty_words[] =
#define EMPTY(words) words " "
#include "lang/unspaced_words.def"
    ;

static bool is_empty_word(str word)
{
    return longest_of(empty_words, word, false) == word.n;
}

/* The syllable without a final that belongs to an ending, and with its vowel as it was before an
 * ending was drawn into it: 샀: 사; 배워: 배우; 해: 하. The syllable itself when it is neither. */
static int32_t open_syllable(int32_t c)
{
    /* Vowels by their number: ae, yeo, wa, wae, weo. */
    enum { A = 0, AE = 1, YEO = 6, O = 8, WA = 9, U = 13, WEO = 14, I = 20 };
    int32_t at = c - SYLLABLE_BASE, final = at % FINALS, vowel = at / FINALS % VOWELS;
    bool is_ending = final == FINAL_N || final == FINAL_L || final == FINAL_M || final == FINAL_B ||
                     final == FINAL_SS;
    if (final && !is_ending)
        return c;
    int32_t was = vowel == YEO ? I : vowel == WA ? O : vowel == WEO ? U : vowel == AE ? A : vowel;
    return c - final + (was - vowel) * FINALS;
}

/* How many cells are left without particles and endings: at least one, or two where a second ending
 * is cut. */
static size_t korean_base(str run, const struct cells *c)
{
    size_t left = c->n;
    for (size_t least = 1; least <= 2; least++) {
        size_t bytes = longest_of(tails, str_sub(run, 0, c->v[left - 1].to), true);
        size_t end = c->v[left - 1].to - bytes, kept = left;
        while (bytes && kept && c->v[kept - 1].from >= end)
            kept--;
        if (!bytes || kept < least)
            break;
        left = kept;
    }
    return left;
}

static str opened_end(struct arena *a, str run, const struct cells *c, size_t left)
{
    char opened[5] = "";
    int32_t last = c->v[left - 1].first, open = open_syllable(last);
    if (open == last)
        return S("");
    size_t n = (size_t)utf8proc_encode_char(open, (utf8proc_uint8_t *)opened);
    str before = left > 1 ? part_of(run, c, left - 2, left - 1) : S("");
    return str_printf(a, S_FMT S_FMT, S_ARG(before), (int)n, opened);
}

/* All in Hangul. In the index the pairs of the whole run are there already. */
static void add_korean(struct arena *a, str run, const struct cells *c, bool asks,
                       struct run_tokens *out)
{
    size_t left = korean_base(run, c);
    if (asks && (is_empty_word(run) || is_empty_word(part_of(run, c, 0, left))))
        return;
    for (size_t i = 1; asks && i < left; i++)
        add_token(out, c->v[i - 1].from, part_of(run, c, i - 1, i + 1), false);
    if (left == 1 && (asks || c->n > 1))
        add_token(out, 0, part_of(run, c, 0, 1), !asks);
    if (asks && left == 1 && c->n == 2)
        add_token(out, 0, run, true);
    str opened = opened_end(a, run, c, left);
    if (opened.n)
        add_token(out, 0, opened, true);
}

/* --- all --- */

static void add_pairs(str run, const struct cells *c, struct run_tokens *out)
{
    for (size_t i = 1; i < c->n; i++)
        if (!c->v[i - 1].is_covered && !c->v[i].is_covered)
            add_token(out, c->v[i - 1].from, part_of(run, c, i - 1, i + 1), false);
    if (c->n == 1 && !c->v[0].is_covered)
        add_token(out, 0, run, false);
}

/* Most Thai words have several syllables, so a question asks for one alone only where it stands
 * alone between covered places. */
static bool asks_alone(const struct cells *c, size_t i)
{
    bool before = i && !c->v[i - 1].is_covered, behind = i + 1 < c->n && !c->v[i + 1].is_covered;
    return c->v[i].script == HAN || (!before && !behind);
}

static void add_singles(str run, const struct cells *c, bool asks, struct run_tokens *out)
{
    for (size_t i = 0; c->n > 1 && i < c->n; i++) {
        const struct cell *one = &c->v[i];
        bool is_word =
            one->script == HAN || (one->script == SYLLABLES && one->to - one->from > LEAST_BYTES);
        if (is_word && !one->is_covered && (!asks || asks_alone(c, i)))
            add_token(out, c->v[i].from, part_of(run, c, i, i + 1), true);
    }
}

struct run_tokens run_tokens_of(struct arena *a, str run, enum word_use use, bool is_japanese)
{
    struct cells c = cells_of(a, run);
    struct run_tokens out = {NEW_N(a, struct run_token, 2 * c.n + 4), 0};
    bool is_korean = EVERY(i, c.n, c.v[i].script == HANGUL);
    if (use == TO_ASK && !is_korean)
        cover_cells(run, &c, is_japanese);
    if (use != TO_ASK || !is_korean)
        add_pairs(run, &c, &out);
    if (use != TO_COMPARE && is_korean)
        add_korean(a, run, &c, use == TO_ASK, &out);
    if (use != TO_COMPARE && !is_korean)
        add_singles(run, &c, use == TO_ASK, &out);
    assert(out.n <= 2 * c.n + 4);
    return out;
}
