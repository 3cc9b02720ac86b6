/* time_phrase.h - the times that a question names: "last May", "two weeks ago", "since March". */
#pragma once

#include "words/words.h"

/* As time_local gives times; `to` is the first moment behind it. */
struct time_span {
    int64_t from, to;
};

/* A stretch of time, or months of one year or of any. */
struct time_phrase {
    size_t at, end; /* the words it stands in */
    struct time_span span;
    uint32_t months;  /* 0: the span; else these (bit 0 is January) … */
    int year;         /* … of this year; 0: of any */
    bool is_relative; /* texts of that time name it by other words */
};

enum { TIME_PHRASES_MAX = 4 };

struct times {
    struct time_phrase v[TIME_PHRASES_MAX];
    size_t n;
};

/* w are the words of text, a question. `now` (time_local) is when it is asked. A question looks
 * back: "last May" and "on Friday" are the latest. */
struct times times_of(const struct words *w, str text, int64_t now);

/* Whether t (time_local) lies in it. */
bool time_phrase_has(const struct time_phrase *p, int64_t t);

/* "last", "ago", "week", "yesterday": a word that says only how far away a time is. */
bool time_word_is_bare(str word);
