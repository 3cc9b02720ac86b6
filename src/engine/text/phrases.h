/* phrases.h - finding a phrase of several words in a text. */
#pragma once

#include "base/str.h"

/* A phrase is words that must stand next to each other: a|b is either, ?a may be missing, * is any
 * word, . is the end of a sentence, # a date in digits, @month and @weekday any of these. ^ at the
 * front: the text must begin so. */

struct phrase_word {
    str text;
    size_t from; /* its place in the text */
};

/* A text's words, and "." for the end of a sentence. */
struct phrase_words {
    struct phrase_word *v;
    size_t n, cap;
    str text;
};

/* In lower case, with plain apostrophes and without "¿" and "¡", as phrases are written. */
str phrase_fold(struct arena *a, str text);

/* Of a folded text; the first 2,000 words count. */
struct phrase_words phrase_words_of(struct arena *a, str text);

/* The first phrase of a column of a static table, from that row on, that stands in the text: its
 * row, or -1. The phrases, each `size` bytes behind the one before, end with NULL. *out (or NULL)
 * is the part of the text that matched. All phrases are looked for in one pass over the words. */
int phrase_next(const struct phrase_words *t, const char *const *column, size_t size, int from,
                str *out);

/* Whether one of a static, NULL-ended list stands in the text. */
bool phrase_find_any(const struct phrase_words *t, const char *const *phrases);

/* Whether a byte is part of a word here. */
bool phrase_has_byte(char c);
