/* time_phrase.c - the times that a question names: "last May", "two weeks ago", "since March". */
#include "engine/questions/time_point.h"

#include "base/clock.h"

/* A phrase is a point (time_point.c), or one with a word that opens a stretch ("since March",
 * "between May and July"), or a stretch beside a point ("the week before 3 August"). */

/* --- phrases --- */

static const int64_t long_ago = INT64_MIN / 2;

/* "between May and July 2023": the year counts for both. */
static bool read_range(struct reader *r, size_t i, uint32_t joint, struct time_phrase *out)
{
    struct point first, last;
    r->joint = joint;
    bool is_range = point_read(r, i + 1, &first) && time_is(r, first.next, joint) &&
                    point_read(r, first.next + 1, &last);
    r->joint = 0;
    if (!is_range)
        return false;
    if (!first.year && first.kind != POINT_SPAN)
        first.year = last.year;
    struct time_span to = point_span(r, &last, false), from = point_span(r, &first, false);
    if (from.from > to.from && first.kind != POINT_SPAN) { /* "from November to March" */
        first.year = calendar_day(from.from).tm_year + 1899;
        from = point_span(r, &first, false);
    }
    *out = (struct time_phrase){.at = i, .end = last.next, .span = {from.from, to.to}};
    return true;
}

/* A month or season without a year is that of any year. What happened on a day is told then or in
 * the days behind it (TOLD_DAYS). */
static void phrase_of(const struct reader *r, const struct point *p, struct time_phrase *out)
{
    enum { SPRING = 2, MONTHS = 12, TOLD_DAYS = 2 };
    if (p->kind == POINT_MONTH)
        out->months = 1u << p->month;
    for (int i = 0; p->kind == POINT_SEASON && i < 3; i++)
        out->months |= 1u << (SPRING + 3 * p->month + i) % MONTHS;
    out->year = out->months ? p->year : 0;
    out->is_relative = p->is_relative;
    if (!out->months)
        out->span = point_span(r, p, false);
    if (p->kind == POINT_DAY)
        out->span.to += TOLD_DAYS * DAY_MS;
}

static bool read_phrase(struct reader *r, size_t i, struct time_phrase *out)
{
    struct point p;
    *out = (struct time_phrase){.at = i};
    if ((time_is(r, i, TIME_BETWEEN) && read_range(r, i, TIME_AND, out)) ||
        (time_is(r, i, TIME_FROM) && read_range(r, i, TIME_TO, out)))
        return true;
    bool is_distance = time_is(r, i, TIME_AGO_IN_FRONT) && point_distance(r, i, &p);
    if (!is_distance && time_is(r, i, TIME_SINCE | TIME_BEFORE | TIME_AFTER)) {
        if (!point_read(r, i + 1, &p))
            return false;
        struct time_span s = point_span(r, &p, false);
        out->end = p.next;
        out->span =
            time_is(r, i, TIME_SINCE)   ? (struct time_span){s.from, calendar_start(r->now, 'd', 1)}
            : time_is(r, i, TIME_AFTER) ? (struct time_span){s.to, calendar_start(r->now, 'd', 1)}
                                        : (struct time_span){long_ago, s.from};
        return true;
    }
    if (!is_distance && !point_part(r, i, &p) && !point_plain(r, i, &p))
        return false;
    out->end = p.next;
    phrase_of(r, &p, out);
    return true;
}

/* --- beside a point --- */

/* "Two weeks before" is the week around that day, "two weekends before" that weekend and some days
 * in which people tell of it; "the week before" and "the last two weekends before" end with the
 * day, as people tell of them then. */
static struct time_span span_beside(int64_t day, int sign, char unit, int count, bool is_last)
{
    enum { AROUND_DAYS = 3, WEEKEND_DAYS = 6 }; /* Sunday is 0, Saturday 6 */
    int days = time_days(unit);
    int64_t start = calendar_start(day, 'd', 0), next = start + DAY_MS;
    if (count && unit == 'e') {
        bool is_later = calendar_day(day).tm_wday % WEEKEND_DAYS != 0; /* this week's is behind */
        struct time_span s = calendar_unit(day, unit, sign * count - (sign > 0 && is_later));
        return (struct time_span){s.from, is_last ? next : s.to + AROUND_DAYS * DAY_MS};
    }
    if (is_last && count)
        return (struct time_span){start - count * days * DAY_MS, next};
    if (count) {
        int64_t about = start + sign * count * days * DAY_MS;
        int around = days == 1 ? 1 : days == 7 ? AROUND_DAYS : days / 2;
        return (struct time_span){about - around * DAY_MS, about + (around + 1) * DAY_MS};
    }
    return sign < 0 ? (struct time_span){start - days * DAY_MS, next}
                    : (struct time_span){start, next + days * DAY_MS};
}

/* "The week before 3 August", "two days after Christmas", "the Saturday after 28 October", "the
 * second week of November". */
static bool read_beside(struct reader *r, size_t i, struct time_phrase *out)
{
    size_t from = i + time_is(r, i, TIME_LAST), at = from;
    struct point p;
    int count = time_count(r, from, &at);
    at = count ? at : from;
    bool is_weekday = time_is(r, at, TIME_WEEKDAY), is_before = time_is(r, at + 1, TIME_BEFORE),
         is_beside = is_before || time_is(r, at + 1, TIME_AFTER);
    bool is_of = !is_beside && !count && !is_weekday && time_is(r, at + 1, TIME_OF);
    if (!time_is(r, at, TIME_UNIT | TIME_WEEKDAY) || !(is_beside || is_of) ||
        time_is(r, at + 2, TIME_DAY) || !point_read(r, at + 2, &p))
        return false;
    *out = (struct time_phrase){.at = i, .end = p.next};
    if (is_of)
        phrase_of(r, &p, out);
    else
        out->span =
            span_beside(point_span(r, &p, false).from, is_before ? -1 : 1,
                        is_weekday ? 'w' : (char)time_value(r, at), count, is_before && from > i);
    return true;
}

/* --- the text --- */

struct times times_of(const struct words *w, str text, int64_t now)
{
    struct times out = {.n = 0};
    struct reader r = {.w = w, .text = text, .now = now};
    reader_open(&r);
    for (size_t i = 0, end; i < r.n && out.n < TIME_PHRASES_MAX; i = end) {
        end = i + 1;
        if (!r.of[i]->is && !time_year(&r, i) && !time_month_day(&r, i) && !r.w->v[i].is_number)
            continue;
        if (read_beside(&r, i, &out.v[out.n]) || read_phrase(&r, i, &out.v[out.n]))
            end = out.v[out.n++].end;
    }
    return out;
}

bool time_phrase_has(const struct time_phrase *p, int64_t t)
{
    if (!p->months)
        return t >= p->span.from && t < p->span.to;
    struct tm day = calendar_day(t);
    return (p->months >> day.tm_mon & 1) && (!p->year || p->year == day.tm_year + 1900);
}
