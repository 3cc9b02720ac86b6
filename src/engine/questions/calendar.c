/* calendar.c - days, weeks, months and years as stretches of time, in UTC. */
#include "engine/questions/calendar.h"

#include "base/clock.h"

struct tm calendar_day(int64_t t)
{
    struct tm day = {0};
    time_t seconds = (time_t)(t / 1000 - (t % 1000 < 0));
    (void)gmtime_r(&seconds, &day);
    return day;
}

int64_t calendar_ms(int year, int month, int day)
{
    struct tm t = {.tm_year = year - 1900, .tm_mon = month, .tm_mday = day};
    return (int64_t)timegm(&t) * 1000;
}

int64_t calendar_start(int64_t t, char unit, int moved)
{
    struct tm d = calendar_day(t);
    int year = d.tm_year + 1900;
    if (unit == 'd' || unit == 'n')
        return calendar_ms(year, d.tm_mon, d.tm_mday + moved);
    if (unit == 'w' || unit == 'e')
        return calendar_ms(year, d.tm_mon, d.tm_mday + 7 * moved - (d.tm_wday + 6) % 7);
    return unit == 'm' ? calendar_ms(year, d.tm_mon + moved, 1) : calendar_ms(year + moved, 0, 1);
}

struct time_span calendar_unit(int64_t t, char unit, int moved)
{
    struct time_span s = {calendar_start(t, unit, moved), calendar_start(t, unit, moved + 1)};
    if (unit == 'e')
        s.from += 5 * DAY_MS;
    if (unit == 'n')
        s.to += DAY_MS;
    return s;
}

struct time_span calendar_weekday(int64_t now, int weekday, int moved)
{
    int today = (calendar_day(now).tm_wday + 6) % 7, back = (today - weekday + 7) % 7;
    int days = moved < 0 ? -(back ? back : 7) : 7 - back;
    return calendar_unit(now, 'd', days);
}
