/* bytes.h - classes of bytes: digits, letters of ASCII, and those of other scripts. */
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

static inline bool is_word(char c)
{
    return is_letter(c) || is_digit(c);
}

static inline bool is_ascii_word(char c)
{
    return is_upper(c) || is_lower(c) || is_digit(c);
}

/* ASCII alone. */
static inline char lower_of(char c)
{
    return is_upper(c) ? (char)(c + 'a' - 'A') : c;
}
