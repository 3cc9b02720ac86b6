/* event_day.c - the day that a statement gives to an event. */
#include "engine/questions/event_day.h"

#include "base/clock.h"
#include "engine/text/sentences.h"
#include "engine/text/utterance.h"
#include "lang/event_day_lists.h"

/* Words of an event and of a sentence; longer stretches of time ("in 2023") give no day. */
enum { EVENT_WORDS = 12, SENTENCE_WORDS = 100, DAYS_MAX = 31 };

static bool holds_stem(const struct words *w, str stem)
{
    for (size_t i = 0; i < w->n; i++)
        if (str_eq(w->v[i].stem, stem))
            return true;
    return false;
}

static bool speaks_of(const struct words *event, const struct words *sentence)
{
    size_t telling = 0;
    for (size_t i = 0; i < event->n; i++) {
        if (event->v[i].is_stop)
            continue;
        if (!holds_stem(sentence, event->v[i].stem))
            return false;
        telling++;
    }
    return telling > 0;
}

bool event_day_of(struct arena *a, str event, str statement, int64_t said, struct event_day *out)
{
    struct words e = words_of(a, event, EVENT_WORDS);
    struct sentence s;
    bool found = false;
    for (str rest = statement; sentence_cut(&rest, &s);) {
        struct words w = words_of(a, s.text, SENTENCE_WORDS);
        if (!speaks_of(&e, &w) || s.asks || sentence_asks(s.text))
            continue;
        struct times t = times_of(&w, s.text, said, TIMES_OF_STATEMENT);
        for (size_t i = 0; i < t.n; i++)
            if (!t.v[i].months && t.v[i].span.to - t.v[i].span.from <= DAYS_MAX * DAY_MS) {
                *out = (struct event_day){t.v[i].span.from, true};
                return true;
            }
        *out = (struct event_day){said, false};
        found = true;
    }
    return found;
}

bool event_is_yearly(struct arena *a, str event)
{
    struct words w = words_of(a, event, EVENT_WORDS);
    return words_have(&w, yearly_days);
}
