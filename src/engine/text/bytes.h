/* bytes.h - classes of bytes, and plain questions about the bytes of a text. */
#pragma once

#include "base/str.h"

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* Letters of other scripts count as letters of small case. */
static inline bool is_letter(char c)
{
    return is_upper(c) || is_lower(c) || (unsigned char)c >= 0x80;
}

static inline bool in_word(char c)
{
    return is_letter(c) || is_digit(c);
}

static inline bool is_ascii_word(char c)
{
    return is_upper(c) || is_lower(c) || is_digit(c);
}

/* The next word from *at on, by in_word; "" at the end. */
static inline str next_word(str text, size_t *at)
{
    while (*at < text.n && !in_word(text.p[*at]))
        ++*at;
    size_t from = *at;
    while (*at < text.n && in_word(text.p[*at]))
        ++*at;
    return str_sub(text, from, *at);
}

static inline bool text_holds(str text, const char *part)
{
    return str_find(text, str_of(part)) < text.n;
}

/* One of a NULL-ended list. */
static inline bool text_holds_any(str text, const char *const *list)
{
    while (*list && !text_holds(text, *list))
        list++;
    return *list;
}
/* The bytes of one of a NULL-ended list that the text begins with; 0: it begins with none. */
static inline size_t text_starts_with_any(str text, const char *const *list)
{
    while (*list && !str_starts(text, str_of(*list)))
        list++;
    return *list ? strlen(*list) : 0;
}

/* Where the line ends, behind its line break. */
static inline size_t next_line(str text, size_t at)
{
    size_t to = at + str_find(str_sub(text, at, text.n), S("\n"));
    return to < text.n ? to + 1 : text.n;
}

/* Whatever the case of ASCII letters. */
static inline bool text_starts_nocase(str text, str with)
{
    return text.n >= with.n && str_eq_nocase(str_sub(text, 0, with.n), with);
}

/* Cuts that off the front, in any case (ASCII); false where it does not stand there. */
static inline bool text_cut_front(str *text, str with)
{
    if (!text_starts_nocase(*text, with))
        return false;
    *text = str_sub(*text, with.n, text->n);
    return true;
}
