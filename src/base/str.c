/* str.c - reading, cutting and comparing text. */
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>

/* The process never calls setlocale, so strtod always reads a decimal point. */

bool str_eq_nocase(str a, str b)
{
    return a.n == b.n && EVERY(i, a.n, ascii_lower(a.p[i]) == ascii_lower(b.p[i]));
}

bool str_is_one_of(str s, const char *const *list)
{
    char first = s.n ? ascii_lower(s.p[0]) : 0;
    for (; *list; list++)
        if (ascii_lower((*list)[0]) == first && str_eq_nocase(s, str_of(*list)))
            return true;
    return false;
}

int name_index(const char *const *names, str name, int otherwise)
{
    for (int i = 0; names[i]; i++)
        if (str_is(name, names[i]))
            return i;
    return otherwise;
}

bool str_starts(str s, str with)
{
    return s.n >= with.n && (with.n == 0 || memcmp(s.p, with.p, with.n) == 0);
}

bool str_ends(str s, str with)
{
    return s.n >= with.n && (with.n == 0 || memcmp(s.p + s.n - with.n, with.p, with.n) == 0);
}

int str_cmp(str a, str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    return c ? c : (a.n > b.n) - (a.n < b.n);
}

size_t str_find(str s, str needle)
{
    if (needle.n == 0)
        return 0;
    if (needle.n > s.n)
        return s.n;
    const char *at = memmem(s.p, s.n, needle.p, needle.n);
    return at ? (size_t)(at - s.p) : s.n;
}

size_t str_behind_last(str s, char c)
{
    const char *at = s.n ? memrchr(s.p, c, s.n) : NULL;
    return at ? (size_t)(at - s.p) + 1 : 0;
}

bool str_has_digit(str s)
{
    return SOME(i, s.n, s.p[i] >= '0' && s.p[i] <= '9');
}

size_t control_bytes(str s, size_t at)
{
    unsigned char c = (unsigned char)s.p[at];
    unsigned char next = at + 1 < s.n ? (unsigned char)s.p[at + 1] : 0;
    return c == 0xC2 && next >= 0x80 && next < 0xA0 ? 2 : c < ' ' || c == 0x7F;
}

str str_trim(str s)
{
    while (s.n && char_is_space(s.p[0]))
        s = str_sub(s, 1, s.n);
    while (s.n && char_is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

str str_trim_end(str s, const char *set)
{
    while (s.n && char_is_one_of(s.p[s.n - 1], set))
        s.n--;
    return s;
}

/* Without c the rest is empty and points behind the text: "a," and "a" leave the same rest. */
str str_cut(str *rest, char c)
{
    const char *at = rest->n ? memchr(rest->p, c, rest->n) : NULL;
    str head = *rest;
    if (!at) {
        *rest = (str){rest->n ? rest->p + rest->n : rest->p, 0};
        return head;
    }
    head.n = (size_t)(at - rest->p);
    *rest = str_sub(*rest, head.n + 1, rest->n);
    return head;
}

str str_dup(struct arena *a, str s)
{
    return (str){arena_dup(a, s.p, s.n, s.n + 1), s.n};
}

void strs_dup(struct arena *a, str *const *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *v[i] = str_dup(a, *v[i]);
}

const char *str_c(struct arena *a, str s)
{
    return str_dup(a, s).p;
}

str str_lower(struct arena *a, str s)
{
    char *p = arena_alloc(a, s.n + 1);
    for (size_t i = 0; i < s.n; i++)
        p[i] = ascii_lower(s.p[i]);
    return (str){p, s.n};
}

str str_printf(struct arena *a, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    size_t len = n > 0 ? (size_t)n : 0;
    char *p = arena_alloc(a, len + 1);
    vsnprintf(p, len + 1, fmt, again);
    va_end(again);
    return (str){p, len};
}

/* strtoll would also take leading white space and "+", which JSON and our settings do not allow:
 * the first character is checked before. 24 bytes hold every 64-bit number with its sign. */
bool str_int(str s, int64_t *out)
{
    char c[24], *end;
    if (s.n == 0 || s.n >= sizeof c || !(isdigit((unsigned char)s.p[0]) || s.p[0] == '-'))
        return false;
    memcpy(c, s.p, s.n);
    c[s.n] = 0;
    errno = 0;
    long long v = strtoll(c, &end, 10);
    if (errno || end != c + s.n || (c[0] == '-' && s.n == 1))
        return false;
    *out = v;
    return true;
}

/* strtod would also take hexadecimal numbers, "inf" and "nan", hence the check of every character.
 * 320 bytes hold the largest double written out (309 digits). */
bool str_num(str s, double *out)
{
    char c[320], *end;
    if (s.n == 0 || s.n >= sizeof c || !(isdigit((unsigned char)s.p[0]) || s.p[0] == '-') ||
        !EVERY(i, s.n, char_is_one_of(s.p[i], "0123456789+-.eE")))
        return false;
    memcpy(c, s.p, s.n);
    c[s.n] = 0;
    double v = strtod(c, &end);
    if (end != c + s.n || !isfinite(v))
        return false;
    *out = v;
    return true;
}

/* The offset basis and the prime that FNV-1a defines for 64 bits. */
uint64_t str_hash(str s)
{
    return str_hash_on(14695981039346656037u, s);
}

uint64_t str_hash_on(uint64_t h, str s)
{
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * 1099511628211u;
    return h;
}
