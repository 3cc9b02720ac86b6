/* utf8.h - checking, cutting and counting UTF-8. */
#pragma once

#include "base/buf.h"

/* Valid UTF-8 throughout (no surrogates, nothing over U+10FFFF, shortest form). */
bool utf8_is_valid(str s);
/* Unicode's letters with their marks, and its numbers. */
bool utf8_is_letter(int32_t c);
bool utf8_is_digit(int32_t c);
/* The character at i and its bytes; an invalid byte is one character, -1. */
int32_t utf8_at_wide(str s, size_t i, size_t *n);
static inline int32_t utf8_at(str s, size_t i, size_t *n)
{
    *n = 1;
    return (unsigned char)s.p[i] < 0x80 ? s.p[i] : utf8_at_wide(s, i, n);
}
/* Appends a character. */
void utf8_add(struct buf *b, int32_t c);
bool utf8_is_ascii(str s);
/* How many characters: every byte but those that continue one. */
size_t utf8_length(str s);
/* The longest prefix of at most n bytes that does not cut a character. */
str utf8_cut(str s, size_t n);
/* The text itself when it has at most 2 · each bytes; else that many of its front and of its end,
 * cut at characters, with "…" on a line between them. */
str utf8_ends(struct arena *a, str s, size_t each);
/* Lower case, character by character; invalid bytes are kept. */
str utf8_lower(struct arena *a, str s);
/* The length in UTF-16 units, as JavaScript counts. */
size_t utf16_length(str s);
