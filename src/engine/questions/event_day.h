/* event_day.h - the day that a statement gives to an event. */
#pragma once

#include "engine/questions/time_phrase.h"

/*
 * Whether a statement of `said` (unix ms) speaks of the event, which it does if it holds each of
 * its telling words. *day is the day that it names in the same sentence ("The wedding is on 13
 * June"), or said itself where it names none; is_named tells which.
 */
struct event_day {
    int64_t day;
    bool is_named;
};
bool event_day_of(struct arena *a, str event, str statement, int64_t said, struct event_day *out);

/* "my birthday" comes every year: the latest one counts. */
bool event_is_yearly(struct arena *a, str event);
