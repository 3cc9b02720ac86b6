/* secret_numbers.c - numbers of persons and accounts: forms and check digits. */
#include "engine/extract/secret_numbers.h"

/*
 * Check digits keep order numbers and phone numbers from being masked. One digit is not enough: of
 * random numbers one in ten fits, so these need a name beside them, or a first digit and a length
 * of their own, as cards have.
 */
enum { NUMBER_MAX = 34, NAME_REACH = 48 };

struct number_row {
    const char *form;
    unsigned char least, most;
    bool is_named;
    bool (*fits)(const struct number_row *row, const char *v, size_t n);
    const char *weights; /* a character each, '0' and on: ':' is 10 */
    unsigned char modulus, rest;
};

static bool fits_any(const struct number_row *row, const char *v, size_t n)
{
    return row && v && n;
}

static int digit_at(const char *v, size_t i)
{
    return v[i] - '0';
}

static bool fits_weights(const struct number_row *row, const char *v, size_t n)
{
    int sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += digit_at(v, i) * digit_at(row->weights, i);
    return sum % row->modulus == row->rest;
}

/* Whether all of the first n digits are one digit. */
static bool is_monotone(const char *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (v[i] != v[0])
            return false;
    return true;
}

static bool fits_luhn(const struct number_row *row, const char *v, size_t n)
{
    int sum = 0;
    (void)row;
    for (size_t i = 0; i < n; i++) {
        int d = digit_at(v, n - 1 - i) * (i % 2 ? 2 : 1);
        sum += d > 9 ? d - 9 : d;
    }
    return sum % 10 == 0;
}

/* ISO/IEC 7812: of banks, travel and entertainment. */
static bool fits_card(const struct number_row *row, const char *v, size_t n)
{
    return v[0] >= '3' && v[0] <= '6' && fits_luhn(row, v, n);
}

static bool fits_personnummer(const struct number_row *row, const char *v, size_t n)
{
    return n != 11 && fits_luhn(row, v + n - 10, 10);
}

/* Brazil: two check digits. */
static bool fits_cpf(const struct number_row *row, const char *v, size_t n)
{
    (void)row;
    for (size_t check = 9; check < 11; check++) {
        int sum = 0;
        for (size_t i = 0; i < check; i++)
            sum += digit_at(v, i) * (int)(check + 1 - i);
        if (sum * 10 % 11 % 10 != digit_at(v, check))
            return false;
    }
    return !is_monotone(v, n);
}

/* What is left of a decimal number. */
static int64_t modulo(const char *v, size_t n, int64_t m)
{
    int64_t rest = 0;
    for (size_t i = 0; i < n; i++)
        rest = (rest * 10 + digit_at(v, i)) % m;
    return rest;
}

/* France: sex, year, month, and a key of two digits. */
static bool fits_insee(const struct number_row *row, const char *v, size_t n)
{
    int64_t month = modulo(v + 3, 2, 100);
    (void)row;
    return n == 15 && (v[0] == '1' || v[0] == '2') && month >= 1 && month <= 12 &&
           97 - modulo(v, 13, 97) == modulo(v + 13, 2, 100);
}

/* Belgium: born in this century with a 2 in front. */
static bool fits_belgian(const struct number_row *row, const char *v, size_t n)
{
    int64_t check = modulo(v + 9, 2, 100), rest = modulo(v, 9, 97);
    (void)row;
    return n == 11 && (97 - rest == check || 97 - (rest + 2000000000 % 97) % 97 == check);
}

/* China: ISO 7064 mod 11-2; a birthday stands in the middle. */
static bool fits_chinese(const struct number_row *row, const char *v, size_t n)
{
    int rest = 0;
    int64_t year = modulo(v + 6, 4, 10000), month = modulo(v + 10, 2, 100);
    (void)row;
    for (size_t i = 0; i + 1 < n; i++)
        rest = (rest + digit_at(v, i)) * 2 % 11;
    int last = v[n - 1] == 'X' ? 10 : digit_at(v, n - 1);
    return year > 1900 && year < 2100 && month >= 1 && month <= 12 && (rest + last) % 11 == 1;
}

/* Spain: a letter by the number modulo 23; for foreigners X, Y or Z stands for the first digit. */
static bool fits_dni(const struct number_row *row, const char *v, size_t n)
{
    char digits[8];
    (void)row;
    memcpy(digits, v, sizeof digits);
    if (v[0] > '9' && (v[0] < 'X' || v[0] > 'Z'))
        return false;
    if (v[0] > '9')
        digits[0] = (char)(v[0] - 'X' + '0');
    return v[n - 1] == "TRWAGMYFPDXBNJZSQVHLCKE"[modulo(digits, 8, 23)];
}

/* ISO 7064 mod 97-10 over the number with its first four characters at the end. */
static bool fits_iban(const struct number_row *row, const char *v, size_t n)
{
    int rest = 0;
    (void)row;
    for (size_t i = 0; i < n; i++) {
        char c = v[(i + 4) % n];
        rest = c > '9' ? (rest * 100 + (c - 'A' + 10)) % 97 : (rest * 10 + (c - '0')) % 97;
    }
    return rest == 1;
}

/* Italy: the values of the characters at odd places are a table of their own. */
static bool fits_codice(const struct number_row *row, const char *v, size_t n)
{
    static const unsigned char odd[26] = {1,  0,  5, 7, 9, 13, 15, 17, 19, 21, 2,  4,  18,
                                          20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23};
    int sum = 0;
    (void)row;
    for (size_t i = 0; i + 1 < n; i++) {
        int c = v[i] > '9' ? v[i] - 'A' : digit_at(v, i);
        sum += i % 2 ? c : odd[c];
    }
    return v[n - 1] == 'A' + sum % 26;
}

/* The Netherlands: the test of eleven; the first of nine digits may be left out. */
static bool fits_bsn(const struct number_row *row, const char *v, size_t n)
{
    int sum = -digit_at(v, n - 1);
    (void)row;
    for (size_t i = 0; i + 1 < n; i++)
        sum += digit_at(v, i) * (int)(n - i);
    return sum % 11 == 0 && !is_monotone(v, n);
}

/* Germany: ISO 7064 mod 11,10. */
static bool fits_steuer_id(const struct number_row *row, const char *v, size_t n)
{
    int product = 10;
    (void)row;
    for (size_t i = 0; i + 1 < n; i++) {
        int sum = (digit_at(v, i) + product) % 10;
        product = (sum ? sum : 10) * 2 % 11;
    }
    return v[0] != '0' && (11 - product) % 10 == digit_at(v, n - 1);
}

/* Turkey: the tenth digit by the nine, the eleventh by the ten. */
static bool fits_kimlik(const struct number_row *row, const char *v, size_t n)
{
    int odd = 0, even = 0, all = 0;
    (void)row;
    for (size_t i = 0; i < 9; i++)
        *(i % 2 ? &even : &odd) += digit_at(v, i);
    for (size_t i = 0; i < 10; i++)
        all += digit_at(v, i);
    return n == 11 && v[0] != '0' && (odd * 7 - even + 100) % 10 == digit_at(v, 9) &&
           all % 10 == digit_at(v, 10);
}

/* India: Verhoeff, in the group of the symmetries of a pentagon. */
static bool fits_verhoeff(const struct number_row *row, const char *v, size_t n)
{
    static const unsigned char turns[10] = {1, 5, 7, 6, 2, 8, 3, 0, 9, 4};
    int c = 0;
    (void)row;
    for (size_t i = 0; i < n; i++) {
        int d = digit_at(v, n - 1 - i);
        for (size_t k = 0; k < i % 8; k++)
            d = turns[d];
        bool c_turns = c < 5, d_turns = d < 5;
        int sum = c_turns ? c % 5 + d % 5 : c % 5 - d % 5 + 5;
        c = sum % 5 + (c_turns == d_turns ? 0 : 5);
    }
    return c == 0;
}

static const struct number_row rows[SECRET_NUMBERS] = {
#define NUMBER(NAME, ...) {__VA_ARGS__},
#include "engine/extract/secret_numbers.def"
};

/* --- finding --- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_word_char(char c)
{
    return is_digit(c) || is_upper(c) || (c >= 'a' && c <= 'z');
}

/* A number without its gaps; a gap is one blank, dot, hyphen or slash between two of it. */
struct number {
    char v[NUMBER_MAX + 1];
    size_t ends[NUMBER_MAX], n; /* where each character ends in the text */
    bool is_digits, is_whole;   /* no letter or digit follows */
};

static void number_read(str text, size_t at, bool letters, struct number *out)
{
    size_t i = at;
    *out = (struct number){.is_digits = true};
    for (; i < text.n && out->n < NUMBER_MAX; i++) {
        char c = text.p[i];
        bool is_part = is_digit(c) || (letters && is_upper(c));
        bool is_gap = out->n && char_is_one_of(c, " .-/") && i + 1 < text.n &&
                      (is_digit(text.p[i + 1]) || (letters && is_upper(text.p[i + 1])));
        if (!is_part && !is_gap)
            break;
        if (is_part) {
            out->is_digits &= is_digit(c);
            out->v[out->n] = c;
            out->ends[out->n++] = i + 1;
        }
    }
    out->is_whole = i == text.n || !is_word_char(text.p[i]);
}

static bool has_form(const struct number_row *row, const char *v, size_t n)
{
    if (n < row->least || n > row->most)
        return false;
    for (size_t i = 0; i < n; i++) {
        char form = i < strlen(row->form) ? row->form[i] : row->form[strlen(row->form) - 1];
        bool is_right = form == '9'   ? is_digit(v[i])
                        : form == 'A' ? is_upper(v[i])
                        : form == 'X' ? is_digit(v[i]) || is_upper(v[i])
                                      : v[i] == form;
        if (!is_right)
            return false;
    }
    return true;
}

/* Of an IBAN the longest prefix that fits counts, as words may follow it; of others the whole. */
static size_t fitting_end(const struct number *x, enum secret_number which)
{
    const struct number_row *row = &rows[which];
    bool may_go_on = row->least < row->most && !x->is_digits;
    for (size_t n = x->n; n >= row->least; n--) {
        bool ends = n == x->n ? x->is_whole : may_go_on;
        if (ends && has_form(row, x->v, n) && row->fits(row, x->v, n))
            return x->ends[n - 1];
        if (!may_go_on)
            break;
    }
    return 0;
}

size_t secret_number_end(str text, size_t at)
{
    struct number x;
    size_t end = 0;
    if (!is_digit(text.p[at]) && !is_upper(text.p[at]))
        return 0;
    for (int letters = !is_digit(text.p[at]); letters < 2 && !end; letters++) {
        number_read(text, at, letters, &x);
        for (int i = 0; i < SECRET_NUMBERS && !end && x.n >= 9; i++)
            end = rows[i].is_named ? 0 : fitting_end(&x, (enum secret_number)i);
    }
    return end;
}

size_t secret_number_named(str text, size_t at, enum secret_number which, size_t *from)
{
    struct number x;
    size_t last = at + NAME_REACH < text.n ? at + NAME_REACH : text.n, end = 0;
    for (size_t i = at; i < last && !end; i++) {
        if (i && is_word_char(text.p[i - 1]))
            continue;
        for (int letters = 0; letters < 2 && !end; letters++) {
            number_read(text, i, letters, &x);
            end = x.n ? fitting_end(&x, which) : 0;
        }
        *from = i;
    }
    return end;
}
