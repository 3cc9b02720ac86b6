/* recall.c - from a question to a ranked list of messages and memories, with the reasons. */
#include <math.h>

#include "base/clock.h"
#include "core/settings.h"
#include "core/tokens.h"
#include "engine/distil.h"
#include "engine/gate/evidence.h"
#include "engine/questions/snippet.h"
#include "engine/recall/about.h"
#include "engine/recall/beside.h"
#include "engine/recall/block.h"
#include "engine/recall/candidates.h"
#include "engine/recall/complete.h"
#include "engine/recall/currency.h"
#include "engine/recall/features.h"
#include "engine/recall/held.h"
#include "engine/recall/others.h"
#include "engine/recall/successors.h"
#include "engine/recall/user_facts.h"
#include "engine/recall/verdict.h"
#include "engine/state/state.h"
#include "engine/text/memory_intent.h"
#include "engine/text/rank.h"
#include "engine/text/sentences.h"
#include "engine/text/traces.h"
#include "engine/text/utterance.h"

/*
 * Stages of one recall, in this order:
 *   0. complete.c looks up the day of an event that the question names, and other names; a question
 *      for all that was said of something (broad.c) looks wider in stages 1, 3 and 5
 *   1. candidates.c finds and scores messages and memories (find_in_scope)
 *   2. the reranking model orders them, where one is set; namesakes score nothing (find_ordered)
 *   3. the gate decides whether memory speaks (verdict_of), and which of the lines that were found
 *      are worth their room (verdict_mark: again after each stage that adds lines)
 *   4. known facts, attributes and successors go beside what was found (add_more)
 *   5. pasted text, instructions and outdated lines go, and the budget is filled (choose)
 *
 * Stages 3 to 5 are for chats; a search without a gate takes all that was found. decisions/005,
 * 021, 022 and 023 say why each is there and what it was measured to give.
 */

/* Characters of a question that is none; bytes of a text that are shown. */
enum { QUESTION_MIN = 3, SHOWN_MAX = 600 };

/* A question that asks for all that was said of something, in order or counted: times as many
 * results are ranked, and given at most; bytes of each that are shown. So the same budget holds
 * more of them (decisions/045). */
enum { BROAD_DEEP = 3, BROAD_TIMES = 2, BROAD_SHOWN = 200 };

/* Bytes of a message that a chat is shown: of people, who say little at a time; of a chat with an
 * assistant, whose first results are the most likely to answer (decisions/049). */
enum {
    PEOPLE_SHOWN = 400,
    FIRST_SHOWN = 320,
    SECOND_SHOWN = 220,
    THIRD_SHOWN = 200,
    LATER_SHOWN = 140
};

/* Times the threshold from which on what was found comes before what tells of an attribute. */
enum { TOLD_GATES = 2 };

/* --- what is known --- */

/* Where the question asks for memory and nothing found is sure: what is known about the user goes
 * in instead. */
static enum status add_known(struct finder *f, struct finder *space, struct gate gate,
                             int64_t budget, struct verdict *v)
{
    struct arena *a = &f->ctx->arena;
    struct recalled *known;
    size_t n;
    TRY(known_of(space, f->in->after, budget, &known, &n));
    n = find_shown(space, known, n);
    find_name_space(space, known, n);
    if (!n)
        return OK;
    struct recalled *all = NEW_N(a, struct recalled, n + f->n);
    const struct candidate **of = NEW_N(a, const struct candidate *, n + f->n);
    memcpy(all, known, n * sizeof *all);
    size_t total = n;
    for (size_t i = 0; i < f->n; i++) {
        bool is_there = false;
        for (size_t k = 0; k < n; k++)
            is_there |= f->found[i].is_memory && known[k].memory.doc == f->found[i].memory.doc;
        if (is_there)
            continue;
        of[total] = f->of[i];
        all[total++] = f->found[i];
    }
    f->found = all;
    f->of = of;
    f->n = total;
    v->decision = str_of(gate_section_names[gate.section]);
    v->reason = str_printf(a, "asks for memory (\"" S_FMT "\"), and nothing found is sure",
                           S_ARG(gate.phrase));
    v->least = f->e->settings->gate_threshold;
    return OK;
}

/* A chat's line loses secrets; one that reads as an instruction is left out. */
static bool may_be_given(struct finder *f, struct recalled *r)
{
    if (!f->in->gate)
        return true;
    const struct pool_ref pool = {f->in->pool.user, r->space};
    struct given line = held_line(f->ctx, f->e, pool, r, !f->in->is_preview);
    r->text = line.text;
    if (!line.text.n) {
        r->why = str_of(line.why);
        count(&f->e->counters.instructions, !f->in->is_preview);
    }
    return line.text.n;
}

/* --- the new beats the old --- */

/* Whether a result is in the list already, by id. */
static bool is_about(const struct about *about, const struct recalled *r)
{
    for (size_t i = 0; i < about->n; i++)
        if (about->v[i].is_memory == r->is_memory &&
            (r->is_memory ? str_eq(about->v[i].memory.id, r->memory.id)
                          : str_eq(about->v[i].message.id, r->message.id)))
            return true;
    return false;
}

/* What was noted from a message is as old as the message, however late it was noted. */
static void date_by_source(struct dated_line *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n && v[i].source.n; k++)
            if (str_eq(v[k].id, v[i].source)) {
                v[i].created = v[k].created;
                v[i].place = v[k].place;
            }
}

/* Not found by the question, or hardly: what tells of the attribute that is asked for is surer. */
static bool is_unsure(const struct finder *f, size_t i)
{
    return !f->of[i] || f->found[i].score < TOLD_GATES * f->e->settings->gate_threshold;
}

/* What bears on a request goes in front, what answers a question behind what is sure. */
static void put_beside(struct finder *f, const struct about *about)
{
    struct arena *a = &f->ctx->arena;
    struct recalled *all = NEW_N(a, struct recalled, about->n + f->n);
    const struct candidate **of = NEW_N(a, const struct candidate *, about->n + f->n);
    size_t n = 0, next = about->n_first;
    for (size_t i = 0; i < next; i++)
        all[n++] = about->v[i];
    for (size_t i = 0; i < f->n; i++) {
        while (next < about->n && about->v[next].is_told && is_unsure(f, i))
            all[n++] = about->v[next++];
        if (is_about(about, &f->found[i]))
            continue;
        of[n] = f->of[i];
        all[n++] = f->found[i];
    }
    while (next < about->n)
        all[n++] = about->v[next++];
    f->found = all;
    f->of = of;
    f->n = n;
}

/* A space sees all that was found. */
static void look_from(struct finder *space, const struct finder *f)
{
    space->found = f->found;
    space->of = f->of;
    space->n = f->n;
}

/* Then what replaces a line that would be given, which the question may not find, and what such a
 * line replaced under its key. */
static enum status add_successors(struct finder *f, struct finder *space, const struct verdict *v)
{
    struct about successors, predecessors;
    if (!f->in->gate || f->in->turns_only || v->least > 1 || f->in->strategy == STRATEGY_RECENT)
        return OK;
    look_from(space, f);
    TRY(successors_find(space, &successors));
    if (successors.n)
        put_beside(f, &successors);
    look_from(space, f);
    TRY(predecessors_find(space, &predecessors));
    if (predecessors.n)
        put_beside(f, &predecessors);
    return OK;
}

/* Where the gate was silent, for the sake of what was put beside what was found. */
static void speak(struct verdict *v, str reason, double least)
{
    v->decision = S("memory");
    v->reason = reason;
    v->least = least;
    v->is_sure = true;
}

/* Puts what the user told of it elsewhere beside what was found. */
static enum status add_about(struct finder *f, struct finder *space, struct verdict *v)
{
    struct about about;
    look_from(space, f);
    TRY(about_find(space, v->least > 1, &about));
    if (!about.n)
        return OK;
    find_name_space(space, about.v, about.n);
    put_beside(f, &about);
    if (v->least > 1)
        speak(v, about.reason, f->e->settings->gate_threshold);
    return OK;
}

/* What the user asked for once and for all stands in front of the rest, and is given though nothing
 * else is. */
static enum status add_standing(struct finder *f, struct finder *space, int64_t budget,
                                struct verdict *v)
{
    struct about standing = {.reason = S(ONLY_STANDING)};
    if (!f->in->gate || f->in->turns_only || f->in->type.n || f->in->layer.n ||
        f->in->strategy == STRATEGY_RECENT || f->in->scope == SCOPE_SESSION)
        return OK;
    look_from(space, f);
    TRY(standing_of(space, v->least <= 1, budget, &standing.v, &standing.n));
    if (!standing.n)
        return OK;
    standing.n_first = standing.n;
    find_name_space(space, standing.v, standing.n);
    put_beside(f, &standing);
    if (v->least > 1)
        speak(v, standing.reason, 1);
    return OK;
}

/* A closed value was replaced by what its key got next, whatever the two say. */
static void settle_closed(const struct finder *f, struct dated_line *lines)
{
    for (size_t i = 0; i < f->n; i++)
        for (size_t k = 0; k < f->n && f->found[i].is_memory && f->found[i].memory.valid_to; k++)
            if (f->found[k].is_memory &&
                str_eq(f->found[k].memory.id, f->found[i].memory.superseded_by)) {
                lines[i].is = REPLACED;
                lines[i].by = k;
            }
}

/* A line that a later one replaces is left out, or marked where that is not sure or the question
 * asks how it was; the later one goes in with it. */
static void settle_currency(struct finder *f, bool *given)
{
    struct arena *a = &f->ctx->arena;
    struct dated_line *lines = NEW_N(a, struct dated_line, f->n + 1);
    bool asks_past = currency_asks_past(a, f->in->question);
    for (size_t i = 0; i < f->n; i++)
        lines[i] = dated_line_of(a, &f->found[i]);
    date_by_source(lines, f->n);
    settle_closed(f, lines);
    currency_judge(a, f->in->question, lines, f->n, given);
    for (size_t i = 0; i < f->n; i++) {
        struct recalled *r = &f->found[i], *by = &f->found[lines[i].by];
        /* Instructions end one another by rules of their own (standing_ends). */
        if (!given[i] || lines[i].is == CURRENT || r->is_standing)
            continue;
        if (!given[lines[i].by] && !may_be_given(f, by))
            continue;
        given[lines[i].by] = true;
        given[i] = lines[i].is != REPLACED || asks_past;
        r->text = str_printf(a, S_FMT S_FMT, S_ARG(currency_mark(lines[i].is)), S_ARG(r->text));
        if (!given[i])
            r->why = S("a later line replaces it");
    }
}

/* Somebody chose to keep a memory, so it is shown like the results of a search. */
static size_t room_of(const struct finder *f, const struct recalled *r, size_t place)
{
    static const size_t rooms[] = {FIRST_SHOWN, SECOND_SHOWN, THIRD_SHOWN, LATER_SHOWN};
    enum { ROOMS = sizeof rooms / sizeof *rooms };
    if (!f->in->gate)
        return SHOWN_MAX;
    size_t room = r->is_memory           ? SHOWN_MAX
                  : r->message.speaker.n ? PEOPLE_SHOWN
                                         : rooms[place < ROOMS ? place : ROOMS - 1];
    return f->broad && room > BROAD_SHOWN ? BROAD_SHOWN : room;
}

/* Of a message a chat reads sentences; the rest is shown like the results of a search. */
static void show_part(const struct finder *f, struct recalled *r, size_t place)
{
    struct arena *a = &f->ctx->arena;
    str text = found_text(r);
    size_t room = room_of(f, r, place);
    bool has_sentences = f->in->gate && !r->is_memory;
    r->is_part = text.n > room;
    if (has_sentences && r->told.n && r->is_part) {
        r->text = passage_around(a, text, r->told, room);
        return;
    }
    r->text = (has_sentences ? passage_of : excerpt_of)(a, text, &f->query, f->weights, room);
}

/* Marks what goes in: over the bar, and within the budget in the order of rank. */
static enum status choose(struct finder *f, int64_t budget, int64_t *sum)
{
    size_t n = 0, place = 0;
    int64_t *tokens = NEW_N(&f->ctx->arena, int64_t, f->n + 1), total = 0;
    size_t *which = NEW_N(&f->ctx->arena, size_t, f->n + 1);
    bool *given = NEW_N(&f->ctx->arena, bool, f->n + 1);
    for (size_t i = 0; i < f->n; i++) {
        struct recalled *r = &f->found[i];
        show_part(f, r, place);
        if (f->of[i])
            r->why = found_why(&f->ctx->arena, &f->query, f->of[i], r);
        r->tokens = tokens_of(r->text);
        given[i] = r->is_wanted && may_be_given(f, r);
        n += given[i];
        place += given[i] && !r->is_standing;
    }
    if (f->in->gate && n) {
        TRY(pasted_leave_out(f, given));
        settle_currency(f, given);
    }
    n = 0;
    for (size_t i = 0; i < f->n; i++) {
        if (!given[i])
            continue;
        f->found[i].tokens = tokens_of(f->found[i].text);
        tokens[n] = f->found[i].tokens;
        which[n++] = i;
    }
    n = rank_walk(tokens, n, budget);
    for (size_t i = 0; i < n; i++) {
        f->found[which[i]].injected = true;
        total += tokens[i];
    }
    *sum = total;
    return OK;
}

/* Nothing that could be searched for: too short, or made of words that say nothing. */
static bool is_empty(const struct finder *f)
{
    bool has_meaning = f->in->strategy == STRATEGY_SEMANTIC || f->query.n;
    return f->in->strategy != STRATEGY_RECENT &&
           (str_trim(f->in->question).n < QUESTION_MIN || !has_meaning);
}

/* What was said of it in other sessions goes before more of the same. */
static void spread_sessions(struct finder *f, size_t limit)
{
    struct arena *a = &f->ctx->arena;
    size_t n = f->n < limit ? f->n : limit;
    struct recalled *found = NEW_N(a, struct recalled, f->n + 1);
    const struct candidate **of = NEW_N(a, const struct candidate *, f->n + 1);
    size_t *order = NEW_N(a, size_t, f->n + 1);
    str *sessions = NEW_N(a, str, f->n + 1);
    for (size_t i = 0; i < f->n; i++)
        sessions[i] = f->found[i].is_memory ? S("") : f->found[i].message.session;
    rank_spread(a, sessions, f->n, n, order);
    for (size_t i = 0; i < n; i++) {
        found[i] = f->found[order[i]];
        of[i] = f->of[order[i]];
    }
    f->found = found;
    f->of = of;
    f->n = n;
}

/* In a chat by the reranking model, where one is set. */
static enum status find_ordered(struct finder *f, size_t limit)
{
    TRY(find_in_scope(f, f->broad ? BROAD_DEEP * limit : limit, false));
    if (f->broad)
        spread_sessions(f, f->in->gate ? BROAD_TIMES * limit : limit);
    if (f->in->gate && !f->in->is_unordered)
        order_beside(f);
    if (f->in->gate)
        others_lower(f);
    return OK;
}

/* What bears on the question, of each space, or what is known of the user where nothing is sure. */
static enum status add_more(struct finder *f, struct gate gate, bool asks_known, int64_t budget,
                            struct verdict *v)
{
    bool is_known_asked = asks_known && !v->is_sure, is_told = false;
    verdict_mark(f, v);
    for (size_t i = 0; i < f->n_spaces; i++)
        TRY(add_about(f, &f->spaces[i], v));
    for (size_t i = 0; i < f->n; i++)
        is_told |= f->found[i].is_told;
    for (size_t i = 0; i < f->n_spaces && is_known_asked && !is_told; i++)
        TRY(add_known(f, &f->spaces[i], gate, budget, v));
    verdict_mark(f, v);
    for (size_t i = 0; i < f->n_spaces; i++)
        TRY(add_successors(f, &f->spaces[i], v));
    return OK;
}

/* Each step down, and why. */
static str fallback_of(const struct finder *f)
{
    bool has_vectors = f->steps.store.n;
    if (f->steps.strategy == STRATEGY_RECENT || !f->by_words.n ||
        (has_vectors && f->in->strategy == f->steps.strategy))
        return f->beside;
    return str_printf(&f->ctx->arena, S_FMT "%svectors: " S_FMT, S_ARG(f->beside),
                      f->beside.n ? "; " : "", S_ARG(f->by_words));
}

/* Of "static:table:256" the source is "static" and the model "table". */
static struct recall_steps steps_of(const struct finder *f)
{
    struct recall_steps out = f->steps;
    str model = f->vectors;
    if (!out.store.n && f->vectors.n) {
        out.source = str_cut(&model, ':');
        while (model.n && model.p[model.n - 1] != ':')
            model.n--;
        out.model = str_sub(model, 0, model.n ? model.n - 1 : 0);
        out.store = S("sqlite-vec");
    }
    return out;
}

static str reason_of(const struct finder *f, str reason)
{
    struct arena *a = &f->ctx->arena;
    if (f->without.n)
        reason = str_printf(a, S_FMT "; %s" S_FMT, S_ARG(reason),
                            f->vectors.n ? "" : "by words alone: ", S_ARG(f->without));
    if (f->beside.n)
        reason = str_printf(a, S_FMT "; " S_FMT, S_ARG(reason), S_ARG(f->beside));
    if (f->steps.is_reranked)
        reason = str_printf(a, S_FMT "; %zu lines reranked by " S_FMT, S_ARG(reason),
                            f->steps.reranked, S_ARG(f->steps.reranker));
    return reason;
}

/* The results and, for receipts and status, how they were found. */
static void give_found(struct finder *f, struct recall_out *out)
{
    f->steps = steps_of(f);
    f->steps.fallback = fallback_of(f);
    if (!f->steps.store.n)
        f->steps.store = S("none");
    out->v = f->found;
    out->n = f->n;
    out->vectors = f->vectors;
    out->without = f->without;
    out->steps = f->steps;
}

/* "My dog is called Rex and I live in Lisbon." tells what is to be kept, and asks for nothing: "my"
 * in it is no reason to look harder. As many facts as sentences, so "I need a gift for my sister"
 * does ask. */
static bool only_tells(const struct finder *f)
{
    struct sentence s;
    size_t n_sentences = 0, n_facts;
    for (str rest = f->in->question; sentence_cut(&rest, &s); n_sentences++)
        if (s.asks || sentence_asks(s.text))
            return false;
    engine_extract(f->ctx, f->e, EXTRACT_USER, f->in->question, &n_facts);
    return n_facts >= n_sentences;
}

/* "What does Anna like?" speaks of the user as "What does my wife like?" does, where both are one.
 */
static struct gate gate_asked(const struct finder *f)
{
    struct arena *a = &f->ctx->arena;
    struct gate gate = gate_of(a, f->in->question, NULL, 0);
    for (size_t i = 0; i < f->n_spaces && gate.section == GATE_NONE; i++)
        if (f->spaces[i].asked_also.n)
            gate = gate_of(a, f->spaces[i].asked_also, NULL, 0);
    return gate;
}

/* The order of the stages at the head of the file. An empty question finds nothing, unless it asks
 * what is known about the user. */
static enum status find(struct finder *f, struct recall_out *out)
{
    const struct recall_in *in = f->in;
    const struct settings *s = f->e->settings;
    size_t limit = in->limit ? in->limit : (size_t)s->recall_limit;
    bool newest = in->strategy == STRATEGY_RECENT;
    struct gate gate = {0};
    f->broad = newest ? BROAD_NOT : broad_of(&f->ctx->arena, in->question);
    for (size_t i = 0; i < f->n_spaces && !newest; i++)
        TRY(complete_question(&f->spaces[i]));
    if (in->gate && in->bar == 0 && !newest)
        gate = gate_asked(f);
    bool tells = in->gate && gate_is_first_person(in->question) && only_tells(f);
    if (gate.is_weak && tells)
        gate = (struct gate){0};
    bool asks_known = known_is_asked(&f->spaces[0], gate) && !in->turns_only;
    if (newest)
        TRY(find_in_scope(f, limit, true));
    else if (!is_empty(f))
        TRY(find_ordered(f, limit));
    bool is_idle =
        !newest && is_empty(f) && (!asks_known || str_trim(in->question).n < QUESTION_MIN);
    int64_t budget = in->budget_tokens ? in->budget_tokens : s->budget_tokens;
    struct verdict v = {S("none"), S("no words to search"), .least = 2};
    if (!is_idle) {
        v = verdict_of(f, gate, tells);
        TRY(add_more(f, gate, asks_known, budget, &v));
    }
    for (size_t i = 0; i < f->n_spaces; i++)
        TRY(add_standing(f, &f->spaces[i], budget, &v));
    *out = (struct recall_out){.decision = v.decision,
                               .probability = v.probability,
                               .evidence = v.evidence};
    verdict_mark(f, &v);
    TRY(choose(f, budget, &out->tokens));
    out->reason = reason_of(f, v.reason);
    give_found(f, out);
    return ctx_has_time(f->ctx) ? OK : fail(f->ctx, TIMED_OUT, "recall exceeded its time limit");
}

/* A recall as a chat makes it, with its block, for callers that have no chat: the budget, strategy
 * and retention of the settings apply unless the caller gives others. */
enum status engine_context(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                           struct recall_out *out, str *block)
{
    const struct runtime *runtime = engine_runtime(e);
    struct recall_in gated = *in;
    gated.gate = true;
    gated.budget_tokens = in->budget_tokens ? in->budget_tokens : runtime_budget(e, runtime);
    gated.strategy = in->strategy ? in->strategy : runtime->memory.strategy;
    gated.after = in->after ? in->after : runtime_after(runtime, clock_ms());
    TRY(engine_recall(ctx, e, &gated, out));
    int64_t now = in->asked ? in->asked : clock_ms();
    *block = block_render(&ctx->arena, out->v, out->n, gated.budget_tokens, now);
    return OK;
}

/* Without counting and without waiting for turns that are still to be written: engine_recall and
 * engine_search do both, once for all the recalls of a call. */
enum status find_recalled(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                          struct recall_out *out)
{
    struct recall_in asked = *in;
    struct finder f;
    STORE_VIEW(view, ctx, e->store);
    if (in->gate)
        asked.question = text_without_traces(&ctx->arena, in->question);
    TRY(find_open(ctx, e, &asked, &f));
    return find(&f, out);
}

/* Failed recalls are counted, too, with the time that they took. *out is untouched on failure. */
enum status recall_counted(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                           recall_how *how, struct recall_out *out)
{
    int64_t began = clock_mono_us();
    struct recall_out found;
    if (!in->is_caught_up)
        engine_catch_up(ctx, e, in->pool);
    enum status s = how(ctx, e, in, &found);
    int64_t took = clock_mono_us() - began;
    if (!in->is_preview)
        engine_count_recall(e, took);
    TRY(s);
    found.took_us = took;
    *out = found;
    return OK;
}

enum status engine_recall(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                          struct recall_out *out)
{
    return recall_counted(ctx, e, in, find_recalled, out);
}
