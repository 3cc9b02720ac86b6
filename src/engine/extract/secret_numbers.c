/* secret_numbers.c - numbers of persons and accounts, by their form and their check digits. */
#include "engine/extract/secret_shape.h"
#include "engine/extract/secret_values.h"

/*
 * Check digits are asked for where many other numbers have the form: of cards and IBAN. Others have
 * signs between their digits, or a birthday among them, or must stand beside their name.
 */

/* ISO/IEC 7812. */
static bool fits_luhn(str v)
{
    int sum = 0, digits = 0;
    for (size_t i = v.n; i-- > 0;) {
        if (!is_digit(v.p[i]))
            continue;
        int d = (v.p[i] - '0') * (digits++ % 2 ? 2 : 1);
        sum += d > 9 ? d - 9 : d;
    }
    return sum % 10 == 0;
}

/* The rest modulo 97 of a number, with one more character behind it: a letter is two digits. */
static int rest_with(int rest, char c)
{
    return is_digit(c) ? (rest * 10 + c - '0') % 97 : (rest * 100 + c - 'A' + 10) % 97;
}

/* ISO 13616, mod 97-10: the country and the check digits count behind all others. Of the beginnings
 * that fit the longest counts, since words in capitals may follow. */
static size_t iban_length(str v)
{
    enum { HEAD = 4 };
    size_t fits = 0;
    int rest = 0;
    for (size_t i = HEAD; i < v.n; i++) {
        if (!is_ascii_word(v.p[i]))
            continue;
        int whole = rest = rest_with(rest, v.p[i]);
        for (size_t k = 0; k < HEAD; k++)
            whole = rest_with(whole, v.p[k]);
        if (whole == 1 && (i + 1 == v.n || !is_ascii_word(v.p[i + 1])))
            fits = i + 1;
    }
    return fits;
}

/* All forms have so many digits at once, most words and numbers have not. */
static bool may_be_number(str text, size_t at)
{
    enum { NEAR = 12, DIGITS = 4 };
    size_t digits = 0;
    for (size_t i = at; i < text.n && i < at + NEAR; i++)
        digits += is_digit(text.p[i]);
    return digits >= DIGITS;
}

size_t secret_number_end(const struct secret_table *t, str text, size_t at)
{
    struct match m;
    bool begins = is_digit(text.p[at]) || is_upper(text.p[at]);
    if (!begins || !may_be_number(text, at) || !pattern_find(secret_numbers(t), text, at, &m))
        return 0;
    if (m.group[1].p)
        return fits_luhn(m.group[1]) ? m.to : 0;
    size_t n = m.group[2].p ? iban_length(m.group[2]) : m.to - at;
    return n ? at + n : 0;
}
