/* utf8.c - checking, cutting and counting UTF-8. */
#include "base/utf8.h"

#include <utf8proc.h>

bool utf8_is_valid(str s)
{
    for (size_t i = 0, n; i < s.n; i += n) {
        /* Eight ASCII bytes in one step: most text is ASCII, and every body passes through here. */
        uint64_t eight;
        n = sizeof eight;
        if (i + n <= s.n && (memcpy(&eight, s.p + i, n), (eight & 0x8080808080808080u) == 0))
            continue;
        if (utf8_at(s, i, &n) < 0)
            return false;
    }
    return true;
}

/* Goes back over bytes that continue a character; in valid UTF-8 those are three at most. */
str utf8_cut(str s, size_t n)
{
    if (s.n <= n)
        return s;
    while (n && ((unsigned char)s.p[n] & 0xC0) == 0x80)
        n--;
    return str_sub(s, 0, n);
}

str utf8_ends(struct arena *a, str s, size_t each)
{
    if (s.n <= 2 * each)
        return s;
    str front = utf8_cut(s, each);
    size_t from = s.n - each;
    while (from < s.n && ((unsigned char)s.p[from] & 0xC0) == 0x80)
        from++;
    return str_printf(a, S_FMT "\n…\n" S_FMT, S_ARG(front), S_ARG(str_sub(s, from, s.n)));
}

size_t utf8_length(str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
    return n;
}

/* A character of four bytes in UTF-8 is a surrogate pair. */
size_t utf16_length(str s)
{
    size_t units = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        units += ((c & 0xC0) != 0x80) + (c >= 0xF0);
    }
    return units;
}

/* Unicode's general categories are numbered by kind: Lu to Mc, then Me, then Nd to No. */
bool utf8_is_letter(int32_t c)
{
    utf8proc_category_t category = utf8proc_category(c);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_MC;
}

bool utf8_is_digit(int32_t c)
{
    utf8proc_category_t category = utf8proc_category(c);
    return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

int32_t utf8_at_wide(str s, size_t i, size_t *n)
{
    utf8proc_int32_t c;
    utf8proc_ssize_t got =
        utf8proc_iterate((const utf8proc_uint8_t *)s.p + i, (utf8proc_ssize_t)(s.n - i), &c);
    *n = got > 0 ? (size_t)got : 1;
    return got > 0 ? c : -1;
}

void utf8_add(struct buf *b, int32_t c)
{
    utf8proc_uint8_t bytes[4];
    buf_add(b, (str){(char *)bytes, (size_t)utf8proc_encode_char(c, bytes)});
}

bool utf8_is_ascii(str s)
{
    return EVERY(i, s.n, (unsigned char)s.p[i] < 0x80);
}

str utf8_lower(struct arena *a, str s)
{
    enum { LONGEST = 4 };
    if (utf8_is_ascii(s))
        return str_lower(a, s);
    /* The lower case of two bytes may have three. */
    str out = {arena_alloc(a, 2 * s.n + LONGEST), 0};
    utf8proc_uint8_t *to = (utf8proc_uint8_t *)out.p;
    for (size_t i = 0, n; i < s.n; i += n) {
        int32_t c = utf8_at(s, i, &n);
        if (c < 0)
            to[out.n++] = (utf8proc_uint8_t)s.p[i];
        else
            out.n += (size_t)utf8proc_encode_char(utf8proc_tolower(c), to + out.n);
    }
    return out;
}
