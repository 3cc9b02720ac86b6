/* time_phrase.c - the times that questions name, and what names none. */
#include "engine/questions/time_phrase.h"

#include "base/time_text.h"
#include "engine/questions/query.h"
#include "t.h"

static const int64_t friday = 1795154400000; /* 2026-11-20T06:00Z */

static struct times read_times(struct ctx *ctx, const char *text)
{
    struct words w = words_of(&ctx->arena, str_of(text), 100);
    return times_of(&w, str_of(text), friday);
}

static int64_t at(const char *day)
{
    int64_t ms;
    return time_read(str_of(day), &ms) ? ms : -1;
}

static bool time_holds(const struct times *t, const char *day)
{
    bool any = false;
    for (size_t i = 0; i < t->n; i++)
        any |= time_phrase_has(&t->v[i], at(day) + 43200000);
    return any;
}

/* The first and the last day of the time, and a day outside on either side. */
struct time_case {
    const char *text, *first, *last, *before, *behind;
};

static void check_time(const struct times *t, const struct time_case *c)
{
    bool first = time_holds(t, c->first), last = time_holds(t, c->last);
    bool before = time_holds(t, c->before), behind = time_holds(t, c->behind);
    if (!first || !last || before || behind)
        fail_msg("%s: %zu times, %d %d %d %d", c->text, t->n, first, last, before, behind);
}

static void check_times(struct ctx *ctx, const struct time_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct times t = read_times(ctx, cases[i].text);
        check_time(&t, &cases[i]);
    }
}

TEST(questions_name_times)
{
    static const struct time_case cases[] = {
        {"What did we decide yesterday?", "2026-11-19", "2026-11-19", "2026-11-18", "2026-11-20"},
        {"What did I eat today?", "2026-11-20", "2026-11-20", "2026-11-19", "2026-11-21"},
        {"where was I the day before yesterday", "2026-11-18", "2026-11-18", "2026-11-17",
         "2026-11-19"},
        {"what happened last week", "2026-11-09", "2026-11-15", "2026-11-08", "2026-11-16"},
        {"what did I do last weekend", "2026-11-14", "2026-11-15", "2026-11-13", "2026-11-16"},
        {"the trip last month", "2026-10-01", "2026-10-31", "2026-09-30", "2026-11-01"},
        {"What did I plant last year?", "2025-01-01", "2025-12-31", "2024-12-31", "2026-01-01"},
        {"Where did we go last May?", "2026-05-01", "2026-05-31", "2026-04-30", "2026-06-01"},
        {"Where did we go last December?", "2025-12-01", "2025-12-31", "2025-11-30", "2026-12-01"},
        {"What did I read last summer?", "2026-06-01", "2026-08-31", "2026-05-31", "2026-09-01"},
        {"what did I say last Tuesday", "2026-11-17", "2026-11-17", "2026-11-16", "2026-11-18"},
        {"What did Ana tell me on Friday?", "2026-11-13", "2026-11-13", "2026-11-12", "2026-11-14"},
        {"Where was she in May 2023?", "2023-05-01", "2023-05-31", "2023-04-30", "2024-05-10"},
        {"Where was she in may 2023?", "2023-05-01", "2023-05-31", "2023-04-30", "2024-05-10"},
        {"What was said in Mar 2025?", "2025-03-01", "2025-03-31", "2025-02-28", "2024-03-05"},
        {"What did I buy in june?", "2024-06-01", "2026-06-30", "2026-05-31", "2026-07-01"},
        {"Where was she on 8 May 2023?", "2023-05-08", "2023-05-08", "2023-05-07", "2023-06-01"},
        {"Where was she on May 8th, 2023?", "2023-05-08", "2023-05-08", "2023-05-07", "2023-06-01"},
        {"and on the 8th of May?", "2026-05-08", "2026-05-08", "2026-05-07", "2026-06-01"},
        {"where was I on 2023-05-08", "2023-05-08", "2023-05-08", "2023-05-07", "2023-06-01"},
        {"in the summer of 2023, where did we go", "2023-06-01", "2023-08-31", "2023-05-31",
         "2023-09-01"},
        {"Which state did I visit in summer 2021?", "2021-06-01", "2021-08-31", "2021-05-31",
         "2022-07-01"},
        {"what did I do in 2024?", "2024-01-01", "2024-12-31", "2023-12-31", "2025-01-01"},
        {"what did I say two weeks ago", "2026-11-02", "2026-11-08", "2026-11-01", "2026-11-09"},
        {"what did I say 3 days ago", "2026-11-17", "2026-11-17", "2026-11-16", "2026-11-18"},
        {"who called me a month ago?", "2026-10-01", "2026-10-31", "2026-09-30", "2026-11-01"},
        {"what did I do in the last two weeks", "2026-11-06", "2026-11-20", "2026-11-05",
         "2026-11-22"},
        {"what did I do the last two weekends", "2026-11-07", "2026-11-15", "2026-11-06",
         "2026-11-16"},
        {"Where was I the past couple of weekends?", "2026-11-07", "2026-11-15", "2026-11-06",
         "2026-11-16"},
        {"what did we do two weekends ago", "2026-11-07", "2026-11-08", "2026-11-06", "2026-11-09"},
        {"What have I read since March?", "2026-03-01", "2026-11-20", "2026-02-28", "2026-11-22"},
        {"What have I read since last Monday?", "2026-11-16", "2026-11-20", "2026-11-15",
         "2026-11-22"},
        {"what did I do before May 2023", "2001-05-01", "2023-04-30", "2023-05-01", "2023-05-02"},
        {"what did I do after May 2023", "2023-06-01", "2026-11-20", "2023-05-31", "2026-11-22"},
        {"where was I between May and July?", "2026-05-01", "2026-07-31", "2026-04-30",
         "2026-08-01"},
        {"Where was John between August 11 and August 15 2023?", "2023-08-11", "2023-08-15",
         "2023-08-10", "2023-08-16"},
        {"what did I do from November to March", "2025-11-01", "2026-03-31", "2025-10-31",
         "2026-04-01"},
        {"what did I do between December and February 2024?", "2023-12-01", "2024-02-29",
         "2023-11-30", "2024-03-01"},
        {"what happened on 29 February?", "2024-02-29", "2024-03-02", "2024-02-28", "2026-03-01"},
        {"what did I do this Tuesday?", "2026-11-17", "2026-11-17", "2026-11-16", "2026-11-24"},
        {"what did I say this Friday?", "2026-11-20", "2026-11-20", "2026-11-19", "2026-11-27"},
        {"where was I on 8.5.99", "1999-05-08", "1999-05-10", "1999-05-07", "2099-05-08"},
        {"what did I do in early May 2023", "2023-05-01", "2023-05-10", "2023-04-30", "2023-05-20"},
        {"where was I at the end of July", "2026-07-25", "2026-07-31", "2026-07-15", "2026-08-01"},
        {"what did we eat at Christmas", "2025-12-24", "2025-12-26", "2025-12-23", "2025-12-27"},
        {"What did John do the week before August 3, 2023?", "2023-07-27", "2023-08-03",
         "2023-07-26", "2023-08-04"},
        {"What did she get two weeks before August 11, 2023?", "2023-07-25", "2023-07-31",
         "2023-07-24", "2023-08-01"},
        {"What did they plan to do on the Saturday after October 28, 2023?", "2023-10-28",
         "2023-11-04", "2023-10-27", "2023-11-06"},
        {"What did Maria join last weekend before April 10, 2023?", "2023-04-03", "2023-04-10",
         "2023-04-02", "2023-04-11"},
        {"What did Maria do the last two weekends before April 10, 2023?", "2023-04-01",
         "2023-04-10", "2023-03-31", "2023-04-11"},
        {"What did Maria do two weekends before April 10, 2023?", "2023-04-01", "2023-04-02",
         "2023-03-31", "2023-04-06"},
        {"What did Maria do two weekends after April 10, 2023?", "2023-04-22", "2023-04-23",
         "2023-04-21", "2023-04-27"},
        {"What did she do two weekends after April 8, 2023?", "2023-04-22", "2023-04-23",
         "2023-04-21", "2023-04-27"},
        {"What did she read the last two weeks before April 10, 2023?", "2023-03-27", "2023-04-10",
         "2023-03-26", "2023-04-11"},
        {"Where was Tim in the second week of November 2023?", "2023-11-01", "2023-11-30",
         "2023-10-31", "2023-12-01"},
        {"Was habe ich gestern gesagt?", "2026-11-19", "2026-11-19", "2026-11-18", "2026-11-20"},
        {"Was war letzte Woche?", "2026-11-09", "2026-11-15", "2026-11-08", "2026-11-16"},
        {"Wo war ich die letzten zwei Wochenenden?", "2026-11-07", "2026-11-15", "2026-11-06",
         "2026-11-16"},
        {"Wo war ich an den letzten beiden Wochenenden?", "2026-11-07", "2026-11-15", "2026-11-06",
         "2026-11-16"},
        {"Wo waren wir letzten Mai?", "2026-05-01", "2026-05-31", "2026-04-30", "2026-06-01"},
        {"Was habe ich vor zwei Wochen erzählt?", "2026-11-02", "2026-11-08", "2026-11-01",
         "2026-11-09"},
        {"Wo war ich im Sommer 2023?", "2023-06-01", "2023-08-31", "2023-05-31", "2024-07-01"},
        {"Was habe ich seit März gelesen?", "2026-03-01", "2026-11-20", "2026-02-28", "2026-11-22"},
        {"Wo war ich am 8. Mai 2023?", "2023-05-08", "2023-05-10", "2023-05-07", "2023-05-11"},
        {"Wo war ich am 8.5.2023?", "2023-05-08", "2023-05-10", "2023-05-07", "2023-05-11"},
        {"Was habe ich zwischen Mai und Juli gemacht?", "2026-05-01", "2026-07-31", "2026-04-30",
         "2026-08-01"},
        {"Was habe ich am Montag gekocht?", "2026-11-16", "2026-11-16", "2026-11-15", "2026-11-17"},
        {"Was habe ich Ende Juli gemacht?", "2026-07-25", "2026-07-31", "2026-07-15", "2026-08-01"},
    };
    check_times(ctx, cases, sizeof cases / sizeof *cases);
}

TEST(what_looks_like_a_time_and_is_none)
{
    static const char *const texts[] = {
        "may I march on?",
        "May I ask something?",
        "you may have two",
        "may 2 people come along?",
        "The second one, please",
        "the first of them",
        "what did April say?",
        "What did May say to you?",
        "Mark my words",
        "What shall I cook today?",
        "a plan for this week",
        "What is on Friday?",
        "what am I doing tomorrow",
        "What did he do next May?",
        "a recipe for spring rolls",
        "did I fall asleep?",
        "how many people live in 2000 houses",
        "my last week of school was fun",
        "the last one I had",
        "one day I had an idea",
        "I had two weeks",
        "a day in the life",
        "Sun, sea and sand, did I like it?",
        "What did I say about the year?",
        "Was mag ich?",
        "Mach das vor dem Essen",
        "on my desk, what did I put?",
        "what should I do before the meeting?",
        "before you go, what was it?",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct times t = read_times(ctx, texts[i]);
        if (t.n)
            fail_msg("%s: %zu", texts[i], t.n);
    }
}

TEST(a_relative_time_is_searched_as_a_date)
{
    struct query q = query_of(&ctx->arena, S("What did we decide yesterday?"), friday);
    bool has_month = false, has_word = false;
    for (size_t i = 0; i < q.n; i++) {
        has_month |= str_is(q.texts[i], "November");
        has_word |= str_is(q.texts[i], "yesterday");
    }
    CHECK(has_month && !has_word);
    q = query_of(&ctx->arena, S("Where did we go last May?"), friday);
    for (size_t i = 0; i < q.n; i++)
        has_word |= str_is(q.texts[i], "2026");
    CHECK(has_word);
}
