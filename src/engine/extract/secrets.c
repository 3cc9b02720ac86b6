/* secrets.c - finding and masking what must not be given again: keys, passwords, card numbers. */
#include "engine/extract/secrets.h"

#include <string.h>

#include "base/buf.h"
#include "engine/extract/extract.h"

/*
 * Three ways to find a secret: patterns (see secrets.def), numbers whose checksum fits
 * (cards, IBAN, CPF, AHV), and values that were found before in the same conversation, since an
 * answer repeats a password without the word "password". A checksum keeps order numbers and phone
 * numbers from being masked: of random numbers one in ten passes Luhn, so cards must also begin
 * with 3 to 6 and fill the whole run of digits.
 *
 * At most SPANS_MAX secrets are found in one text, and VALUES_MAX values are remembered; shorter
 * ones than VALUE_MIN would mask ordinary words.
 */

/* Values of one conversation that are looked for again, and the bytes of the shortest. */
enum { DIGITS_MAX = 34, SPANS_MAX = 256, VALUES_MAX = 64, VALUE_MIN = 6 };

#define MASK "[secret]"

/* Bytes of a text, from and to. */
struct span {
    size_t from, to;
};

struct spans {
    struct span v[SPANS_MAX];
    size_t n;
};

/* Spans may overlap; masking goes through them in order of place. */
static void span_add(struct spans *s, size_t from, size_t to)
{
    if (s->n < SPANS_MAX && from < to)
        s->v[s->n++] = (struct span){from, to};
}

/* --- by pattern: the first group is the secret, else the whole match --- */

/* In one pass, which takes less time than most patterns. */
static unsigned shows_of(str text)
{
    static const bool runs[256] = {['0' ... '9'] = true,
                                   ['A' ... 'Z'] = true,
                                   ['a' ... 'z'] = true,
                                   ['_'] = true,
                                   ['-'] = true};
    static const unsigned char shown[256] = {
        ['0' ... '9'] = SHOWS_DIGIT, [':'] = SHOWS_SIGN, ['='] = SHOWS_SIGN};
    unsigned found = 0;
    size_t run = 0, longest = 0;
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        found |= shown[c];
        run = runs[c] ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    found |= longest >= WORD_MIN ? SHOWS_WORD : 0;
    found |= longest >= RUN_MIN ? SHOWS_RUN : 0;
    return found | (str_find(text, S("--")) < text.n ? SHOWS_DASHES : 0);
}

static void find_patterns(const struct extractor *x, str text, struct spans *out)
{
    struct match m;
    unsigned shows = shows_of(text);
    for (size_t i = 0; i < SECRET_COUNT; i++)
        for (size_t at = (secret_shows[i] & ~shows) ? text.n : 0;
             at < text.n && pattern_find(x->secrets[i], text, at, &m);) {
            size_t from = m.group[1].p ? (size_t)(m.group[1].p - text.p) : m.from;
            size_t to = m.group[1].p ? from + m.group[1].n : m.to;
            span_add(out, from, to);
            at = m.to > at ? m.to : at + 1;
        }
}

/* --- numbers with a checksum --- */

/* ISO/IEC 7812: card numbers. */
static bool luhn_fits(const char *v, size_t n)
{
    int sum = 0;
    for (size_t i = 0; i < n; i++) {
        int d = v[n - 1 - i] - '0';
        if (d < 0 || d > 9)
            return false;
        d = i % 2 ? d * 2 : d;
        sum += d > 9 ? d - 9 : d;
    }
    return n >= 13 && n <= 19 && sum % 10 == 0;
}

/* ISO 7064 mod 97-10 over the number with its first four characters at the end: IBAN. */
static bool iban_fits(const char *v, size_t n)
{
    int rest = 0;
    if (n < 15 || n > 34 || v[0] < 'A' || v[0] > 'Z' || v[1] < 'A' || v[1] > 'Z' || v[2] > '9' ||
        v[3] > '9')
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = v[(i + 4) % n];
        if (c >= 'A' && c <= 'Z')
            rest = (rest * 100 + (c - 'A' + 10)) % 97;
        else if (c >= '0' && c <= '9')
            rest = (rest * 10 + (c - '0')) % 97;
        else
            return false;
    }
    return rest == 1;
}

/* Brazil's CPF: two check digits. */
static bool cpf_fits(const char *v, size_t n)
{
    bool differs = false;
    if (n != 11)
        return false;
    for (size_t i = 1; i < n; i++)
        differs |= v[i] != v[0];
    for (int check = 9; check < 11 && differs; check++) {
        int sum = 0;
        for (int i = 0; i < check; i++)
            sum += (v[i] - '0') * (check + 1 - i);
        differs = (sum * 10) % 11 % 10 == v[check] - '0';
    }
    return differs;
}

/* Switzerland's social security number: EAN-13 that begins with 756. */
static bool ahv_fits(const char *v, size_t n)
{
    int sum = 0;
    for (size_t i = 0; i < n && n == 13; i++)
        sum += (v[i] - '0') * (i % 2 ? 3 : 1);
    return n == 13 && !strncmp(v, "756", 3) && sum % 10 == 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ASCII: numbers and codes have no other letters. */
static bool is_alnum(char c)
{
    return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* The characters of a number at `at` without its gaps, and where each ends: a gap is one blank, dot
 * or hyphen between two characters of it. */
static size_t number_at(str text, size_t at, bool letters, char *v, size_t *ends)
{
    size_t n = 0;
    for (size_t i = at; i < text.n && n < DIGITS_MAX; i++) {
        char c = text.p[i];
        bool is_part = letters ? is_digit(c) || (c >= 'A' && c <= 'Z') : is_digit(c);
        bool is_gap = n && char_is_one_of(c, " .-/") && i + 1 < text.n &&
                      (letters ? is_alnum(text.p[i + 1]) : is_digit(text.p[i + 1]));
        if (!is_part && !is_gap)
            break;
        if (is_part) {
            v[n] = c;
            ends[n++] = i + 1;
        }
    }
    return n;
}

/* A number begins where no letter or digit is in front. Of an IBAN the longest prefix that fits
 * counts, as words may follow it. */
static void find_numbers(str text, struct spans *out)
{
    char v[DIGITS_MAX + 1];
    size_t ends[DIGITS_MAX];
    for (size_t i = 0; i < text.n; i++) {
        if (i && is_alnum(text.p[i - 1]))
            continue;
        bool is_number = is_digit(text.p[i]), is_code = text.p[i] >= 'A' && text.p[i] <= 'Z';
        if (!is_number && !is_code)
            continue;
        size_t n = number_at(text, i, is_code, v, ends), fits = 0;
        v[n] = 0;
        for (size_t k = is_number ? 11 : 15; k <= n; k++)
            if (is_number ? (luhn_fits(v, k) && k == n && v[0] >= '3' && v[0] <= '6') ||
                                (k == n && (cpf_fits(v, k) || ahv_fits(v, k)))
                          : iban_fits(v, k))
                fits = k;
        if (fits) {
            span_add(out, i, ends[fits - 1]);
            i = ends[fits - 1];
        }
    }
}

static int by_place(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static void find_value(str text, str value, struct spans *out)
{
    for (size_t at = 0; at + value.n <= text.n; at += value.n) {
        at += str_find(str_sub(text, at, text.n), value);
        if (at < text.n)
            span_add(out, at, at + value.n);
    }
}

/* What the text itself gives away is looked for in all of it. */
static void find_again(str text, struct spans *out)
{
    for (size_t i = 0, own = out->n; i < own; i++) {
        str value = str_sub(text, out->v[i].from, out->v[i].to);
        if (value.n >= VALUE_MIN && !str_eq(value, S(MASK)))
            find_value(text, value, out);
    }
}

/* All three ways in one pass each; values may be NULL. */
static struct spans spans_of(const struct extractor *x, str text, const struct strs *values)
{
    struct spans s = {.n = 0};
    find_patterns(x, text, &s);
    find_numbers(text, &s);
    find_again(text, &s);
    for (size_t i = 0; values && i < values->n; i++)
        find_value(text, values->v[i], &s);
    qsort(s.v, s.n, sizeof *s.v, by_place);
    return s;
}

bool secrets_are_in(const struct extractor *x, str text)
{
    return spans_of(x, text, NULL).n > 0;
}

/* Adds the secrets of a text to the values of its conversation, each once. */
void secrets_add(const struct extractor *x, struct arena *a, str text, struct strs *out)
{
    struct spans s = spans_of(x, text, NULL);
    if (!out->v)
        out->v = NEW_N(a, str, VALUES_MAX);
    for (size_t i = 0; i < s.n; i++) {
        str value = str_sub(text, s.v[i].from, s.v[i].to);
        bool is_there = str_eq(value, S(MASK)) || value.n < VALUE_MIN;
        for (size_t k = 0; k < out->n; k++)
            is_there |= str_eq(out->v[k], value);
        if (!is_there && out->n < VALUES_MAX)
            out->v[out->n++] = value;
    }
}

/* The text itself when it holds none; each secret becomes "[secret]". */
str secrets_masked_with(const struct extractor *x, struct arena *a, str text,
                        const struct strs *values)
{
    struct spans s = spans_of(x, text, values);
    if (!s.n)
        return text;
    struct buf b = buf_make(a, text.n + s.n * sizeof MASK);
    size_t at = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.v[i].from >= at) {
            buf_add(&b, str_sub(text, at, s.v[i].from));
            buf_add(&b, S(MASK));
        }
        at = s.v[i].to > at ? s.v[i].to : at;
    }
    buf_add(&b, str_sub(text, at, text.n));
    return buf_str(&b);
}

str secrets_masked(const struct extractor *x, struct arena *a, str text)
{
    return secrets_masked_with(x, a, text, NULL);
}
