/* time_text.h - times as people and programs write them. */
#pragma once

#include "base/str.h"

/* The years 0000 to 9999, which have a form in ISO 8601. */
#define TIME_EARLIEST_MS (-62167219200000)
#define TIME_LATEST_MS 253402300799999

/*
 * ISO 8601 / RFC 3339: a date, or date and time with T or space, seconds and fraction optional, Z
 * or ±hh:mm or nothing (UTC). False for another form, for a day that no calendar has, and for a
 * time in UTC outside of these years. The result is never 0.
 */
bool time_read(str text, int64_t *ms);

/* 2026-11-20T05:39:00.123Z; "" for a year that has no such form. */
enum { TIME_ISO_ROOM = 40 };
void time_iso(int64_t ms, char out[TIME_ISO_ROOM]);

/* 0 means "no time" in every struct and table: a time that someone named and that is 0 becomes the
 * next millisecond, so that "before 1970" never becomes "before no time", which is everything. */
int64_t time_not_none(int64_t ms);

/* The time in UTC as strftime words it, in the arena; "" for 0, which is no time, and for a year
 * that no calendar has. */
str time_write(struct arena *a, int64_t ms, const char *format);
