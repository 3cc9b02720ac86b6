/* time_text.h - times as people and programs write them. */
#pragma once

#include <stdint.h>

#include "base/str.h"

/*
 * ISO 8601 / RFC 3339: a date, or date and time with T or space, seconds and fraction optional, Z
 * or ±hh:mm or nothing (UTC). False for another form, and for a day that no calendar has.
 */
bool time_read(str text, int64_t *ms);
