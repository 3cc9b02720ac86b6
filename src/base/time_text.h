/* time_text.h - times as people and programs write them. */
#pragma once

#include <stdint.h>

#include "base/str.h"

/*
 * ISO 8601 / RFC 3339: a date, or date and time with T or space, seconds and fraction optional, Z
 * or ±hh:mm or nothing (UTC). Also LoCoMo's "1:56 pm on 8 May, 2023". False when it is none of
 * these or no real date.
 */
bool time_read(str text, int64_t *ms);
