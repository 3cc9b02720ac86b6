/* query.c - a question as recall sees it: the words to search, what kind of answer, which time. */
#include "engine/questions/query.h"
#include "base/clock.h"
#include "base/time_text.h"
#include "engine/text/lexicon.h"
#include "engine/text/phrases.h"
#include "lang/broad_lists.h"
#include "lang/query_lists.h"

/*
 * Example: "What did Ana tell me about the boat yesterday?" asked on 20 November becomes the stems
 * of its telling words, such as Ana and boat, and those of "19 November 2026", with the time of
 * that day in from and to. At most QUERY_WORDS_MAX words are searched, the most promising ones:
 * names, numbers, long words. Its times are as time_local gives them.
 */

enum { QUESTION_WORDS_MAX = 2000 };

/* "when", "what year", "how many", "who": what an answer has to hold. */
static void read_kind(struct query *q, const struct words *w)
{
    str second = w->n > 1 ? w->v[1].text : S("");
    bool what = words_are(w, 0, "what") || words_are(w, 0, "which"), how = words_are(w, 0, "how");
    q->wants_date = words_are(w, 0, "when") || (what && str_is_one_of(second, time_questions)) ||
                    (how && words_are(w, 1, "long"));
    q->wants_number = how && str_is_one_of(second, size_questions);
    q->wants_name = words_are(w, 0, "who") || words_are(w, 0, "where") || words_are(w, 0, "which");
    q->wants_name |= SOME(i, w->n, words_are(w, i, "name") || words_are(w, i, "names"));
}

/* "Last", "week" and "ago" of a time say nothing to search for; a date is searched instead. */
static void leave_relative(const struct query *q, struct words *w)
{
    for (size_t i = 0; i < q->times.n; i++) {
        const struct time_phrase *p = &q->times.v[i];
        for (size_t k = p->at; p->is_relative && k < p->end; k++)
            w->v[k].is_stop |= time_word_is_bare(w->v[k].text);
    }
}

bool query_has_time(const struct query *q, int64_t t)
{
    return SOME(i, q->times.n, time_phrase_has(&q->times.v[i], time_local(t)));
}

/* How much a word promises before any look-up: names, numbers and long words first. */
static int promise(const struct word *w)
{
    return (w->is_name ? 100 : 0) + (w->is_number ? 50 : 0) +
           (w->stem.n < 12 ? (int)w->stem.n : 12);
}

/* Each stem once. A long message has more words than can be searched: the least promising gives
 * way. "Do you remember" asks and says nothing. */
static void add_stem(struct query *q, int *promises, const struct word *w)
{
    if (lexicon_is(w->stem, LEX_ASKING) || SOME(i, q->n, str_eq(q->stems[i], w->stem)))
        return;
    bool is_full = q->n == QUERY_WORDS_MAX;
    size_t at = is_full ? 0 : q->n++;
    for (size_t i = 1; is_full && i < q->n; i++)
        if (promises[i] < promises[at])
            at = i;
    if (is_full && promises[at] >= promise(w))
        return;
    promises[at] = promise(w);
    q->stems[at] = w->stem;
    q->texts[at] = w->text;
}

/* Messages are labelled with their date: "yesterday" is searched as "19 November 2026", "last
 * month" as "October 2026", "last year" as "2025". */
static void add_date(struct arena *a, struct query *q, int *promises, struct time_span span)
{
    enum { MONTH_DAYS = 31, YEAR_DAYS = 366 };
    int64_t days = (span.to - span.from) / DAY_MS;
    const char *format = days <= 1 ? "%e %B %Y" : days <= MONTH_DAYS ? "%B %Y" : "%Y";
    if (days > YEAR_DAYS)
        return;
    struct words w = words_of(a, time_utc(a, span.from, format), 3);
    for (size_t i = 0; i < w.n; i++)
        add_stem(q, promises, &w.v[i]);
}

struct query query_of(struct arena *a, str question, int64_t asked)
{
    struct query q = {0};
    int promises[QUERY_WORDS_MAX];
    struct words w = words_for(a, question, QUESTION_WORDS_MAX, TO_ASK);
    read_kind(&q, &w);
    /* What was: "did", "have we". What was said: "mentioned", "a summary". */
    q.asks_past = lexicon_in(&w, LEX_PAST) || words_have(&w, talk_words);
    /* "Suggest a gift", "What nibbles should I put out?", "Can I have an espresso?" */
    q.asks_advice = words_have(&w, suggestion_words);
    q.times = times_of(&w, question, time_local(asked));
    leave_relative(&q, &w);
    for (size_t i = 0; i < w.n; i++)
        if (!w.v[i].is_stop)
            add_stem(&q, promises, &w.v[i]);
    for (size_t i = 0; i < q.times.n; i++)
        if (q.times.v[i].is_relative)
            add_date(a, &q, promises, q.times.v[i].span);
    return q;
}

struct time_span query_span(const struct query *q)
{
    for (size_t i = 0; i < q->times.n; i++)
        if (!q->times.v[i].months)
            return (struct time_span){time_of_local(q->times.v[i].span.from),
                                      time_of_local(q->times.v[i].span.to)};
    return (struct time_span){0, 0};
}

bool query_is_broad(struct arena *a, str question)
{
    struct phrase_words w = phrase_words_of(a, phrase_fold(a, question));
    return !phrase_find_any(&w, length_questions) && phrase_find_any(&w, broad_questions);
}
