/* time_text.h - times as people and programs write them. */
#pragma once

#include "base/str.h"

/* The years 0000 to 9999, which have a form in ISO 8601. */
#define TIME_EARLIEST_MS (-62167219200000)
#define TIME_LATEST_MS 253402300799999

/*
 * ISO 8601 / RFC 3339: a date, which is the start of that day here (time_local), or date and time
 * with T or space, seconds and fraction optional, Z or ±hh:mm or nothing (UTC). False for another
 * form, for a day that no calendar has, and for a time in UTC outside of these years. Never 0.
 */
bool time_read(str text, int64_t *out);

/* 2026-11-20T05:39:00.123Z; "" for a year that has no such form. */
enum { TIME_ISO_ROOM = 40 };
void time_iso(int64_t ms, char out[TIME_ISO_ROOM]);

/* As if this machine's time zone (TZ) were UTC, so that days are those of people; and back. 0 stays
 * 0, which is no time. */
int64_t time_local(int64_t ms);
int64_t time_of_local(int64_t local);

/* 0 means "no time" in every struct and table: a time that someone named and that is 0 becomes the
 * next millisecond, so that "before 1970" never becomes "before no time", which is everything. */
int64_t time_not_none(int64_t ms);

/* The time as strftime words it, in this machine's zone or in UTC, in the arena; "" for 0, which is
 * no time, and for a year that no calendar has. */
str time_write(struct arena *a, int64_t ms, const char *format);
str time_utc(struct arena *a, int64_t ms, const char *format);
