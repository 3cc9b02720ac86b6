/* visible_line.c - a text as one visible line that can hold no mark of a block. */
#include <utf8proc.h>

#include "engine/text/block_strip.h"

/*
 * What is remembered goes into a block of lines, so a text must not be able to end its line, close
 * the block or hide words from the person who reads the receipt. Line breaks become blanks,
 * characters without width and marks of direction go, and a marker of a block loses its bracket.
 */

/* Letters that are drawn as nothing: the fillers of Hangul, the empty pattern of Braille. */
static bool is_empty_letter(int32_t c)
{
    return c == 0x115F || c == 0x1160 || c == 0x3164 || c == 0xFFA0 || c == 0x2800;
}

/* Controls, marks of direction and what has no width: they hide text from people. */
static bool is_hidden(int32_t c)
{
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CS:
        return true;
    default:
        return (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0xE0100 && c <= 0xE01EF);
    }
}

static bool is_blank(int32_t c)
{
    enum { NEXT_LINE = 0x85 };
    return c == ' ' || (c >= '\t' && c <= '\r') || c == NEXT_LINE || is_empty_letter(c) ||
           (c > 0x7F && (utf8proc_category(c) == UTF8PROC_CATEGORY_ZS ||
                         utf8proc_category(c) == UTF8PROC_CATEGORY_ZL ||
                         utf8proc_category(c) == UTF8PROC_CATEGORY_ZP));
}

/* Whether an opening or closing marker begins at from, with angles or brackets, blanks or not. */
static bool is_marker(str text, size_t from)
{
    str name = text.p[from] == '<' ? S("remembered") : text.p[from] == '[' ? S("memory") : S("");
    size_t at = from + 1;
    while (at < text.n && (text.p[at] == ' ' || text.p[at] == '/'))
        at++;
    return name.n && at + name.n <= text.n && str_eq_nocase(str_sub(text, at, at + name.n), name);
}

/* The first bracket of a marker becomes one that opens nothing. */
static str without_markers(struct arena *a, str text)
{
    struct buf b = buf_make(a, text.n * 3 + 1);
    for (size_t i = 0; i < text.n; i++) {
        if (!is_marker(text, i))
            buf_byte(&b, text.p[i]);
        else
            buf_add(&b, text.p[i] == '<' ? S("\xE2\x80\xB9") : S("("));
    }
    return buf_str(&b);
}

str engine_line(struct arena *a, str text, size_t most)
{
    struct buf b = buf_make(a, text.n * 3 + 8);
    bool blank = true;
    for (size_t i = 0; i < text.n;) {
        int32_t c;
        unsigned char bytes[4];
        utf8proc_ssize_t took =
            utf8proc_iterate((const uint8_t *)text.p + i, (utf8proc_ssize_t)(text.n - i), &c);
        i += took > 0 ? (size_t)took : 1;
        if (took > 0 && is_blank(c)) {
            if (!blank && most) {
                buf_byte(&b, ' ');
                most--;
            }
            blank = true;
            continue;
        }
        if (took <= 0 || is_hidden(c))
            continue;
        if (most-- == 0) {
            buf_add(&b, S("\xE2\x80\xA6"));
            break;
        }
        blank = false;
        buf_add(&b, (str){(char *)bytes, (size_t)utf8proc_encode_char(c, bytes)});
    }
    return without_markers(a, str_trim(buf_str(&b)));
}
