/* time_point.h - inside this room: the words of times, and the points that they name. */
#pragma once

#include <time.h>

#include "engine/questions/time_phrase.h"

/* The calendar's day that t (time_local) lies in. */
struct tm calendar_day(int64_t t);
/* The start of the day (d), week (w; its Monday), month (m) or year (y) that t lies in, moved by so
 * many of them. */
int64_t calendar_start(int64_t t, char unit, int moved);
/* The whole of such a unit; also of a weekend (e), which begins on its Saturday, and a night (n),
 * which is still that night on the next morning. */
struct time_span calendar_unit(int64_t t, char unit, int moved);
/* How many days lie between one such unit and the next, at most. */
int time_days(char unit);

/* Words of a text that are looked at. */
enum { TIME_WORDS_MAX = 400 };

/* What a word can be in a time; data/lang lists them. */
enum time_word {
    TIME_MONTH = 1 << 0,
    TIME_WEEKDAY = 1 << 1,
    TIME_SEASON = 1 << 2,
    TIME_UNIT = 1 << 3,
    TIME_COUNT = 1 << 4,
    TIME_LAST = 1 << 5,
    TIME_THIS = 1 << 6,
    TIME_NEXT = 1 << 7,
    TIME_DAY = 1 << 8,
    TIME_AGO = 1 << 9,
    TIME_AGO_IN_FRONT = 1 << 10, /* "vor zwei Wochen" */
    TIME_IN = 1 << 11,
    TIME_OF = 1 << 12,
    TIME_ARTICLE = 1 << 13,
    TIME_SINCE = 1 << 14,
    TIME_BEFORE = 1 << 15,
    TIME_AFTER = 1 << 16,
    TIME_BETWEEN = 1 << 17,
    TIME_FROM = 1 << 18,
    TIME_TO = 1 << 19,
    TIME_AND = 1 << 20,
    TIME_PART = 1 << 21,
    TIME_FEAST = 1 << 22,
    TIME_BACK = 1 << 23,  /* shows that a question looks back */
    TIME_YEAR = 1 << 24,  /* "im Jahr 2023" */
    TIME_UNSURE = 1 << 25 /* is a name or another word, too */
};

struct time_row {
    str word;
    uint32_t is;
    int value;
};

struct reader {
    const struct words *w;
    str text;
    int64_t now;
    bool looks_back;
    uint32_t joint;                            /* of the range that is read: "to", "and" */
    const struct time_row *of[TIME_WORDS_MAX]; /* of each word; never NULL */
    size_t n;
};

/* What a point is told by: a calendar's day, month, season, feast or year; else its span. */
enum point_kind { POINT_SPAN, POINT_DAY, POINT_MONTH, POINT_SEASON, POINT_FEAST, POINT_YEAR };

struct point {
    enum point_kind kind;
    int year, month, day; /* year 0: it names none; of a season its number in month */
    struct time_span span;
    size_t next; /* the first word behind it */
    bool is_relative;
};

/* Looks up the words of the text. */
void reader_open(struct reader *r);
/* Whether a word can be one of these. */
bool time_is(const struct reader *r, size_t i, uint32_t kinds);
int time_value(const struct reader *r, size_t i);
/* "2023" as a year, "8th" as a day of a month; 0: it is none. */
int time_year(const struct reader *r, size_t i);
int time_month_day(const struct reader *r, size_t i);
/* "two", "3", "a couple of", "a few"; 0: no count. *next is behind it. */
int time_count(const struct reader *r, size_t i, size_t *next);

/* A point that begins at this word: behind an article, also a part of one ("the end of July"); a
 * part of one; one that is no part; a distance from now ("two weeks ago"). */
bool point_read(const struct reader *r, size_t i, struct point *out);
bool point_part(const struct reader *r, size_t i, struct point *out);
bool point_plain(const struct reader *r, size_t i, struct point *out);
bool point_distance(const struct reader *r, size_t i, struct point *out);
/* A point without a year is the latest that has begun, or (is_over) ended. */
struct time_span point_span(const struct reader *r, const struct point *p, bool is_over);
