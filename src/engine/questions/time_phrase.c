/* time_phrase.c - the times that a text names: "last May", "two weeks ago", "since March". */
#include "engine/questions/time_phrase.h"

#include <time.h>

#include "base/clock.h"
#include "base/word_index.h"

/*
 * A small grammar over the words of time_words.def. A point is a day, month, season, year, feast or
 * a distance from now ("two weeks ago"); a phrase is a point, or one with a word that opens a
 * stretch ("since March", "between May and July"). Words that are also something else ("may",
 * "march", "spring", "second") count only where a word in front or a number says that a time is
 * meant. Behind "before", "after", "on" … there may be an event instead of a point.
 */

enum time_word {
    TIME_MONTH = 1 << 0,
    TIME_WEEKDAY = 1 << 1,
    TIME_SEASON = 1 << 2,
    TIME_UNIT = 1 << 3,
    TIME_COUNT = 1 << 4,
    TIME_LAST = 1 << 5,
    TIME_THIS = 1 << 6,
    TIME_NEXT = 1 << 7,
    TIME_DAY = 1 << 8,
    TIME_AGO = 1 << 9,
    TIME_AGO_IN_FRONT = 1 << 10, /* "vor zwei Wochen" */
    TIME_IN = 1 << 11,
    TIME_IN_FRONT = 1 << 12, /* "in two weeks" */
    TIME_ON = 1 << 13,
    TIME_OF = 1 << 14,
    TIME_DURING = 1 << 15,
    TIME_ARTICLE = 1 << 16,
    TIME_OWNER = 1 << 17,
    TIME_SINCE = 1 << 18,
    TIME_BEFORE = 1 << 19,
    TIME_AFTER = 1 << 20,
    TIME_BETWEEN = 1 << 21,
    TIME_FROM = 1 << 22,
    TIME_TO = 1 << 23,
    TIME_AND = 1 << 24,
    TIME_PART = 1 << 25,
    TIME_FEAST = 1 << 26,
    TIME_BACK = 1 << 27,  /* shows that a question looks back */
    TIME_YEAR = 1 << 28,  /* "im Jahr 2023" */
    TIME_UNSURE = 1 << 29 /* is a name or another word, too */
};

#define TIME_LEADS                                                                                 \
    (TIME_IN | TIME_LAST | TIME_THIS | TIME_NEXT | TIME_SINCE | TIME_BEFORE | TIME_AFTER |         \
     TIME_BETWEEN | TIME_FROM | TIME_PART)

/* Words of a text that are looked at, and of an event. */
enum { LOOKED_AT = 400, EVENT_WORDS = 6, YEAR_MIN = 1900, YEAR_MAX = 2100 };

static const struct time_row {
    str word;
    uint32_t is;
    int value;
} rows[] = {
#define MEANS(word, is, value) {{word, sizeof(word) - 1}, is, value},
#include "engine/questions/time_words.def"
#undef MEANS
};

struct reader {
    const struct words *w;
    str text;
    int64_t now;
    bool is_statement, looks_back;
    uint32_t joint; /* of the range that is read: "to", "and" */
    const struct time_row *of[LOOKED_AT]; /* of each word; never NULL */
    size_t n;
};

/* What a point is told by: a calendar's day, month, season, feast or year; else its span. */
enum point_kind { POINT_SPAN, POINT_DAY, POINT_MONTH, POINT_SEASON, POINT_FEAST, POINT_YEAR };

struct point {
    enum point_kind kind;
    int year, month, day; /* year 0: it names none; of a season its number in month */
    struct time_span span;
    size_t next; /* the first word behind it */
    bool is_relative;
};

/* --- the calendar --- */

static struct tm day_of(int64_t t)
{
    struct tm day = {0};
    time_t seconds = (time_t)(t / 1000 - (t % 1000 < 0));
    (void)gmtime_r(&seconds, &day);
    return day;
}

/* Days and months beyond their ends go on in the next month or year. */
static int64_t ms_of(int year, int month, int day)
{
    struct tm t = {.tm_year = year - 1900, .tm_mon = month, .tm_mday = day};
    return (int64_t)timegm(&t) * 1000;
}

/* The start of the day, week (Monday), month or year that t lies in, moved by so many of them. */
static int64_t start_of(int64_t t, char unit, int moved)
{
    struct tm d = day_of(t);
    int year = d.tm_year + 1900;
    if (unit == 'd' || unit == 'n')
        return ms_of(year, d.tm_mon, d.tm_mday + moved);
    if (unit == 'w' || unit == 'e')
        return ms_of(year, d.tm_mon, d.tm_mday + 7 * moved - (d.tm_wday + 6) % 7);
    return unit == 'm' ? ms_of(year, d.tm_mon + moved, 1) : ms_of(year + moved, 0, 1);
}

/* "Last weekend" begins on its Saturday; "last night" is still the night in the next morning. */
static struct time_span unit_span(int64_t t, char unit, int moved)
{
    struct time_span s = {start_of(t, unit, moved), start_of(t, unit, moved + 1)};
    if (unit == 'e')
        s.from += 5 * DAY_MS;
    if (unit == 'n')
        s.to += DAY_MS;
    return s;
}

static struct time_span span_in(const struct point *p, int year)
{
    enum { FEAST_DAYS = 3, SEASON_MONTHS = 3, SPRING = 2 };
    int month = p->kind == POINT_SEASON ? SPRING + SEASON_MONTHS * p->month : p->month;
    switch (p->kind) {
    case POINT_DAY:
        return (struct time_span){ms_of(year, month, p->day), ms_of(year, month, p->day + 1)};
    case POINT_FEAST:
        return (struct time_span){ms_of(year, month, p->day),
                                  ms_of(year, month, p->day + FEAST_DAYS)};
    case POINT_MONTH:
        return (struct time_span){ms_of(year, month, 1), ms_of(year, month + 1, 1)};
    case POINT_SEASON:
        return (struct time_span){ms_of(year, month, 1), ms_of(year, month + SEASON_MONTHS, 1)};
    case POINT_YEAR:
        return (struct time_span){ms_of(year, 0, 1), ms_of(year + 1, 0, 1)};
    case POINT_SPAN:
        break;
    }
    return p->span;
}

/* A point without a year is the latest that has begun, or (is_over) ended; in a statement the
 * nearest. */
static struct time_span settled(const struct reader *r, const struct point *p, bool is_over)
{
    int year = day_of(r->now).tm_year + 1900;
    struct time_span s = span_in(p, p->year ? p->year : year);
    if (p->year || p->kind == POINT_SPAN)
        return s;
    if (r->is_statement) {
        const int64_t half = 183 * DAY_MS;
        return s.from - r->now > half    ? span_in(p, year - 1)
               : r->now - s.from > half ? span_in(p, year + 1)
                                         : s;
    }
    return (is_over ? s.to : s.from) > r->now ? span_in(p, year - 1) : s;
}

/* --- words --- */

static bool is_a(const struct reader *r, size_t i, uint32_t kinds)
{
    return i < r->n && (r->of[i]->is & kinds);
}

static int value_at(const struct reader *r, size_t i)
{
    return r->of[i]->value;
}

static bool is_capital(const struct reader *r, size_t i)
{
    return r->w->v[i].text.p[0] >= 'A' && r->w->v[i].text.p[0] <= 'Z';
}

static bool is_word(const struct reader *r, size_t i, const char *word)
{
    return i < r->n && str_eq_nocase(r->w->v[i].text, str_of(word));
}

/* Whether only white space, a comma or a dot stands between two words. */
static bool is_joined(const struct reader *r, size_t i)
{
    if (i == 0 || i >= r->n)
        return false;
    size_t from = r->w->v[i - 1].at + r->w->v[i - 1].text.n;
    for (size_t at = from; at < r->w->v[i].at; at++)
        if (!char_is_one_of(r->text.p[at], " ,.\t-"))
            return false;
    return true;
}

/* Whether a word behind it belongs to the same clause. */
static bool goes_on(const struct reader *r, size_t i)
{
    if (i == 0 || i >= r->n)
        return false;
    size_t from = r->w->v[i - 1].at + r->w->v[i - 1].text.n;
    for (size_t at = from; at < r->w->v[i].at; at++)
        if (char_is_one_of(r->text.p[at], ",.;:!?()\n"))
            return false;
    return true;
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

static int year_at(const struct reader *r, size_t i)
{
    str rest;
    if (i >= r->n || r->w->v[i].text.n != 4)
        return 0;
    int year = digits_of(r->w->v[i].text, &rest);
    return !rest.n && year > YEAR_MIN && year < YEAR_MAX ? year : 0;
}

/* "8", "8th"; 0: it is no day of a month. */
static int month_day_at(const struct reader *r, size_t i)
{
    static const char *const endings[] = {"st", "nd", "rd", "th", NULL};
    str rest;
    if (i >= r->n)
        return 0;
    int day = digits_of(r->w->v[i].text, &rest);
    bool ends = !rest.n || str_is_one_of(rest, endings);
    return ends && day >= 1 && day <= 31 ? day : 0;
}

/* "two", "3", "a couple of", "a few"; 0: no count. *next is behind it. */
static int count_at(const struct reader *r, size_t i, size_t *next)
{
    str rest;
    if (i >= r->n)
        return 0;
    int count = digits_of(r->w->v[i].text, &rest);
    *next = i + 1;
    if (count > 0 && !rest.n && count < YEAR_MIN)
        return count;
    if (!is_a(r, i, TIME_COUNT))
        return is_word(r, i, "ein") && is_a(r, i + 1, TIME_COUNT) ? count_at(r, i + 1, next) : 0;
    count = value_at(r, i);
    if (count == 1 && is_a(r, i + 1, TIME_COUNT))
        count = value_at(r, *next = i + 1), *next = i + 2;
    if (is_a(r, *next, TIME_OF))
        (*next)++;
    return count;
}

/* A word in front says that a time follows: "in May", "since the summer". */
static bool is_led(const struct reader *r, size_t i)
{
    while (i > 0 && is_a(r, i - 1, TIME_ARTICLE))
        i--;
    return i > 0 && is_joined(r, i) && is_a(r, i - 1, TIME_LEADS | r->joint);
}

/* --- points --- */

static bool take_span(struct point *out, size_t next, struct time_span span)
{
    *out = (struct point){.kind = POINT_SPAN, .span = span, .next = next, .is_relative = true};
    return true;
}

/* "2023-05-08" is three words. */
static bool read_iso(const struct reader *r, size_t i, struct point *out)
{
    str rest;
    int year = year_at(r, i);
    if (!year || i + 2 >= r->n || r->w->v[i + 1].at != r->w->v[i].at + 5 ||
        r->text.p[r->w->v[i].at + 4] != '-' || r->w->v[i + 2].at != r->w->v[i + 1].at + 3)
        return false;
    int month = digits_of(r->w->v[i + 1].text, &rest), day = month_day_at(r, i + 2);
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
    year = year >= 0 && year < 100 ? year + 2000 : year;
    *out = (struct point){
        .kind = POINT_DAY, .year = year, .month = month - 1, .day = day, .next = i + 1};
    return !rest.n && year > YEAR_MIN && year < YEAR_MAX;
}

/* The year behind a month or season: "May 2023", "summer of 2023". */
static void read_year_behind(const struct reader *r, struct point *p)
{
    size_t i = p->next;
    if (is_a(r, i, TIME_OF | TIME_IN) && year_at(r, i + 1))
        i++;
    if (is_joined(r, i) && (p->year = year_at(r, i)))
        p->next = i + 1;
}

/* "8 May", "8th of May", "May 8", "the 8th of May, 2023", "May 2023", "May". */
static bool read_month(const struct reader *r, size_t i, struct point *out)
{
    size_t at = i;
    int day = month_day_at(r, i);
    if (day)
        at += is_a(r, at + 1, TIME_OF) ? 2 : 1;
    if (!is_a(r, at, TIME_MONTH) || (day && !is_joined(r, at)))
        return false;
    *out = (struct point){
        .kind = POINT_MONTH, .month = value_at(r, at), .day = day, .next = at + 1};
    if (!day && is_joined(r, at + 1) && (day = month_day_at(r, at + 1))) {
        out->day = day;
        out->next++;
    }
    read_year_behind(r, out);
    if (day)
        out->kind = POINT_DAY;
    bool is_sure = !is_a(r, at, TIME_UNSURE);
    bool has_number = out->year || (day && (at > 0 || i < at));
    return is_sure || is_led(r, i) || (is_capital(r, at) && has_number);
}

/* "summer 2023", "in the spring", not "a spring roll". */
static bool read_season(const struct reader *r, size_t i, struct point *out)
{
    if (!is_a(r, i, TIME_SEASON))
        return false;
    *out = (struct point){.kind = POINT_SEASON, .month = value_at(r, i), .next = i + 1};
    read_year_behind(r, out);
    bool ends = !goes_on(r, i + 1) || r->w->v[i + 1].is_stop || is_a(r, i + 1, ~(uint32_t)0);
    return out->year || (is_led(r, i) && ends && !is_word(r, i + 1, "of"));
}

static bool read_feast(const struct reader *r, size_t i, struct point *out)
{
    if (!is_a(r, i, TIME_FEAST) || !is_led(r, i))
        return false;
    *out = (struct point){.kind = POINT_FEAST,
                          .month = value_at(r, i) / 100 - 1,
                          .day = value_at(r, i) % 100,
                          .next = i + 1};
    read_year_behind(r, out);
    return true;
}

/* "in 2023", "im Jahr 2023"; a number alone is no year. */
static bool read_year(const struct reader *r, size_t i, struct point *out)
{
    size_t at = i;
    while (is_a(r, at, TIME_YEAR) || is_word(r, at, "year"))
        at++;
    bool is_counted = goes_on(r, at + 1) && !r->w->v[at + 1].is_stop && !is_capital(r, at + 1) &&
                      !r->of[at + 1]->is; /* "in 2000 houses" */
    if (!year_at(r, at) || !is_led(r, i) || is_counted)
        return false;
    *out = (struct point){.kind = POINT_YEAR, .year = year_at(r, at), .next = at + 1};
    return true;
}

/* "two weeks ago", "vor zwei Wochen"; "in two weeks" in a statement. A vague count is wider. */
static bool read_distance(const struct reader *r, size_t i, struct point *out)
{
    bool front = is_a(r, i, TIME_AGO_IN_FRONT), ahead = r->is_statement && is_a(r, i, TIME_IN_FRONT);
    size_t at;
    int count = count_at(r, front || ahead ? i + 1 : i, &at);
    if (!count || !is_a(r, at, TIME_UNIT))
        return false;
    bool is_german = front && !is_word(r, at + 1, "ago");
    if (!is_german && !ahead && !is_a(r, at + 1, TIME_AGO))
        return false;
    char unit = (char)value_at(r, at);
    bool is_vague = is_a(r, at - 1, TIME_COUNT) && count >= 3 &&
                    (is_word(r, at - 1, "few") || is_word(r, at - 1, "several") ||
                     is_word(r, at - 1, "paar"));
    int moved = ahead ? count : -count;
    struct time_span s = {unit_span(r->now, unit, moved - is_vague).from,
                          unit_span(r->now, unit, moved + is_vague).to};
    return take_span(out, at + (is_german || ahead ? 1 : 2), s);
}

/* "today", "yesterday", "the day before yesterday". */
static bool read_day(const struct reader *r, size_t i, struct point *out)
{
    size_t at = i;
    int moved = 0;
    if (is_word(r, i, "day") && is_a(r, i + 1, TIME_BEFORE) && is_a(r, i + 2, TIME_DAY)) {
        at += 2;
        moved = -1;
    }
    if (!is_a(r, at, TIME_DAY))
        return false;
    moved += value_at(r, at);
    if (!r->is_statement && (moved > 0 || (moved == 0 && !r->looks_back)))
        return false;
    return take_span(out, at + 1, unit_span(r->now, 'd', moved));
}

/* The weekday next before today (moved -1) or behind it (1). */
static struct time_span weekday_span(int64_t now, int weekday, int moved)
{
    int today = (day_of(now).tm_wday + 6) % 7, back = (today - weekday + 7) % 7;
    int days = moved < 0 ? -(back ? back : 7) : 7 - back;
    return unit_span(now, 'd', days);
}

/* "last week", "this May", "last Tuesday", "the last two weeks"; not "the last week of school". */
static bool read_moved(const struct reader *r, size_t i, struct point *out)
{
    if (!is_a(r, i, TIME_LAST | TIME_THIS | TIME_NEXT))
        return false;
    int moved = is_a(r, i, TIME_LAST) ? -1 : is_a(r, i, TIME_NEXT) ? 1 : 0;
    size_t at = i + 1;
    if (moved == 0 && is_a(r, at, TIME_LAST)) { /* "this past weekend" */
        moved = -1;
        at++;
    }
    if (!r->is_statement && (moved > 0 || (moved == 0 && !r->looks_back)))
        return false;
    size_t behind;
    int count = count_at(r, at, &behind);
    if (moved < 0 && count && is_a(r, behind, TIME_UNIT)) {
        char unit = (char)value_at(r, behind);
        int days = unit == 'w' ? 7 : unit == 'm' ? 31 : unit == 'y' ? 366 : 1;
        return take_span(out, behind + 1,
                         (struct time_span){start_of(r->now, 'd', -count * days),
                                            start_of(r->now, 'd', 1)});
    }
    if (is_a(r, at, TIME_UNIT) && value_at(r, at) != 'd')
        return !is_word(r, at + 1, "of") &&
               take_span(out, at + 1, unit_span(r->now, (char)value_at(r, at), moved));
    if (is_a(r, at, TIME_WEEKDAY))
        return take_span(out, at + 1, weekday_span(r->now, value_at(r, at), moved ? moved : 1));
    if (!read_month(r, at, out) && !read_season(r, at, out) && !read_feast(r, at, out))
        return false;
    if (!out->year)
        take_span(out, out->next, settled(r, out, moved < 0));
    return true;
}

/* "on Friday", "am Montag": of a question that looks back the last one. */
static bool read_weekday(const struct reader *r, size_t i, struct point *out)
{
    if (!is_a(r, i, TIME_WEEKDAY) || !is_led(r, i) || !(r->is_statement || r->looks_back))
        return false;
    return take_span(out, i + 1, weekday_span(r->now, value_at(r, i), r->looks_back ? -1 : 1));
}

static bool read_plain(const struct reader *r, size_t i, struct point *out)
{
    if (!r->is_statement && i > 0 && is_a(r, i - 1, TIME_NEXT))
        return false;
    return i < r->n && (read_iso(r, i, out) || read_dotted(r, i, out) || read_distance(r, i, out) ||
                        read_day(r, i, out) || read_moved(r, i, out) || read_month(r, i, out) ||
                        read_season(r, i, out) || read_feast(r, i, out) ||
                        read_weekday(r, i, out) || read_year(r, i, out));
}

/* "early May", "the end of July", "Mitte Juni": a third of it. */
static bool read_part(const struct reader *r, size_t i, struct point *out)
{
    if (!is_a(r, i, TIME_PART))
        return false;
    size_t at = i + 1;
    while (is_a(r, at, TIME_OF | TIME_ARTICLE) || is_word(r, at, "in"))
        at++;
    if (!read_plain(r, at, out))
        return false;
    struct time_span s = settled(r, out, false);
    int64_t third = (s.to - s.from) / 3;
    if (third < DAY_MS)
        return false;
    s.from += value_at(r, i) * third;
    s.to = value_at(r, i) == 2 ? s.to : s.from + third;
    bool is_relative = out->is_relative;
    take_span(out, out->next, s);
    out->is_relative = is_relative;
    return true;
}

static bool read_point(const struct reader *r, size_t i, struct point *out)
{
    while (is_a(r, i, TIME_ARTICLE))
        i++;
    return read_part(r, i, out) || read_plain(r, i, out);
}

/* --- phrases --- */

static const int64_t long_ago = INT64_MIN / 2;

/* "between May and July 2023": the year counts for both. */
static bool read_range(struct reader *r, size_t i, uint32_t joint, struct time_phrase *out)
{
    struct point first, last;
    r->joint = joint;
    bool is_range = read_point(r, i + 1, &first) && is_a(r, first.next, joint) &&
                    read_point(r, first.next + 1, &last);
    r->joint = 0;
    if (!is_range)
        return false;
    if (!first.year && first.kind != POINT_SPAN)
        first.year = last.year;
    struct time_span to = settled(r, &last, false), from = settled(r, &first, false);
    if (from.from > to.from) /* "from November to March" */
        from.from = start_of(from.from, 'y', -1) + (from.from - start_of(from.from, 'y', 0));
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
        out->span = settled(r, p, false);
    if (p->kind == POINT_DAY && !r->is_statement)
        out->span.to += TOLD_DAYS * DAY_MS;
}

static bool read_phrase(struct reader *r, size_t i, struct time_phrase *out)
{
    struct point p;
    *out = (struct time_phrase){.at = i};
    if (is_a(r, i, TIME_BETWEEN) && read_range(r, i, TIME_AND, out))
        return true;
    if (is_a(r, i, TIME_FROM) && read_range(r, i, TIME_TO, out))
        return true;
    uint32_t side = TIME_SINCE | TIME_BEFORE | TIME_AFTER;
    bool is_distance = is_a(r, i, TIME_AGO_IN_FRONT) && read_distance(r, i, &p);
    if (!is_distance && is_a(r, i, side)) {
        if (!read_point(r, i + 1, &p))
            return false;
        struct time_span s = settled(r, &p, false);
        out->end = p.next;
        out->span = is_a(r, i, TIME_SINCE)   ? (struct time_span){s.from, start_of(r->now, 'd', 1)}
                    : is_a(r, i, TIME_AFTER) ? (struct time_span){s.to, start_of(r->now, 'd', 1)}
                                             : (struct time_span){long_ago, s.from};
        return true;
    }
    if (!is_distance && !read_part(r, i, &p) && !read_plain(r, i, &p))
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
    bool writes_nouns = is_a(r, i, TIME_ARTICLE | TIME_OWNER) && value_at(r, i);
    while (is_a(r, i, TIME_ARTICLE | TIME_OWNER))
        from = ++i;
    for (; i < r->n && i < from + EVENT_WORDS && (i == from || goes_on(r, i)); i++) {
        if (i > from && is_a(r, i, TIME_BACK | TIME_BEFORE | TIME_AFTER))
            break;
        bool is_said = !r->w->v[i].is_stop && !is_a(r, i, ~(uint32_t)TIME_UNSURE);
        said += is_said;
        if (is_said && writes_nouns && is_capital(r, i)) {
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
    size_t from = i + is_a(r, i, TIME_LAST), at = from;
    int count = count_at(r, from, &at);
    at = count ? at : from;
    bool is_weekday = is_a(r, at, TIME_WEEKDAY); /* "the Saturday after 28 October" */
    if (!is_a(r, at, TIME_UNIT | TIME_WEEKDAY) || !is_a(r, at + 1, TIME_BEFORE | TIME_AFTER | TIME_OF) ||
        is_a(r, at + 2, TIME_DAY))
        return false;
    bool is_of = is_a(r, at + 1, TIME_OF) && !is_a(r, at + 1, TIME_BEFORE | TIME_AFTER);
    if (is_of && (count || is_weekday))
        return false;
    *e = (struct event_time){.side = is_of                           ? EVENT_AT
                                     : is_a(r, at + 1, TIME_BEFORE) ? EVENT_BEFORE
                                                                    : EVENT_AFTER,
                             .unit = is_weekday ? 'w' : (char)value_at(r, at),
                             .count = count};
    *next = at + 2;
    return true;
}

/* A side of an event, without a unit: "before the move", "on my birthday", "during the trip". */
static bool read_side(const struct reader *r, size_t i, struct event_time *e, size_t *next)
{
    bool is_owned = is_a(r, i + 1, TIME_OWNER), is_named = is_a(r, i + 1, TIME_ARTICLE | TIME_OWNER);
    bool says_who = is_word(r, i + 1, "i") || is_word(r, i + 1, "we");
    uint32_t sides = TIME_SINCE | TIME_BEFORE | TIME_AFTER;
    *next = i + 1;
    *e = (struct event_time){.side = is_a(r, i, TIME_BEFORE)                ? EVENT_BEFORE
                                     : is_a(r, i, TIME_SINCE | TIME_AFTER) ? EVENT_AFTER
                                                                           : EVENT_AT};
    if (is_a(r, i, sides))
        return is_named || says_who;
    if (is_a(r, i, TIME_DURING))
        return is_named;
    if (!is_a(r, i, TIME_ON) || !is_owned)
        return false;
    e->unit = 'd';
    return true;
}

/* "on my birthday" alone names a day with "on"; "on my desk" names none. */
static bool is_day_of_its_own(str event)
{
    static const char *const days[] = {"birthday",    "anniversary", "wedding", "graduation",
                                       "geburtstag",  "hochzeitstag", "hochzeit", "jahrestag",
                                       "jubiläum", NULL};
    str last = event;
    while (last.n) {
        str word = str_cut(&last, ' ');
        if (str_is_one_of(word, days))
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
    if (has_unit && read_point(r, at, &p)) {
        struct time_phrase *phrase = &out->v[out->n++];
        *phrase = (struct time_phrase){.at = i, .end = *end = p.next};
        if (e.side == EVENT_AT)
            phrase_of(r, &p, phrase);
        else
            phrase->span = event_span(&e, settled(r, &p, false).from, r->now);
        return true;
    }
    bool is_event = is_a(r, at, TIME_ARTICLE | TIME_OWNER) || (at < r->n && is_capital(r, at)) ||
                    is_word(r, at, "i") || is_word(r, at, "we");
    e.event = is_event && r->looks_back ? event_at(r, at, end) : S("");
    if (!e.event.n || (is_a(r, i, TIME_ON) && !is_day_of_its_own(e.event)))
        return false;
    if (out->event.side == EVENT_NONE)
        out->event = e;
    return true;
}

/* --- the text --- */

static uint32_t row_of(str word)
{
    return word_index_find_lower(word_index_of(rows, sizeof rows / sizeof *rows, sizeof *rows),
                                 word);
}

static void look_up(struct reader *r)
{
    static const struct time_row none = {{"", 0}, 0, 0};
    r->n = r->w->n < LOOKED_AT ? r->w->n : LOOKED_AT;
    for (size_t i = 0; i < r->n; i++) {
        uint32_t row = row_of(r->w->v[i].text);
        r->of[i] = row == NO_WORD ? &none : &rows[row];
        r->looks_back |= is_a(r, i, TIME_BACK);
    }
}

struct times times_of(const struct words *w, str text, int64_t now, enum time_reading how)
{
    struct times out = {.n = 0};
    struct reader r = {
        .w = w, .text = text, .now = now, .is_statement = how == TIMES_OF_STATEMENT};
    look_up(&r);
    for (size_t i = 0, end; i < r.n && out.n < TIME_PHRASES_MAX; i = end) {
        end = i + 1;
        if (!r.of[i]->is && !year_at(&r, i) && !month_day_at(&r, i) && !r.w->v[i].is_number)
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
    struct tm day = day_of(t);
    return (p->months >> day.tm_mon & 1) && (!p->year || p->year == day.tm_year + 1900);
}

/* "Two weeks before" is the week around that day; "the week before" ends with the event, as people
 * tell of it then. */
struct time_span event_span(const struct event_time *e, int64_t day, int64_t now)
{
    enum { AROUND_DAYS = 3 };
    int days = e->unit == 'w' ? 7 : e->unit == 'm' ? 31 : e->unit == 'y' ? 366 : 1;
    int sign = e->side == EVENT_BEFORE ? -1 : 1;
    int64_t start = start_of(day, 'd', 0), next = start + DAY_MS;
    if (e->side == EVENT_AT)
        return e->unit ? (struct time_span){unit_span(day, e->unit, 0).from,
                                            unit_span(day, e->unit, 0).to + DAY_MS}
                       : (struct time_span){start, start + AROUND_DAYS * DAY_MS};
    if (!e->unit)
        return sign < 0 ? (struct time_span){long_ago, start}
                        : (struct time_span){start, start_of(now, 'd', 1)};
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
    struct tm d = day_of(day), n = day_of(now);
    int64_t at = ms_of(n.tm_year + 1900, d.tm_mon, d.tm_mday);
    return at > now ? ms_of(n.tm_year + 1899, d.tm_mon, d.tm_mday) : at;
}

bool time_word_is_bare(str word)
{
    uint32_t row = row_of(word), bare = TIME_COUNT | TIME_LAST | TIME_THIS | TIME_AGO | TIME_DAY;
    if (row == NO_WORD)
        return false;
    const struct time_row *t = &rows[row];
    return (t->is & bare) || ((t->is & TIME_UNIT) && t->value != 'e' && t->value != 'n');
}
