/* time_phrase.h - the times that a text names: "last May", "two weeks ago", "since March". */
#pragma once

#include "engine/questions/calendar.h"
#include "words/words.h"

/* A stretch of time, or months of one year or of any. */
struct time_phrase {
    size_t at, end; /* the words it stands in */
    struct time_span span;
    uint32_t months;  /* 0: the span; else these (bit 0 is January) … */
    int year;         /* … of this year; 0: of any */
    bool is_relative; /* texts of that time name it by other words */
};

/* The side of an event that a question speaks of. */
enum event_side { EVENT_NONE, EVENT_AT, EVENT_BEFORE, EVENT_AFTER };

/* "the week before the wedding": the event has a date that is to be looked up. */
struct event_time {
    enum event_side side;
    char unit; /* d, n (night), e (weekend), w, m, y; 0: all the time on that side */
    int count; /* of them, "two weeks before"; 0: the next one, "the week before" */
    str event; /* what the text calls it: "wedding", "I moved to Berlin" */
};

enum { TIME_PHRASES_MAX = 4 };

struct times {
    struct time_phrase v[TIME_PHRASES_MAX];
    size_t n;
    struct event_time event; /* side EVENT_NONE: it names none */
};

/* A question looks back: "last May" and "on Friday" are the latest. A statement may look ahead, and
 * names the nearest. */
enum time_reading { TIMES_OF_QUESTION, TIMES_OF_STATEMENT };

/* w are the words of text. `now` (unix ms) is when it was said. UTC. */
struct times times_of(const struct words *w, str text, int64_t now, enum time_reading how);

/* Whether t lies in it. */
bool time_phrase_has(const struct time_phrase *p, int64_t t);

/* The time that an event_time means once the event's day is known. */
struct time_span event_span(const struct event_time *e, int64_t day, int64_t now);

/* The latest day with the month and day of `day` that is not after `now`: "on my birthday". */
int64_t time_last_anniversary(int64_t day, int64_t now);

/* "last", "ago", "week", "yesterday": a word that says only how far away a time is. */
bool time_word_is_bare(str word);
