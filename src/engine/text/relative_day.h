/* relative_day.h - texts that name a day by its distance: "tomorrow", "letzte Woche", "ayer". */
#pragma once

#include "base/str.h"

/* The text, with the day on which it was said behind it when it names another one from there: "User
 * flies tomorrow (said 2026-03-05)". Unchanged where it holds a year or has no date (0). */
str text_with_day(struct arena *a, str text, int64_t said_ms);
