/* time_text.c - reading and writing dates. */
#include "base/time_text.h"

#include <time.h>

/*
 * Reads the forms of ISO 8601 that RFC 3339 allows, and a few more that clients send: a date alone,
 * a space instead of T, no seconds, a comma before the fraction, an offset without colon. A time
 * without an offset is UTC. The result is unix time in ms; digits after the milliseconds are
 * ignored, and a leap second (:60) is the first second of the next minute.
 */

static bool take_number(str *s, size_t least, size_t most, int *out)
{
    size_t n = 0;
    int v = 0;
    while (n < s->n && n < most && s->p[n] >= '0' && s->p[n] <= '9')
        v = v * 10 + (s->p[n++] - '0');
    if (n < least)
        return false;
    *s = str_sub(*s, n, s->n);
    *out = v;
    return true;
}

static bool take_one(str *s, const char *of)
{
    if (!s->n || !char_is_one_of(s->p[0], of))
        return false;
    *s = str_sub(*s, 1, s->n);
    return true;
}

/* timegm turns 31 February into 3 March; a day that it changed does not exist. */
static bool to_ms(int year, int month, int day, int64_t second, int ms, int64_t *out)
{
    struct tm t = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
    time_t days = timegm(&t);
    if (month < 1 || month > 12 || t.tm_mday != day || t.tm_mon != month - 1)
        return false;
    *out = ((int64_t)days + second) * 1000 + ms;
    return true;
}

/* The offset is in seconds east of UTC. */
static bool read_zone(str *s, int64_t *offset)
{
    int h, m = 0;
    *offset = 0;
    if (s->n == 0 || take_one(s, "zZ"))
        return s->n == 0;
    int sign = s->p[0] == '-' ? -1 : 1;
    if (!take_one(s, "+-") || !take_number(s, 2, 2, &h))
        return false;
    take_one(s, ":");
    if (s->n && !take_number(s, 2, 2, &m))
        return false;
    *offset = sign * (h * 3600 + m * 60);
    return s->n == 0 && h < 24 && m < 60;
}

static bool read_iso(str s, int64_t *out)
{
    int year, month, day, h = 0, m = 0, sec = 0, ms = 0;
    int64_t zone = 0;
    if (!take_number(&s, 4, 4, &year) || !take_one(&s, "-") || !take_number(&s, 2, 2, &month) ||
        !take_one(&s, "-") || !take_number(&s, 2, 2, &day))
        return false;
    if (s.n) {
        if (!take_one(&s, "Tt ") || !take_number(&s, 2, 2, &h) || !take_one(&s, ":") ||
            !take_number(&s, 2, 2, &m))
            return false;
        if (take_one(&s, ":") && !take_number(&s, 2, 2, &sec))
            return false;
        if (take_one(&s, ".,")) {
            for (int scale = 100; s.n && s.p[0] >= '0' && s.p[0] <= '9';
                 scale /= 10, s = str_sub(s, 1, s.n))
                ms += (s.p[0] - '0') * scale;
        }
        if (!read_zone(&s, &zone))
            return false;
    }
    if (h > 23 || m > 59 || sec > 60)
        return false;
    return to_ms(year, month, day, (int64_t)h * 3600 + m * 60 + sec - zone, ms, out);
}

int64_t time_not_none(int64_t ms)
{
    return ms ? ms : 1;
}

/* An offset may lead out of the years that have a form in ISO 8601. */
bool time_read(str text, int64_t *ms)
{
    int64_t at;
    if (!read_iso(str_trim(text), &at) || at < TIME_EARLIEST_MS || at > TIME_LATEST_MS)
        return false;
    *ms = time_not_none(at);
    return true;
}

/* Seconds are rounded down, also before 1970, so that the milliseconds behind them are never
 * negative. False for a year that no calendar has. */
static bool read_clock(int64_t ms, struct tm *t, int *behind)
{
    time_t seconds = (time_t)(ms / 1000 - (ms % 1000 < 0));
    *behind = (int)((ms % 1000 + 1000) % 1000);
    return gmtime_r(&seconds, t) != NULL;
}

/* By hand: strftime writes the year 1, which is the zero time of some clients, with one digit. */
void time_iso(int64_t ms, char out[TIME_ISO_ROOM])
{
    enum { YEAR_0 = -1900, YEAR_9999 = 8099 }; /* as tm_year counts */
    struct tm t;
    int behind;
    bool has_form = read_clock(ms, &t, &behind) && t.tm_year >= YEAR_0 && t.tm_year <= YEAR_9999;
    *out = 0;
    if (has_form)
        snprintf(out, TIME_ISO_ROOM, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", t.tm_year - YEAR_0,
                 t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, behind);
}

str time_write(struct arena *a, int64_t ms, const char *format)
{
    char text[64];
    int behind;
    struct tm t;
    if (!ms || !read_clock(ms, &t, &behind))
        return S("");
    return str_dup(a, (str){text, strftime(text, sizeof text, format, &t)});
}
