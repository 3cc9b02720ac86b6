/* phrases.h - finding a phrase of several words in a text. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/*
 * A phrase is words that must stand next to each other: a|b is either, ?a may be missing, * is any
 * word, . is the end of a sentence, # a date in digits, @month and @weekday any of these. ^ at the
 * front: the text must begin so.
 */

/* A text's words, each with its place, and "." for the end of a sentence. */
struct phrase_words {
    str *v;
    size_t *from, *to;
    size_t n, most;
    str text;
    uint32_t first[8]; /* bit b: a word begins with the byte b */
};

/* In lower case, with plain apostrophes and without "¿" and "¡", as phrases are written. */
str phrase_fold(struct arena *a, str text);

/* Of a folded text; the first 2,000 words count. */
struct phrase_words phrase_words_of(struct arena *a, str text);

/* Whether the phrase stands in the text; *out (or NULL) is the part of the text that matched. */
bool phrase_find(const struct phrase_words *t, const char *phrase, str *out);

/* The same for the first of a NULL-ended list that stands in the text. */
bool phrase_find_any(const struct phrase_words *t, const char *const *phrases, str *out);

/* Whether a byte is part of a word here. */
bool phrase_has_byte(char c);
