/* time_phrase.c - the times that a text names: "last May", "two weeks ago", "since March". */
#include "engine/questions/time_point.h"

#include "base/clock.h"
#include "lang/time_phrase_lists.h"

/*
 * A phrase is a point (time_point.c), or one with a word that opens a stretch ("since March",
 * "between May and July"). Behind "before", "after", "on" … there may be an event instead of a
 * point.
 */

enum { EVENT_WORDS = 6 };

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
    if (from.from > to.from) /* "from November to March" */
        from.from =
            calendar_start(from.from, 'y', -1) + (from.from - calendar_start(from.from, 'y', 0));
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
    if (p->kind == POINT_DAY && !r->is_statement)
        out->span.to += TOLD_DAYS * DAY_MS;
}

static bool read_phrase(struct reader *r, size_t i, struct time_phrase *out)
{
    struct point p;
    *out = (struct time_phrase){.at = i};
    if (time_is(r, i, TIME_BETWEEN) && read_range(r, i, TIME_AND, out))
        return true;
    if (time_is(r, i, TIME_FROM) && read_range(r, i, TIME_TO, out))
        return true;
    uint32_t side = TIME_SINCE | TIME_BEFORE | TIME_AFTER;
    bool is_distance = time_is(r, i, TIME_AGO_IN_FRONT) && point_distance(r, i, &p);
    if (!is_distance && time_is(r, i, side)) {
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

/* --- events --- */

/* The words of an event: up to a mark or a verb that begins the question itself. */
static str event_at(const struct reader *r, size_t i, size_t *end)
{
    size_t from = i, said = 0;
    bool writes_nouns = time_is(r, i, TIME_ARTICLE | TIME_OWNER) && time_value(r, i);
    while (time_is(r, i, TIME_ARTICLE | TIME_OWNER))
        from = ++i;
    for (; i < r->n && i < from + EVENT_WORDS && (i == from || time_goes_on(r, i)); i++) {
        if (i > from && time_is(r, i, TIME_BACK | TIME_BEFORE | TIME_AFTER))
            break;
        bool is_said = !r->w->v[i].is_stop && !time_is(r, i, ~(uint32_t)TIME_UNSURE);
        said += is_said;
        if (is_said && writes_nouns && time_is_capital(r, i)) {
            i++;
            break;
        }
    }
    *end = i;
    const struct word *last = &r->w->v[i ? i - 1 : 0];
    return said ? str_sub(r->text, r->w->v[from].at, last->at + last->text.n) : S("");
}

/* "the week before", "two days after": behind it stands a point or an event. */
static bool read_beside(const struct reader *r, size_t i, struct event_time *e, size_t *next)
{
    size_t from = i + time_is(r, i, TIME_LAST), at = from;
    int count = time_count(r, from, &at);
    at = count ? at : from;
    bool is_weekday = time_is(r, at, TIME_WEEKDAY); /* "the Saturday after 28 October" */
    if (!time_is(r, at, TIME_UNIT | TIME_WEEKDAY) ||
        !time_is(r, at + 1, TIME_BEFORE | TIME_AFTER | TIME_OF) || time_is(r, at + 2, TIME_DAY))
        return false;
    bool is_of = time_is(r, at + 1, TIME_OF) && !time_is(r, at + 1, TIME_BEFORE | TIME_AFTER);
    if (is_of && (count || is_weekday))
        return false;
    *e = (struct event_time){.side = is_of                             ? EVENT_AT
                                     : time_is(r, at + 1, TIME_BEFORE) ? EVENT_BEFORE
                                                                       : EVENT_AFTER,
                             .unit = is_weekday ? 'w' : (char)time_value(r, at),
                             .count = count};
    *next = at + 2;
    return true;
}

/* A side of an event, without a unit: "before the move", "on my birthday", "during the trip". */
static bool read_side(const struct reader *r, size_t i, struct event_time *e, size_t *next)
{
    bool is_owned = time_is(r, i + 1, TIME_OWNER),
         is_named = time_is(r, i + 1, TIME_ARTICLE | TIME_OWNER);
    bool says_who = time_is_word(r, i + 1, "i") || time_is_word(r, i + 1, "we");
    uint32_t sides = TIME_SINCE | TIME_BEFORE | TIME_AFTER;
    *next = i + 1;
    *e = (struct event_time){.side = time_is(r, i, TIME_BEFORE)               ? EVENT_BEFORE
                                     : time_is(r, i, TIME_SINCE | TIME_AFTER) ? EVENT_AFTER
                                                                              : EVENT_AT};
    if (time_is(r, i, sides))
        return is_named || says_who;
    if (time_is(r, i, TIME_DURING))
        return is_named;
    if (!time_is(r, i, TIME_ON) || !is_owned)
        return false;
    e->unit = 'd';
    return true;
}

/* "on my birthday" alone names a day with "on"; "on my desk" names none. */
static bool is_day_of_its_own(str event)
{
    str last = event;
    while (last.n) {
        str word = str_cut(&last, ' ');
        if (str_is_one_of(word, event_days))
            return true;
    }
    return false;
}

static bool read_event(const struct reader *r, size_t i, struct times *out, size_t *end)
{
    struct event_time e;
    struct point p;
    size_t at;
    bool has_unit = read_beside(r, i, &e, &at);
    if (!has_unit && !read_side(r, i, &e, &at))
        return false;
    if (has_unit && point_read(r, at, &p)) {
        struct time_phrase *phrase = &out->v[out->n++];
        *phrase = (struct time_phrase){.at = i, .end = *end = p.next};
        if (e.side == EVENT_AT)
            phrase_of(r, &p, phrase);
        else
            phrase->span = event_span(&e, point_span(r, &p, false).from, r->now);
        return true;
    }
    bool is_event = time_is(r, at, TIME_ARTICLE | TIME_OWNER) ||
                    (at < r->n && time_is_capital(r, at)) || time_is_word(r, at, "i") ||
                    time_is_word(r, at, "we");
    e.event = is_event && r->looks_back ? event_at(r, at, end) : S("");
    if (!e.event.n || (time_is(r, i, TIME_ON) && !is_day_of_its_own(e.event)))
        return false;
    if (out->event.side == EVENT_NONE)
        out->event = e;
    return true;
}

/* --- the text --- */

struct times times_of(const struct words *w, str text, int64_t now, enum time_reading how)
{
    struct times out = {.n = 0};
    struct reader r = {.w = w, .text = text, .now = now, .is_statement = how == TIMES_OF_STATEMENT};
    reader_open(&r);
    for (size_t i = 0, end; i < r.n && out.n < TIME_PHRASES_MAX; i = end) {
        end = i + 1;
        if (!r.of[i]->is && !time_year(&r, i) && !time_month_day(&r, i) && !r.w->v[i].is_number)
            continue;
        if (how == TIMES_OF_QUESTION && read_event(&r, i, &out, &end))
            continue;
        if (read_phrase(&r, i, &out.v[out.n]))
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

/* "Two weeks before" is the week around that day; "the week before" ends with the event, as people
 * tell of it then. */
struct time_span event_span(const struct event_time *e, int64_t day, int64_t now)
{
    enum { AROUND_DAYS = 3 };
    int days = e->unit == 'w' ? 7 : e->unit == 'm' ? 31 : e->unit == 'y' ? 366 : 1;
    int sign = e->side == EVENT_BEFORE ? -1 : 1;
    int64_t start = calendar_start(day, 'd', 0), next = start + DAY_MS;
    if (e->side == EVENT_AT)
        return e->unit ? (struct time_span){calendar_unit(day, e->unit, 0).from,
                                            calendar_unit(day, e->unit, 0).to + DAY_MS}
                       : (struct time_span){start, start + AROUND_DAYS * DAY_MS};
    if (!e->unit)
        return sign < 0 ? (struct time_span){long_ago, start}
                        : (struct time_span){start, calendar_start(now, 'd', 1)};
    if (e->unit == 'e') /* the weekend next before or behind it */
        days = 7;
    if (e->count) {
        int64_t about = start + sign * e->count * days * DAY_MS;
        int around = days == 1 ? 1 : days == 7 ? AROUND_DAYS : days / 2;
        return (struct time_span){about - around * DAY_MS, about + (around + 1) * DAY_MS};
    }
    return sign < 0 ? (struct time_span){start - days * DAY_MS, next}
                    : (struct time_span){start, next + days * DAY_MS};
}

int64_t time_last_anniversary(int64_t day, int64_t now)
{
    struct tm d = calendar_day(day), n = calendar_day(now);
    int64_t at = calendar_ms(n.tm_year + 1900, d.tm_mon, d.tm_mday);
    return at > now ? calendar_ms(n.tm_year + 1899, d.tm_mon, d.tm_mday) : at;
}
