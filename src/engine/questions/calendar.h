/* calendar.h - days, weeks, months and years as stretches of time, in UTC. */
#pragma once

#include <stdint.h>
#include <time.h>

/* Unix ms; `to` is the first moment behind it. */
struct time_span {
    int64_t from, to;
};

/* The calendar's day that t (unix ms) lies in. */
struct tm calendar_day(int64_t t);
/* The start of a day; month counts from 0. Days and months beyond their ends go on in the next
 * month or year. */
int64_t calendar_ms(int year, int month, int day);

/* The start of the day (d), week (w; its Monday), month (m) or year (y) that t lies in, moved by so
 * many of them. */
int64_t calendar_start(int64_t t, char unit, int moved);
/* The whole of it; also of a weekend (e), which begins on its Saturday, and a night (n), which is
 * still that night on the next morning. */
struct time_span calendar_unit(int64_t t, char unit, int moved);
/* The weekday (0: Monday) next before today (moved -1) or behind it (1). */
struct time_span calendar_weekday(int64_t now, int weekday, int moved);
