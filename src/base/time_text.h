/* time_text.h - times as people and programs write them. */
#pragma once

#include "base/str.h"

/*
 * ISO 8601 / RFC 3339: a date, or date and time with T or space, seconds and fraction optional, Z
 * or ±hh:mm or nothing (UTC). False for another form, and for a day that no calendar has.
 */
bool time_read(str text, int64_t *ms);

/* 2026-11-20T05:39:00.123Z; "" for a year that has no such form. */
enum { TIME_ISO_ROOM = 40 };
void time_iso(int64_t ms, char out[TIME_ISO_ROOM]);

/* The time in UTC as strftime words it, in the arena; "" for 0, which is no time, and for a year
 * that no calendar has. */
str time_write(struct arena *a, int64_t ms, const char *format);
