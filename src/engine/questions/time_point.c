/* time_point.c - the points in time that words name: a day, a month, a season, "two weeks ago". */
#include "engine/questions/time_point.h"

#include "base/clock.h"
#include "engine/text/bytes.h"
#include "lang/time_point_lists.h"
#include "words/word_index.h"

/* A point is a day, month, season, year or feast of the calendar, or a distance from now. Words
 * that are also something else ("may", "march", "spring", "second") count only where a word in
 * front or a number says that a time is meant. */

enum { YEAR_MIN = 1900, YEAR_MAX = 2100 };

#define TIME_LEADS                                                                                 \
    (TIME_IN | TIME_LAST | TIME_THIS | TIME_NEXT | TIME_SINCE | TIME_BEFORE | TIME_AFTER |         \
     TIME_BETWEEN | TIME_FROM | TIME_PART)

static const struct time_row rows[] = {
#define MEANS(word, is, value) {{word, sizeof(word) - 1}, is, value},
#include "lang/time_words.def"
};

/* --- the calendar --- */

struct tm calendar_day(int64_t t)
{
    struct tm day = {0};
    time_t seconds = (time_t)(t / 1000 - (t % 1000 < 0));
    (void)gmtime_r(&seconds, &day);
    return day;
}

/* The start of a day; month counts from 0. Days and months may lie beyond their ends. */
static int64_t calendar_ms(int year, int month, int day)
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

int time_days(char unit)
{
    return unit == 'w' || unit == 'e' ? 7 : unit == 'm' ? 31 : unit == 'y' ? 366 : 1;
}

/* The weekday (0: Monday) of this week (moved 0), or next before today (-1). */
static struct time_span calendar_weekday(int64_t now, int weekday, int moved)
{
    int today = (calendar_day(now).tm_wday + 6) % 7, days = weekday - today;
    return calendar_unit(now, 'd', moved && days >= 0 ? days - 7 : days);
}

/* --- words --- */

static uint32_t row_of(str word)
{
    return word_index_find_lower(WORD_INDEX(rows), word);
}

void reader_open(struct reader *r)
{
    static const struct time_row none = {{"", 0}, 0, 0};
    r->n = r->w->n < TIME_WORDS_MAX ? r->w->n : TIME_WORDS_MAX;
    for (size_t i = 0; i < r->n; i++) {
        uint32_t row = row_of(r->w->v[i].text);
        r->of[i] = row == NO_WORD ? &none : &rows[row];
        r->looks_back |= time_is(r, i, TIME_BACK);
    }
}

bool time_is(const struct reader *r, size_t i, uint32_t kinds)
{
    return i < r->n && (r->of[i]->is & kinds);
}

int time_value(const struct reader *r, size_t i)
{
    return r->of[i]->value;
}

static bool time_is_word(const struct reader *r, size_t i, const char *word)
{
    return i < r->n && str_eq_nocase(r->w->v[i].text, str_of(word));
}

/* What is between a word and the one before (they may overlap); false: there are no two. */
static bool gap_before(const struct reader *r, size_t i, str *gap)
{
    if (i == 0 || i >= r->n)
        return false;
    size_t from = r->w->v[i - 1].at + r->w->v[i - 1].text.n, to = r->w->v[i].at;
    *gap = str_sub(r->text, from, to > from ? to : from);
    return true;
}

/* Whether only white space, a comma or a dot stands between two words. */
static bool is_joined(const struct reader *r, size_t i)
{
    str gap;
    return gap_before(r, i, &gap) && !str_trim_end(gap, " ,.\t-").n;
}

/* Whether a word behind it belongs to the same clause. */
static bool time_goes_on(const struct reader *r, size_t i)
{
    str gap;
    return gap_before(r, i, &gap) && EVERY(k, gap.n, !char_is_one_of(gap.p[k], ",.;:!?()\n"));
}

/* Leading digits of a word, and what follows them. */
static int digits_of(str word, str *rest)
{
    int number = 0;
    size_t n = 0;
    while (n < word.n && n < 5 && word.p[n] >= '0' && word.p[n] <= '9')
        number = number * 10 + (word.p[n++] - '0');
    *rest = str_sub(word, n, word.n);
    return n ? number : -1;
}

int time_year(const struct reader *r, size_t i)
{
    str rest;
    if (i >= r->n || r->w->v[i].text.n != 4)
        return 0;
    int year = digits_of(r->w->v[i].text, &rest);
    return !rest.n && year > YEAR_MIN && year < YEAR_MAX ? year : 0;
}

int time_month_day(const struct reader *r, size_t i)
{
    str rest;
    if (i >= r->n)
        return 0;
    int day = digits_of(r->w->v[i].text, &rest);
    bool ends = !rest.n || str_is_one_of(rest, ordinal_endings);
    return ends && day >= 1 && day <= 31 ? day : 0;
}

int time_count(const struct reader *r, size_t i, size_t *next)
{
    str rest;
    if (i >= r->n)
        return 0;
    int count = digits_of(r->w->v[i].text, &rest);
    *next = i + 1;
    if (count > 0 && !rest.n && count < YEAR_MIN)
        return count;
    if (!time_is(r, i, TIME_COUNT))
        return time_is_word(r, i, "ein") && time_is(r, i + 1, TIME_COUNT)
                   ? time_count(r, i + 1, next)
                   : 0;
    count = time_value(r, i);
    if (count == 1 && time_is(r, i + 1, TIME_COUNT))
        count = time_value(r, *next = i + 1), *next = i + 2;
    if (time_is(r, *next, TIME_OF))
        (*next)++;
    return count;
}

/* A word in front says that a time follows: "in May", "since the summer". */
static bool is_led(const struct reader *r, size_t i)
{
    while (i > 0 && time_is(r, i - 1, TIME_ARTICLE))
        i--;
    return i > 0 && is_joined(r, i) && time_is(r, i - 1, TIME_LEADS | r->joint);
}

/* --- points --- */

static struct time_span span_in(const struct point *p, int year)
{
    static const int months[] = {[POINT_MONTH] = 1, [POINT_SEASON] = 3, [POINT_YEAR] = 12};
    static const int days[] = {[POINT_DAY] = 1, [POINT_FEAST] = 3, [POINT_YEAR] = 0};
    enum { SPRING = 2 };
    int month = p->kind == POINT_SEASON ? SPRING + 3 * p->month : p->month, day = p->day + !p->day;
    if (p->kind == POINT_SPAN)
        return p->span;
    return (struct time_span){calendar_ms(year, month, day),
                              calendar_ms(year, month + months[p->kind], day + days[p->kind])};
}

struct time_span point_span(const struct reader *r, const struct point *p, bool is_over)
{
    enum { LEAP = 4, FEBRUARY = 1, LEAP_DAY = 29 };
    bool is_leap = p->kind == POINT_DAY && p->month == FEBRUARY && p->day == LEAP_DAY;
    int year = calendar_day(r->now).tm_year + 1900, step = is_leap ? LEAP : 1;
    struct time_span s = span_in(p, p->year ? p->year : year - year % step);
    if (p->year || p->kind == POINT_SPAN)
        return s;
    return (is_over ? s.to : s.from) > r->now ? span_in(p, year - year % step - step) : s;
}

static bool take_span(struct point *out, size_t next, struct time_span span)
{
    *out = (struct point){.kind = POINT_SPAN, .span = span, .next = next, .is_relative = true};
    return true;
}

/* "2023-05-08" is three words. */
static bool read_iso(const struct reader *r, size_t i, struct point *out)
{
    str rest;
    int year = time_year(r, i);
    if (!year || i + 2 >= r->n || r->w->v[i + 1].at != r->w->v[i].at + 5 ||
        r->text.p[r->w->v[i].at + 4] != '-' || r->w->v[i + 2].at != r->w->v[i + 1].at + 3)
        return false;
    int month = digits_of(r->w->v[i + 1].text, &rest), day = time_month_day(r, i + 2);
    *out = (struct point){
        .kind = POINT_DAY, .year = year, .month = month - 1, .day = day, .next = i + 3};
    return month >= 1 && month <= 12 && day;
}

/* "8.5.2023" is one word. */
static bool read_dotted(const struct reader *r, size_t i, struct point *out)
{
    str day_rest, month_rest, rest;
    int day = digits_of(r->w->v[i].text, &day_rest);
    if (day < 1 || day > 31 || !str_starts(day_rest, S(".")))
        return false;
    int month = digits_of(str_sub(day_rest, 1, day_rest.n), &month_rest);
    if (month < 1 || month > 12 || !str_starts(month_rest, S(".")))
        return false;
    int year = digits_of(str_sub(month_rest, 1, month_rest.n), &rest);
    year += year < 0 || year > 99 ? 0 : year < 70 ? 2000 : 1900;
    *out = (struct point){
        .kind = POINT_DAY, .year = year, .month = month - 1, .day = day, .next = i + 1};
    return !rest.n && year > YEAR_MIN && year < YEAR_MAX;
}

/* The year behind a month or season: "May 2023", "summer of 2023". */
static void read_year_behind(const struct reader *r, struct point *p)
{
    size_t i = p->next;
    if (time_is(r, i, TIME_OF | TIME_IN) && time_year(r, i + 1))
        i++;
    if (is_joined(r, i) && (p->year = time_year(r, i)))
        p->next = i + 1;
}

/* "8 May", "8th of May", "May 8", "the 8th of May, 2023", "May 2023", "May". */
static bool read_month(const struct reader *r, size_t i, struct point *out)
{
    size_t at = i;
    int day = time_month_day(r, i);
    if (day)
        at += time_is(r, at + 1, TIME_OF) ? 2 : 1;
    if (!time_is(r, at, TIME_MONTH) || (day && !is_joined(r, at)))
        return false;
    *out =
        (struct point){.kind = POINT_MONTH, .month = time_value(r, at), .day = day, .next = at + 1};
    if (!day && is_joined(r, at + 1) && (day = time_month_day(r, at + 1))) {
        out->day = day;
        out->next++;
    }
    read_year_behind(r, out);
    if (day)
        out->kind = POINT_DAY;
    bool is_sure = !time_is(r, at, TIME_UNSURE);
    bool has_number = out->year || (day && (at > 0 || i < at));
    return is_sure || is_led(r, i) || (is_upper(r->w->v[at].text.p[0]) && has_number);
}

/* "summer 2023", "in the spring", not "a spring roll". */
static bool read_season(const struct reader *r, size_t i, struct point *out)
{
    if (!time_is(r, i, TIME_SEASON))
        return false;
    *out = (struct point){.kind = POINT_SEASON, .month = time_value(r, i), .next = i + 1};
    read_year_behind(r, out);
    bool ends =
        !time_goes_on(r, i + 1) || r->w->v[i + 1].is_stop || time_is(r, i + 1, ~(uint32_t)0);
    return out->year || (is_led(r, i) && ends && !time_is_word(r, i + 1, "of"));
}

static bool read_feast(const struct reader *r, size_t i, struct point *out)
{
    if (!time_is(r, i, TIME_FEAST) || !is_led(r, i))
        return false;
    *out = (struct point){.kind = POINT_FEAST,
                          .month = time_value(r, i) / 100 - 1,
                          .day = time_value(r, i) % 100,
                          .next = i + 1};
    read_year_behind(r, out);
    return true;
}

/* "in 2023", "im Jahr 2023"; a number alone is no year. */
static bool read_year(const struct reader *r, size_t i, struct point *out)
{
    size_t at = i;
    while (time_is(r, at, TIME_YEAR) || time_is_word(r, at, "year"))
        at++;
    /* "in 2000 houses" */
    bool is_counted = time_goes_on(r, at + 1) && !r->w->v[at + 1].is_stop &&
                      !is_upper(r->w->v[at + 1].text.p[0]) && !r->of[at + 1]->is;
    if (!time_year(r, at) || !is_led(r, i) || is_counted)
        return false;
    *out = (struct point){.kind = POINT_YEAR, .year = time_year(r, at), .next = at + 1};
    return true;
}

/* "two weeks ago", "vor zwei Wochen". A vague count is wider. */
bool point_distance(const struct reader *r, size_t i, struct point *out)
{
    bool front = time_is(r, i, TIME_AGO_IN_FRONT);
    size_t at;
    int count = time_count(r, front ? i + 1 : i, &at);
    if (!count || !time_is(r, at, TIME_UNIT))
        return false;
    bool is_german = front && !time_is_word(r, at + 1, "ago");
    if (!is_german && !time_is(r, at + 1, TIME_AGO))
        return false;
    char unit = (char)time_value(r, at);
    bool is_vague = time_is(r, at - 1, TIME_COUNT) && count >= 3 &&
                    (time_is_word(r, at - 1, "few") || time_is_word(r, at - 1, "several") ||
                     time_is_word(r, at - 1, "paar"));
    struct time_span s = {calendar_unit(r->now, unit, -count - is_vague).from,
                          calendar_unit(r->now, unit, -count + is_vague).to};
    return take_span(out, at + (is_german ? 1 : 2), s);
}

/* "today", "yesterday", "the day before yesterday". */
static bool read_day(const struct reader *r, size_t i, struct point *out)
{
    size_t at = i;
    int moved = 0;
    if (time_is_word(r, i, "day") && time_is(r, i + 1, TIME_BEFORE) &&
        time_is(r, i + 2, TIME_DAY)) {
        at += 2;
        moved = -1;
    }
    if (!time_is(r, at, TIME_DAY))
        return false;
    moved += time_value(r, at);
    if (moved > 0 || (moved == 0 && !r->looks_back))
        return false;
    return take_span(out, at + 1, calendar_unit(r->now, 'd', moved));
}

/* "last week", "this May", "last Tuesday", "the last two weeks"; not "the last week of school". */
static bool read_moved(const struct reader *r, size_t i, struct point *out)
{
    if (!time_is(r, i, TIME_LAST | TIME_THIS))
        return false;
    int moved = time_is(r, i, TIME_LAST) ? -1 : 0;
    size_t at = i + 1;
    if (moved == 0 && time_is(r, at, TIME_LAST)) { /* "this past weekend" */
        moved = -1;
        at++;
    }
    if (moved == 0 && !r->looks_back)
        return false;
    size_t behind;
    int count = time_count(r, at, &behind);
    if (moved < 0 && count && time_is(r, behind, TIME_UNIT)) {
        char unit = (char)time_value(r, behind);
        struct time_span s = {calendar_start(r->now, 'd', -count * time_days(unit)),
                              calendar_start(r->now, 'd', 1)};
        if (unit == 'e')
            s = (struct time_span){calendar_unit(r->now, unit, -count).from,
                                   calendar_unit(r->now, unit, -1).to};
        return take_span(out, behind + 1, s);
    }
    if (time_is(r, at, TIME_UNIT) && time_value(r, at) != 'd')
        return !time_is_word(r, at + 1, "of") &&
               take_span(out, at + 1, calendar_unit(r->now, (char)time_value(r, at), moved));
    if (time_is(r, at, TIME_WEEKDAY))
        return take_span(out, at + 1, calendar_weekday(r->now, time_value(r, at), moved));
    if (!read_month(r, at, out) && !read_season(r, at, out) && !read_feast(r, at, out))
        return false;
    if (!out->year)
        take_span(out, out->next, point_span(r, out, moved < 0));
    return true;
}

/* "on Friday", "am Montag": of a question that looks back the last one. */
static bool read_weekday(const struct reader *r, size_t i, struct point *out)
{
    if (!time_is(r, i, TIME_WEEKDAY) || !is_led(r, i) || !r->looks_back)
        return false;
    return take_span(out, i + 1, calendar_weekday(r->now, time_value(r, i), -1));
}

bool point_plain(const struct reader *r, size_t i, struct point *out)
{
    if (i > 0 && time_is(r, i - 1, TIME_NEXT))
        return false;
    return i < r->n && (read_iso(r, i, out) || read_dotted(r, i, out) ||
                        point_distance(r, i, out) || read_day(r, i, out) || read_moved(r, i, out) ||
                        read_month(r, i, out) || read_season(r, i, out) || read_feast(r, i, out) ||
                        read_weekday(r, i, out) || read_year(r, i, out));
}

/* "early May", "the end of July", "Mitte Juni": a third of it. */
bool point_part(const struct reader *r, size_t i, struct point *out)
{
    if (!time_is(r, i, TIME_PART))
        return false;
    size_t at = i + 1;
    while (time_is(r, at, TIME_OF | TIME_ARTICLE) || time_is_word(r, at, "in"))
        at++;
    if (!point_plain(r, at, out))
        return false;
    struct time_span s = point_span(r, out, false);
    int64_t third = (s.to - s.from) / 3;
    if (third < DAY_MS)
        return false;
    s.from += time_value(r, i) * third;
    s.to = time_value(r, i) == 2 ? s.to : s.from + third;
    out->kind = POINT_SPAN;
    out->span = s;
    return true;
}

bool point_read(const struct reader *r, size_t i, struct point *out)
{
    while (time_is(r, i, TIME_ARTICLE))
        i++;
    return point_part(r, i, out) || point_plain(r, i, out);
}

bool time_word_is_bare(str word)
{
    uint32_t row = row_of(word), bare = TIME_COUNT | TIME_LAST | TIME_THIS | TIME_AGO | TIME_DAY;
    if (row == NO_WORD)
        return false;
    const struct time_row *t = &rows[row];
    return (t->is & bare) || ((t->is & TIME_UNIT) && t->value != 'e' && t->value != 'n');
}
