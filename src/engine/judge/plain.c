/* plain.c - a text as a model reads it, whatever hides its words from a rule. */
#include "engine/judge/plain.h"

#include <utf8proc.h>

#include "base/buf.h"
#include "base/seal.h"
#include "base/utf8.h"

/* Letters in a row that make a word; characters of base64 that are decoded. */
enum { LETTERS_ALONE = 4, CODED_LEAST = 16 };

/* A text as characters. */
struct letters {
    int32_t *v;
    size_t n;
};

/* What looks like a Latin letter: of the Greek, the Cyrillic, small capitals. Ascending. */
static const struct look {
    int32_t from;
    char to;
} looks[] = {
    {0x0131, 'i'}, {0x0251, 'a'}, {0x0261, 'g'}, {0x0262, 'g'}, {0x026A, 'i'}, {0x0274, 'n'},
    {0x0280, 'r'}, {0x028F, 'y'}, {0x0299, 'b'}, {0x029C, 'h'}, {0x029F, 'l'}, {0x03B1, 'a'},
    {0x03B2, 'b'}, {0x03B3, 'y'}, {0x03B5, 'e'}, {0x03B7, 'n'}, {0x03B9, 'i'}, {0x03BA, 'k'},
    {0x03BD, 'v'}, {0x03BF, 'o'}, {0x03C1, 'p'}, {0x03C4, 't'}, {0x03C5, 'u'}, {0x03C7, 'x'},
    {0x03C9, 'w'}, {0x03F2, 'c'}, {0x0430, 'a'}, {0x0432, 'b'}, {0x0433, 'r'}, {0x0435, 'e'},
    {0x0438, 'u'}, {0x043A, 'k'}, {0x043C, 'm'}, {0x043D, 'h'}, {0x043E, 'o'}, {0x043F, 'n'},
    {0x0440, 'p'}, {0x0441, 'c'}, {0x0442, 't'}, {0x0443, 'y'}, {0x0445, 'x'}, {0x0455, 's'},
    {0x0456, 'i'}, {0x0458, 'j'}, {0x04BB, 'h'}, {0x04CF, 'l'}, {0x0501, 'd'}, {0x051B, 'q'},
    {0x051D, 'w'}, {0x0585, 'o'}, {0x1D00, 'a'}, {0x1D04, 'c'}, {0x1D05, 'd'}, {0x1D07, 'e'},
    {0x1D0A, 'j'}, {0x1D0B, 'k'}, {0x1D0D, 'm'}, {0x1D0F, 'o'}, {0x1D18, 'p'}, {0x1D1B, 't'},
    {0x1D1C, 'u'}, {0x1D20, 'v'}, {0x1D21, 'w'}, {0x1D22, 'z'}, {0xA731, 's'},
};

ORDER(by_place, struct look, UP(from));

static bool is_latin(int32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 0xDF && c <= 0x24F);
}

static char look_of(int32_t c)
{
    const struct look key = {.from = c}, *l = NULL;
    if (c >= 0x80)
        l = bsearch(&key, looks, sizeof looks / sizeof *looks, sizeof *looks, by_place);
    return l ? l->to : 0;
}

/* The letter that a digit or a sign is read as inside of a word; 0 without one. */
static char leet_of(int32_t c)
{
    static const char signs[] = "0134578@$", letters[] = "oieastbas";
    const char *at = c > 0 && c < 'A' ? strchr(signs, (int)c) : NULL;
    return at ? letters[at - signs] : 0;
}

static bool is_space(int32_t c)
{
    enum { NO_BREAK = 0xA0, EMPTY_BRAILLE = 0x2800, LINE = 0x2028, PARAGRAPH = 0x2029 };
    return c == ' ' || (c >= '\t' && c <= '\r') || c == NO_BREAK || c == LINE || c == PARAGRAPH ||
           c == EMPTY_BRAILLE || (c > 0x7F && utf8proc_category(c) == UTF8PROC_CATEGORY_ZS);
}

/* Not accents, also many on one letter, but the vowels of the scripts of India or Arabia. */
static bool is_shown(int32_t c)
{
    utf8proc_category_t kind = utf8proc_category(c);
    bool is_accent = (c >= 0x300 && c <= 0x36F) || (c >= 0x1AB0 && c <= 0x1AFF) ||
                     (c >= 0x1DC0 && c <= 0x1DFF) || (c >= 0x20D0 && c <= 0x20FF);
    return kind != UTF8PROC_CATEGORY_CF && kind != UTF8PROC_CATEGORY_CC &&
           kind != UTF8PROC_CATEGORY_CO && kind != UTF8PROC_CATEGORY_CN && !is_accent;
}

static void letters_add(struct letters *l, int32_t c)
{
    if (c != ' ' || (l->n && l->v[l->n - 1] != ' '))
        l->v[l->n++] = c;
}

/* A word that is parted at the end of a line is whole again. */
static void fold_break(struct letters *l, int32_t c)
{
    if (c == '\n' && l->n > 1 && l->v[l->n - 1] == '-' && l->v[l->n - 2] > '@')
        l->n--;
    else
        letters_add(l, ' ');
}

static void fold_wide(struct letters *l, int32_t c)
{
    enum { PARTS = 20 };
    int32_t parts[PARTS];
    int class = 0;
    utf8proc_ssize_t n = utf8proc_decompose_char(c, parts, PARTS,
                                                 UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT |
                                                     UTF8PROC_IGNORE | UTF8PROC_CASEFOLD,
                                                 &class);
    for (utf8proc_ssize_t i = 0; i < n && i < PARTS; i++)
        if (is_space(parts[i]))
            letters_add(l, ' ');
        else if (is_shown(parts[i]))
            letters_add(l, parts[i]);
}

/* A character has up to 18 parts, and room for the commonest number is not enough. */
static struct letters fold_letters(struct arena *a, str text)
{
    enum { MOST_PARTS = 18 };
    size_t wide = 0, took;
    for (size_t i = 0; i < text.n; i++)
        wide += (unsigned char)text.p[i] >= 0xC0;
    struct letters l = {ROOM_N(a, int32_t, text.n + MOST_PARTS * wide + 1), 0};
    for (size_t i = 0; i < text.n; i += took) {
        int32_t c = utf8_at(text, i, &took);
        if (c >= 'A' && c <= 'Z')
            letters_add(&l, c + ('a' - 'A'));
        else if (c > ' ' && c < 0x7F)
            letters_add(&l, c);
        else if (is_space(c))
            fold_break(&l, c);
        else if (c > 0x7F)
            fold_wide(&l, c);
    }
    return l;
}

/* --- words --- */

/* A word that has Latin letters has no others; one that has letters has no digits among them. */
static void fold_word(int32_t *v, size_t n, bool is_latin_text)
{
    size_t latin = 0, looking = 0, leet = 0;
    for (size_t i = 0; i < n; i++) {
        latin += is_latin(v[i]);
        looking += look_of(v[i]) != 0;
        leet += leet_of(v[i]) && i + 1 < n;
    }
    for (size_t i = 0; i < n && looking && (latin || is_latin_text); i++)
        v[i] = look_of(v[i]) ? look_of(v[i]) : v[i];
    for (size_t i = 0; i < n && leet && latin + looking > 1; i++)
        if (leet_of(v[i]) && (i + 1 < n || utf8_is_digit(v[i])))
            v[i] = leet_of(v[i]);
}

static void fold_words(struct letters *l)
{
    size_t latin = 0, other = 0;
    for (size_t i = 0; i < l->n; i++) {
        latin += is_latin(l->v[i]);
        other += l->v[i] >= 0x370;
    }
    for (size_t from = 0, to; from < l->n; from = to + 1) {
        for (to = from; to < l->n && l->v[to] != ' '; to++)
            ;
        fold_word(l->v + from, to - from, latin > other);
    }
}

/* --- letters that stand alone --- */

static bool is_letter(int32_t c)
{
    return (c >= 'a' && c <= 'z') || (c > 0x7F && utf8_is_letter(c));
}

/* Where a row of single letters with joints between them ends; at without one. */
static size_t alone_end(const struct letters *l, size_t at)
{
    size_t i = at, n = 0;
    if (at && is_letter(l->v[at - 1]))
        return at;
    while (i < l->n && is_letter(l->v[i]) && (i + 1 == l->n || !is_letter(l->v[i + 1]))) {
        n++;
        i++;
        bool is_joint = i < l->n && l->v[i] < 0x80 && char_is_one_of((char)l->v[i], " .-_*|/");
        if (i + 1 >= l->n || !is_joint || !is_letter(l->v[i + 1]))
            break;
        if (i + 2 < l->n && is_letter(l->v[i + 2]))
            break;
        i++;
    }
    return n >= LETTERS_ALONE ? i : at;
}

static void join_letters(struct letters *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n;) {
        size_t end = alone_end(l, i);
        for (; i < end; i++)
            if (is_letter(l->v[i]))
                l->v[n++] = l->v[i];
        if (i < l->n)
            l->v[n++] = l->v[i++];
    }
    l->n = n;
}

/* --- base64 --- */

static bool is_code(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
           c == '/' || c == '-' || c == '_';
}

/* Eight in ten of its characters are letters or blanks. */
static bool reads_as_text(str s)
{
    size_t n = 0, good = 0, took;
    for (size_t i = 0; i < s.n; i += took, n++) {
        int32_t c = utf8_at(s, i, &took);
        good += c == ' ' || is_letter(c) || (c >= 'A' && c <= 'Z');
    }
    return n && 10 * good >= 8 * n && utf8_is_valid(s);
}

static str decoded(struct arena *a, str code)
{
    char *url = ROOM_N(a, char, code.n);
    str text;
    for (size_t i = 0; i < code.n; i++)
        url[i] = code.p[i] == '+' ? '-' : code.p[i] == '/' ? '_' : code.p[i];
    return base64url_read(a, (str){url, code.n}, &text) && reads_as_text(text) ? text : S("");
}

/* The text, and behind it what its base64 says. */
static str with_decoded(struct arena *a, str text)
{
    struct buf b = buf_make(a, 2 * text.n + 1);
    for (size_t from = 0, to; from < text.n; from = to + 1) {
        for (to = from; to < text.n && is_code(text.p[to]); to++)
            ;
        str more = to - from < CODED_LEAST ? S("") : decoded(a, str_sub(text, from, to));
        if (more.n && !b.n)
            buf_add(&b, text);
        buf_add(&b, more.n ? S("\n") : S(""));
        buf_add(&b, more);
    }
    return b.n ? buf_str(&b) : text;
}

str text_plain(struct arena *a, str text)
{
    struct letters l = fold_letters(a, with_decoded(a, utf8_cut(text, PLAIN_MOST)));
    fold_words(&l);
    join_letters(&l);
    char *out = ROOM_N(a, char, 4 * l.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < l.n; i++)
        n += (size_t)utf8proc_encode_char(l.v[i], (uint8_t *)out + n);
    return str_trim((str){out, n});
}
