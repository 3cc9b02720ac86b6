/* complete.c - what a question is completed by before it is searched: days of events, names. */
#include "engine/recall/complete.h"

#include "base/clock.h"
#include "base/time_text.h"
#include "engine/questions/event_day.h"
#include "engine/questions/names.h"

/*
 * Two things that a question's own words do not hold. "The week before the wedding": the wedding is
 * looked for, and the day that a statement gives it is the day that is meant. "What does Anna
 * like?" after "My wife is called Anna": the fact that gives the name is looked for, and "wife" is
 * searched as if it were "Anna", and the other way round. So there is no table of names that could
 * outlive a fact: what was forgotten, closed or barred names nobody.
 */

/* Results that are looked at for an event's day; memories that give a name: documents taken from
 * the index, read. */
enum { EVENT_LOOKED_AT = 8, NAMES_HITS = 2000, NAMES_READ = 16 };

/* --- events --- */

/* The day that the best result names; where none names one, that of the best that speaks of it. */
static bool day_of_event(const struct finder *f, const struct recall_out *found, int64_t *day)
{
    struct arena *a = &f->ctx->arena;
    str event = f->query.times.event.event;
    bool is_known = false;
    for (size_t i = 0; i < found->n; i++) {
        const struct recalled *r = &found->v[i];
        int64_t said = r->is_memory ? r->memory.created : r->message.created;
        struct event_day told;
        if (!event_day_of(a, event, found_text(r), said, &told) || (is_known && !told.is_named))
            continue;
        *day = told.day;
        is_known = true;
        if (told.is_named)
            break;
    }
    return is_known;
}

/* The event's own words are asked as a question of their own, so that whatever bars or ends a
 * result holds here, too. */
static enum status find_event(struct finder *f)
{
    struct recall_in ask = *f->in;
    struct recall_out found;
    int64_t day = 0, now = ask.asked ? ask.asked : clock_ms();
    if (f->query.times.event.side == EVENT_NONE)
        return OK;
    ask.question = f->query.times.event.event;
    ask.gate = false;
    ask.is_preview = ask.is_unordered = ask.words_only = true;
    ask.limit = EVENT_LOOKED_AT;
    ask.budget_tokens = -1;
    TRY(find_recalled(f->ctx, f->e, &ask, &found));
    if (!day_of_event(f, &found, &day))
        return OK;
    if (event_is_yearly(&f->ctx->arena, ask.question))
        day = time_last_anniversary(day, now);
    query_set_event(&f->query, day, now);
    return OK;
}

/* --- names --- */

/* Which word of the question this is, or n. */
static size_t word_of(const struct query *q, str stem)
{
    size_t i = 0;
    while (i < q->n && !str_eq(q->stems[i], stem))
        i++;
    return i;
}

static str stem_of(struct arena *a, str word)
{
    struct words w = words_of(a, word, 1);
    return w.n && !w.v[0].is_stop ? w.v[0].stem : S("");
}

/* The question with the name in the place of the thing, for rules that read whole questions. */
static str asked_with(struct arena *a, str question, str word, str instead)
{
    size_t at = str_find(question, word);
    if (at == question.n)
        return question;
    return str_printf(a, S_FMT S_FMT S_FMT, S_ARG(str_sub(question, 0, at)), S_ARG(instead),
                      S_ARG(str_sub(question, at + word.n, question.n)));
}

/* One of the two stands in the question: the other is searched as well. */
static void add_name(struct finder *f, const struct naming *naming)
{
    struct arena *a = &f->ctx->arena;
    const struct query *q = &f->query;
    str thing = stem_of(a, naming->thing), name = stem_of(a, naming->name);
    size_t has_thing = word_of(q, thing), has_name = word_of(q, name);
    bool is_thing = has_thing < q->n;
    if (!thing.n || !name.n || is_thing == (has_name < q->n) ||
        q->n + f->n_names >= QUERY_WORDS_MAX)
        return;
    f->names[f->n_names++] = (struct other_name){.of = is_thing ? has_thing : has_name,
                                                 .stem = is_thing ? name : thing,
                                                 .text = is_thing ? naming->name : naming->thing};
    str mine = naming->is_of_user ? str_printf(a, "my " S_FMT, S_ARG(naming->thing))
                                  : naming->thing;
    if (!f->asked_also.n)
        f->asked_also = is_thing ? asked_with(a, f->in->question, q->texts[has_thing], naming->name)
                                 : asked_with(a, f->in->question, q->texts[has_name], mine);
}

/* Facts that give a name have "name" in their key, which is searched like a word. */
static enum status find_names(struct finder *f)
{
    struct arena *a = &f->ctx->arena;
    struct query *q = &f->query;
    str stems[QUERY_WORDS_MAX];
    size_t n = q->n < QUERY_WORDS_MAX ? q->n : QUERY_WORDS_MAX - 1, read = 0;
    struct word_hits hits;
    doc_id docs[NAMES_READ];
    struct memory v[NAMES_READ];
    if (f->in->turns_only || !n)
        return OK;
    memcpy(stems, q->stems, n * sizeof *stems);
    stems[n] = stem_of(a, S("name"));
    TRY(past_words(f->ctx, f->e, f->in->pool, &f->past, true, stems, n + 1, NAMES_HITS, &hits));
    for (size_t i = hits.n; i-- > 0 && read < NAMES_READ;) {
        unsigned any = 0;
        for (size_t w = 0; w < n; w++)
            any |= hits.v[i].counts[w];
        if (any && hits.v[i].counts[n])
            docs[read++] = hits.v[i].doc;
    }
    TRY(past_memories(f->ctx, f->e, f->in->pool, &f->past, docs, read, v));
    for (size_t i = 0; i < read; i++) {
        struct recalled r = {.is_memory = true, .memory = v[i]};
        struct naming naming;
        bool gives_name = str_find(v[i].key, S("_name")) < v[i].key.n;
        if (gives_name && v[i].origin != ORIGIN_TOOL && find_shows(f, &r) && !r.is_cut &&
            naming_of(v[i].content, &naming))
            add_name(f, &naming);
    }
    return OK;
}

enum status complete_question(struct finder *f)
{
    TRY(find_event(f));
    return find_names(f);
}

/* --- the search --- */

/* Own words in the low half of a count: another name counts once, however often it stands there. */
static uint8_t joined_count(uint8_t own, uint8_t other)
{
    return own ? own : other & 15 ? 1 : other;
}

static void join_names(const struct finder *f, struct word_hits *hits)
{
    for (size_t k = 0; k < f->n_names; k++) {
        size_t of = f->names[k].of, other = f->query.n + k;
        hits->found[of] = hits->found[of] == UINT32_MAX ? UINT32_MAX : 0;
        for (size_t i = 0; i < hits->n; i++) {
            uint8_t *counts = hits->v[i].counts;
            counts[of] = joined_count(counts[of], counts[other]);
            counts[other] = 0;
            hits->found[of] += hits->found[of] != UINT32_MAX && counts[of];
        }
    }
}

enum status complete_words(struct finder *f, size_t max, struct word_hits *out)
{
    const struct query *q = &f->query;
    str stems[QUERY_WORDS_MAX];
    memcpy(stems, q->stems, q->n * sizeof *stems);
    for (size_t k = 0; k < f->n_names; k++)
        stems[q->n + k] = f->names[k].stem;
    TRY(past_words(f->ctx, f->e, f->in->pool, &f->past, f->in->memories_only, stems,
                   q->n + f->n_names, max, out));
    join_names(f, out);
    return OK;
}
