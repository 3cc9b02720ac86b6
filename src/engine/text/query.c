/* query.c - a question as recall sees it: the words to search, what kind of answer, which time. */
#include "engine/text/query.h"
#include "base/clock.h"
#include "base/time_text.h"
#include "engine/text/lexicon.h"

#include <time.h>

/*
 * Example: "What did Ana tell me about the boat yesterday?" asked on 20 November becomes the stems
 * of its telling words, such as Ana and boat, and those of "19 November 2026", with the time of
 * that day in from and to. At most QUERY_WORDS_MAX words are searched, the most promising ones:
 * names, numbers, long words. All times are UTC.
 */

enum { QUESTION_WORDS_MAX = 2000 };

static bool is_at(const struct words *w, size_t i, const char *word)
{
    return i < w->n && str_eq_nocase(w->v[i].text, str_of(word));
}

/* "when", "what year", "how many", "who": what an answer has to hold. */
static void read_kind(struct query *q, const struct words *w)
{
    static const char *const times[] = {"date", "day", "month", "year", NULL},
                             *const sizes[] = {"many", "much", "often", "old", "long", NULL};
    str second = w->n > 1 ? w->v[1].text : S("");
    bool what = is_at(w, 0, "what") || is_at(w, 0, "which"), how = is_at(w, 0, "how");
    q->wants_date = is_at(w, 0, "when") || (what && str_is_one_of(second, times)) ||
                    (how && is_at(w, 1, "long"));
    q->wants_number = how && str_is_one_of(second, sizes);
    q->wants_name = is_at(w, 0, "who") || is_at(w, 0, "where") || is_at(w, 0, "which");
    for (size_t i = 0; i < w->n; i++)
        q->wants_name |= is_at(w, i, "name") || is_at(w, i, "names");
}

/* The start of the day, week (Monday), month or year that t lies in, moved by so many of them. */
static int64_t start_of(int64_t t, char unit, int moved)
{
    time_t seconds = (time_t)(t / 1000);
    struct tm day;
    if (!gmtime_r(&seconds, &day))
        return 0;
    struct tm first = {.tm_year = day.tm_year, .tm_mon = day.tm_mon, .tm_mday = day.tm_mday};
    if (unit == 'd')
        first.tm_mday += moved;
    else if (unit == 'w')
        first.tm_mday += 7 * moved - (day.tm_wday + 6) % 7;
    else if (unit == 'm')
        first = (struct tm){.tm_year = day.tm_year, .tm_mon = day.tm_mon + moved, .tm_mday = 1};
    else
        first = (struct tm){.tm_year = day.tm_year + moved, .tm_mday = 1};
    return (int64_t)timegm(&first) * 1000;
}

/* "What shall I cook today?" is not about what was said today; "what did I cook today?" is. */
static bool looks_back(const struct words *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (lexicon_is(w->v[i].text, LEX_PAST))
            return true;
    return false;
}

/* "yesterday", "last week", "this month": the time they mean. It is searched in their place. */
static void read_relative(struct query *q, struct words *w, int64_t asked)
{
    static const char *const units[] = {"week", "month", "year", NULL};
    for (size_t i = 0; i < w->n; i++) {
        char unit = 0;
        int moved = 0;
        if (is_at(w, i, "today") || is_at(w, i, "yesterday")) {
            unit = 'd';
            moved = is_at(w, i, "yesterday") ? -1 : 0;
        } else if (is_at(w, i, "last") || is_at(w, i, "this")) {
            moved = is_at(w, i, "last") ? -1 : 0;
            for (const char *const *u = units; *u; u++)
                if (is_at(w, i + 1, *u))
                    unit = **u;
            if (unit && moved)
                w->v[i + 1].is_stop = true;
        }
        if (unit && (moved || looks_back(w))) {
            w->v[i].is_stop = true;
            q->from = start_of(asked, unit, moved);
            q->to = start_of(asked, unit, moved + 1);
        }
    }
}

/* Months are told from words by their capital: "May" and "March" are both. */
static void read_dates(struct query *q, const struct words *w)
{
    for (size_t i = 0; i < w->n; i++) {
        str text = w->v[i].text;
        int64_t number;
        int month = lexicon_month(text);
        if (month >= 0 && text.p[0] >= 'A' && text.p[0] <= 'Z')
            q->months |= 1u << month;
        if (w->v[i].is_number && text.n == 4 && str_int(text, &number) && number > 1900)
            q->year = (int)number;
    }
}

bool query_names_time(const struct query *q)
{
    return q->to || q->months;
}

/* Whether t (unix ms) is in the span that the question names: from to to, or in its months. */
bool query_has_time(const struct query *q, int64_t t)
{
    time_t seconds = (time_t)(t / 1000);
    struct tm day;
    if (q->to)
        return t >= q->from && t < q->to;
    if (!q->months || !gmtime_r(&seconds, &day))
        return false;
    return (q->months >> day.tm_mon & 1) && (!q->year || q->year == day.tm_year + 1900);
}

/* How much a word promises before it is known how many documents hold it: names, numbers and long
 * words first. */
static int promise(const struct word *w)
{
    return (w->is_name ? 100 : 0) + (w->is_number ? 50 : 0) +
           (w->stem.n < 12 ? (int)w->stem.n : 12);
}

static void take(struct query *q, size_t at, const struct word *w)
{
    q->stems[at] = w->stem;
    q->texts[at] = w->text;
}

/* Each stem once: a word said twice does not count twice. */
static bool has(const struct query *q, str stem)
{
    for (size_t i = 0; i < q->n; i++)
        if (str_eq(q->stems[i], stem))
            return true;
    return false;
}

/* A long message has more words than can be searched: the least promising gives way. "Do you
 * remember" asks and says nothing. */
static void add_stem(struct query *q, int *promises, const struct word *w)
{
    if (lexicon_is(w->stem, LEX_ASKING) || has(q, w->stem))
        return;
    size_t at = q->n;
    if (q->n < QUERY_WORDS_MAX) {
        q->n++;
    } else {
        at = 0;
        for (size_t i = 1; i < q->n; i++)
            if (promises[i] < promises[at])
                at = i;
        if (promises[at] >= promise(w))
            return;
    }
    promises[at] = promise(w);
    take(q, at, w);
}

/* Messages are labelled with their date: "yesterday" is searched as "19 November 2026", "last
 * month" as "October 2026". */
static void add_date(struct arena *a, struct query *q, int *promises)
{
    const char *format = q->to - q->from <= DAY_MS ? "%e %B %Y" : "%B %Y";
    struct words w = words_of(a, time_write(a, q->from, format), 3);
    for (size_t i = 0; i < w.n; i++)
        add_stem(q, promises, &w.v[i]);
}

/* `asked` is when the question is asked (unix ms), which "yesterday" is counted from. The texts
 * point into the question or the arena. */
struct query query_of(struct arena *a, str question, int64_t asked)
{
    struct query q = {0};
    int promises[QUERY_WORDS_MAX];
    struct words w = words_of(a, question, QUESTION_WORDS_MAX);
    read_kind(&q, &w);
    read_dates(&q, &w);
    read_relative(&q, &w, asked);
    for (size_t i = 0; i < w.n; i++)
        if (!w.v[i].is_stop)
            add_stem(&q, promises, &w.v[i]);
    if (q.to)
        add_date(a, &q, promises);
    return q;
}
