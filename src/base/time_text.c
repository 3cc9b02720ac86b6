/* time_text.c - reading and writing dates. */
#include "base/time_text.h"

#include <time.h>

/* Read are also forms that clients send: a comma before the fraction, an offset without colon.
 * Digits after the milliseconds are ignored, and a leap second (:60) is the first one of the next
 * minute. */

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

int64_t time_not_none(int64_t ms)
{
    return ms ? ms : 1;
}

/* Rounded down, also before 1970, so that the milliseconds behind them are never negative. */
static time_t seconds_of(int64_t ms)
{
    return (time_t)(ms / 1000 - (ms % 1000 < 0));
}

int64_t time_local(int64_t ms)
{
    struct tm t = {0};
    time_t seconds = seconds_of(ms);
    (void)localtime_r(&seconds, &t);
    return ms ? time_not_none(ms + (int64_t)t.tm_gmtoff * 1000) : 0;
}

/* The guess is right but for the hours around a change of the clocks. */
int64_t time_of_local(int64_t local)
{
    int64_t guess = 2 * local - time_local(local);
    return local - (time_local(guess) - guess);
}

/* timegm turns 31 February into 3 March; a day that it changed does not exist. An offset may lead
 * out of the years that have a form in ISO 8601. */
bool time_read(str text, int64_t *out)
{
    str s = str_trim(text);
    int64_t at, zone = 0;
    int year, month, day, h = 0, m = 0, sec = 0, ms = 0;
    if (!take_number(&s, 4, 4, &year) || !take_one(&s, "-") || !take_number(&s, 2, 2, &month) ||
        !take_one(&s, "-") || !take_number(&s, 2, 2, &day))
        return false;
    bool is_day = s.n == 0;
    if (!is_day) {
        if (!take_one(&s, "Tt ") || !take_number(&s, 2, 2, &h) || !take_one(&s, ":") ||
            !take_number(&s, 2, 2, &m))
            return false;
        if (take_one(&s, ":") && !take_number(&s, 2, 2, &sec))
            return false;
        if (take_one(&s, ".,"))
            for (int scale = 100; s.n && s.p[0] >= '0' && s.p[0] <= '9';
                 scale /= 10, s = str_sub(s, 1, s.n))
                ms += (s.p[0] - '0') * scale;
        if (!read_zone(&s, &zone))
            return false;
    }
    struct tm t = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
    at = ((int64_t)timegm(&t) + h * 3600 + m * 60 + sec - zone) * 1000 + ms;
    at = time_not_none(is_day ? time_of_local(at) : at);
    if (h > 23 || m > 59 || sec > 60 || t.tm_mday != day || t.tm_mon != month - 1 ||
        at < TIME_EARLIEST_MS || at > TIME_LATEST_MS)
        return false;
    *out = at;
    return true;
}

/* The year 1, which is the zero time of some clients, has four digits, too. */
void time_iso(int64_t ms, char out[TIME_ISO_ROOM])
{
    struct tm t;
    time_t seconds = seconds_of(ms);
    *out = 0;
    if (ms < TIME_EARLIEST_MS || ms > TIME_LATEST_MS || !gmtime_r(&seconds, &t))
        return;
    size_t n = strftime(out, TIME_ISO_ROOM, "%04Y-%m-%dT%H:%M:%S", &t);
    snprintf(out + n, TIME_ISO_ROOM - n, ".%03dZ", (int)(ms - seconds * 1000));
}

str time_utc(struct arena *a, int64_t ms, const char *format)
{
    char text[64];
    struct tm t;
    time_t seconds = seconds_of(ms);
    if (!ms || !gmtime_r(&seconds, &t))
        return S("");
    return str_dup(a, (str){text, strftime(text, sizeof text, format, &t)});
}

str time_write(struct arena *a, int64_t ms, const char *format)
{
    return time_utc(a, time_local(ms), format);
}
