/* time_text.c - reading dates. */
#include "base/time_text.h"

#include <stdio.h>
#include <time.h>

static bool number(str *s, size_t least, size_t most, int *out)
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

static bool one(str *s, const char *of)
{
    if (!s->n || !strchr(of, s->p[0]))
        return false;
    *s = str_sub(*s, 1, s->n);
    return true;
}

static bool to_ms(int year, int month, int day, int64_t second, int ms, int64_t *out)
{
    struct tm t = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
    time_t days = timegm(&t);
    if (month < 1 || month > 12 || t.tm_mday != day || t.tm_mon != month - 1)
        return false;
    *out = ((int64_t)days + second) * 1000 + ms;
    return true;
}

static bool read_zone(str *s, int64_t *offset)
{
    int h, m = 0;
    *offset = 0;
    if (s->n == 0 || one(s, "zZ"))
        return s->n == 0;
    int sign = s->p[0] == '-' ? -1 : 1;
    if (!one(s, "+-") || !number(s, 2, 2, &h))
        return false;
    one(s, ":");
    if (s->n && !number(s, 2, 2, &m))
        return false;
    *offset = sign * (h * 3600 + m * 60);
    return s->n == 0 && h < 24 && m < 60;
}

static bool read_iso(str s, int64_t *out)
{
    int year, month, day, h = 0, m = 0, sec = 0, ms = 0;
    int64_t zone = 0;
    if (!number(&s, 4, 4, &year) || !one(&s, "-") || !number(&s, 2, 2, &month) || !one(&s, "-") ||
        !number(&s, 2, 2, &day))
        return false;
    if (s.n) {
        if (!one(&s, "Tt ") || !number(&s, 2, 2, &h) || !one(&s, ":") || !number(&s, 2, 2, &m))
            return false;
        if (one(&s, ":") && !number(&s, 2, 2, &sec))
            return false;
        if (one(&s, ".,")) {
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

static bool read_locomo(str s, int64_t *out)
{
    static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    int h, m, day, year, month = 0;
    char half, name[4] = "";
    char text[64];
    if (s.n >= sizeof text)
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    if (sscanf(text, "%2d:%2d %c%*1[mM] on %2d %3[A-Za-z]%*[a-z,] %4d", &h, &m, &half, &day, name,
               &year) != 6)
        return false;
    for (int i = 0; i < 12; i++)
        if (str_eq_nocase((str){months + i * 3, 3}, str_of(name)))
            month = i + 1;
    bool pm = half == 'p' || half == 'P';
    if (h < 1 || h > 12 || m > 59 || (!pm && half != 'a' && half != 'A'))
        return false;
    return to_ms(year, month, day, (int64_t)(h % 12 + (pm ? 12 : 0)) * 3600 + m * 60, 0, out);
}

bool time_read(str text, int64_t *ms)
{
    text = str_trim(text);
    return read_iso(text, ms) || read_locomo(text, ms);
}
