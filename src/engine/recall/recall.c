/* recall.c - from a question to a ranked list of messages and memories, with the reasons. */
#include "base/clock.h"
#include "base/rule.h"
#include "core/settings.h"
#include "core/tokens.h"
#include "engine/distil.h"
#include "engine/questions/snippet.h"
#include "engine/recall/attribute_lookup.h"
#include "engine/recall/block.h"
#include "engine/recall/candidates.h"
#include "engine/recall/features.h"
#include "engine/recall/line_selection.h"
#include "engine/recall/next_message.h"
#include "engine/recall/outside_rankers.h"
#include "engine/recall/quarantine.h"
#include "engine/recall/supersession.h"
#include "engine/recall/user_facts.h"
#include "engine/state/state.h"
#include "engine/text/form.h"
#include "engine/text/memory_intent.h"
#include "engine/text/rank.h"
#include "engine/text/sentences.h"
#include "engine/text/utterance.h"
#include "engine/vectors/embed_queue.h"

/*
 * Stages of one recall, in this order:
 *   0. a question for all that was said of something (query_is_broad) looks wider in stages 1, 3,
 * 5; one for several things (FORM_LIST) gets more room in stage 6, one for a reply longer replies
 *   1. candidates.c finds and scores messages and memories (find_in_scope)
 *   2. the reranking model orders them, where one is set (find_ordered)
 *   3. the gate decides whether memory speaks (verdict_of), and which of the lines that were found
 *      are worth their room (lines_select: again before each source)
 *   4. attributes, what names lead to, known facts and standing instructions go beside (sources)
 *   5. what the user said next, in few words, goes with its line (next_messages)
 *   6. instructions go, outdated lines are marked, and the budget is filled (choose)
 *
 * Stages 3 to 6 are for chats; a search without a gate takes all that was found. decisions/007,
 * 010, 011 and 024 say why each is there.
 */

/* Characters of a question that is none; bytes of a text that are shown. */
enum { QUESTION_MIN = 3, SHOWN_MAX = 600 };

/* A question that asks for all that was said of something, in order or counted: times as many
 * results are ranked for a search, and given to a chat at most; bytes of each that are shown, and
 * of what was said in a chat with an assistant. So the same budget holds more of them
 * (decisions/009, trial 090). */
enum {
    AGGREGATION_DEEP = 3,
    AGGREGATION_TIMES = 2,
    AGGREGATION_SHOWN = 200,
    AGGREGATION_WHOLE = 100,
    AGGREGATION_SAID = 35
};

/* Tokens of a block without its lines, and of a line without its text, on average. */
enum { BLOCK_TOKENS = 32, LINE_TOKENS = 5 };

/* Bytes of a message that a chat is shown: of people, who say little at a time; of a chat with an
 * assistant what its user said, whole where it is short, as an answer may be in any sentence; and
 * of the rest by its place, as the first results are the most likely to answer (decisions/008). */
enum { PEOPLE_SHOWN = 400, WHOLE_SHOWN = 250 };
static const size_t rooms[] = {160, 100, 80, 70};
enum { ROOMS = sizeof rooms / sizeof *rooms };

/* Of a reply by its place among replies, where the question surely asks for it (trial 097). */
static const size_t reply_rooms[ROOMS] = {700, 500, 400, 300};

/* How many lines were shown, and how many of these are replies. */
struct shown {
    size_t lines, replies;
};

static bool is_reply(const struct recalled *r)
{
    return !r->is_memory && str_is(r->message.role, "assistant");
}

/* Times the threshold from which on what was found comes before what tells of an attribute. */
enum { TOLD_GATES = 2 };

/* A chat's line loses secrets; one that reads as an instruction is left out. */
static bool may_be_given(struct finder *f, struct recalled *r)
{
    if (!f->in->gate)
        return true;
    if (!r->is_memory && str_eq_nocase(str_trim(r->message.text), str_trim(f->in->question))) {
        r->why = S("it only asks"); /* in the same words */
        return false;
    }
    const struct pool_ref pool = {f->in->pool.user, r->space};
    struct quotable line = quarantine_line(f->ctx, f->e, pool, r, !f->in->is_preview);
    r->text = line.text;
    if (!line.text.n) {
        r->why = str_of(line.why);
        count(&f->e->counters.instructions, !f->in->is_preview);
    }
    return line.text.n;
}

/* --- one list --- */

/* What tells of an attribute before what is not sure, what a name leads to before what is less
 * probably needed. */
static bool goes_before(const struct recalled *added, const struct recalled *r, bool is_sure)
{
    return added->origin == LINE_BY_ATTRIBUTE ? !is_sure
                                              : added->origin == LINE_BY_NAME && r->by &&
                                                    r->measured.worth < added->measured.worth;
}

/* What bears on a request goes in front, what answers a question behind what is sure: not before
 * what the question found with a score of TOLD_GATES thresholds. */
static void put_beside(struct finder *f, const struct added_lines *about)
{
    size_t next = about->n_first, n = next;
    struct recalled *all = DUP_N(&f->ctx->arena, about->v, n, about->n + f->n);
    for (size_t i = 0; i < f->n; i++) {
        bool is_sure =
            f->found[i].by && f->found[i].score >= TOLD_GATES * f->e->settings->gate_threshold;
        while (next < about->n && goes_before(&about->v[next], &f->found[i], is_sure))
            all[n++] = about->v[next++];
        if (!recalled_find(about->v, about->n, &f->found[i]))
            all[n++] = f->found[i];
    }
    while (next < about->n)
        all[n++] = about->v[next++];
    f->found = all;
    f->n = n;
}

/* --- sources of lines beside what the question found --- */

/* A question whose lines are being gathered. */
struct gathering {
    struct finder *f;
    struct verdict verdict; /* so far */
    struct gate gate;
    bool asks_known, asks_all; /* what is known about the user; nothing but that */
    int64_t budget;
};

/* What the user told of an attribute elsewhere. */
static enum status find_attributes(struct finder *space, const struct gathering *g,
                                   struct added_lines *out)
{
    if (RULE("attributes"))
        TRY(attribute_lookup(space, g->verdict.least > 1, out));
    out->least = space->e->settings->gate_threshold;
    return OK;
}

/* What was told of a name in a line that is probably needed. */
static enum status find_named(struct finder *space, const struct gathering *g,
                              struct added_lines *out)
{
    bool speaks = g->verdict.by_worth && g->verdict.least <= 1 && !g->f->asked.aggregation;
    return speaks && RULE("names") ? name_lookup(space, out) : OK;
}

/* Where the question asks for all that is known, or for memory and nothing found is sure: what is
 * known about the user goes in. */
static enum status find_known(struct finder *space, const struct gathering *g,
                              struct added_lines *out)
{
    bool is_told = SOME(i, g->f->n, g->f->found[i].origin == LINE_BY_ATTRIBUTE);
    if (!g->asks_known || (is_told && !g->asks_all) || !RULE("known"))
        return OK;
    TRY(known_of(space, g->f->in->only.after, g->budget, &out->v, &out->n));
    out->n_first = out->n;
    out->decision = str_of(gate_section_names[g->gate.section]);
    out->reason = g->asks_all
                      ? S("the question asks what is known about the user")
                      : str_printf(&space->ctx->arena,
                                   "asks for memory (\"" S_FMT "\"), and nothing found is sure",
                                   S_ARG(g->gate.phrase));
    out->least = space->e->settings->gate_threshold;
    return OK;
}

/* What the user asked for once and for all stands in front of the rest, and is given though nothing
 * else is. */
static enum status find_standing(struct finder *space, const struct gathering *g,
                                 struct added_lines *out)
{
    const struct recall_in *in = g->f->in;
    if (!in->gate || !RULE("standing") || in->only.turns || in->only.type.n || in->only.layer.n ||
        in->by.strategy == STRATEGY_RECENT || in->scope == SCOPE_SESSION)
        return OK;
    TRY(standing_of(space, g->verdict.least <= 1, g->budget, &out->v, &out->n));
    out->n_first = out->n;
    out->reason =
        str_printf(&space->ctx->arena, ONLY_STANDING "; " S_FMT, S_ARG(g->verdict.reason));
    out->least = 1;
    return OK;
}

typedef enum status source_find(struct finder *space, const struct gathering *,
                                struct added_lines *out);
/* In their order; without words to search only the last. */
static source_find *const sources[] = {find_attributes, find_named, find_known, find_standing};
enum { SOURCES = sizeof sources / sizeof *sources };

/* Puts what a source finds in each space beside the rest; where the gate was silent, memory speaks
 * for its sake. */
static enum status add_source(struct gathering *g, source_find *source)
{
    struct finder *f = g->f;
    struct verdict *v = &g->verdict;
    lines_select(f, v);
    for (size_t i = 0; i < f->n_spaces; i++) {
        struct finder *space = &f->spaces[i];
        struct added_lines more = {0};
        space->found = f->found; /* a space sees all that was found */
        space->n = f->n;
        TRY(source(space, g, &more));
        if (!more.n)
            continue;
        find_name_space(space, more.v, more.n);
        put_beside(f, &more);
        if (!more.least || (v->least <= 1 && !more.decision.n))
            continue;
        v->decision = more.decision.n ? more.decision : S("memory");
        v->reason = more.reason;
        v->by_worth &= v->least <= 1 || more.least < 1; /* a source of sure lines opens no door */
        v->least = more.least;
    }
    return OK;
}

/* --- the new beats the old --- */

/* A line that a later one may replace is marked, and the later one goes in with it. */
static enum status settle_supersession(struct finder *f)
{
    struct arena *a = &f->ctx->arena;
    size_t *by = NEW_N(a, size_t, f->n + 1);
    TRY(supersession_judge(f, by));
    for (size_t i = 0; i < f->n; i++) {
        assert(by[i] < f->n);
        struct recalled *r = &f->found[i], *newer = &f->found[by[i]];
        if (r->state != LINE_QUOTABLE || by[i] == i)
            continue;
        if (newer->state != LINE_QUOTABLE && !may_be_given(f, newer))
            continue;
        newer->state = LINE_QUOTABLE;
        r->text = str_printf(a, OUTDATED_MARK S_FMT, S_ARG(r->text));
    }
    return OK;
}

/* Somebody chose to keep a memory, so it is shown like the results of a search. */
static size_t room_of(const struct finder *f, const struct recalled *r, struct shown shown)
{
    if (!f->in->gate)
        return SHOWN_MAX;
    bool is_brief = f->asked.aggregation;
    if (r->is_memory || r->message.speaker.n)
        return is_brief ? AGGREGATION_SHOWN : r->is_memory ? SHOWN_MAX : PEOPLE_SHOWN;
    size_t whole = is_brief ? AGGREGATION_WHOLE : WHOLE_SHOWN;
    if (str_is(r->message.role, "user") && found_text(r).n <= whole)
        return whole;
    if (is_brief)
        return AGGREGATION_SAID;
    size_t room = rooms[shown.lines < ROOMS ? shown.lines : ROOMS - 1];
    size_t most = reply_rooms[shown.replies < ROOMS ? shown.replies : ROOMS - 1];
    double asked = is_reply(r) ? f->asked.query.asks_reply : 0;
    return room + (size_t)((shown.replies ? asked * asked : asked) * (double)(most - room));
}

/* The first line has all that its writer said, also what is asked for: "write to Brendan, the
 * manager". What was pasted is not his. */
static str text_at(const struct finder *f, const struct recalled *r, struct shown shown)
{
    const struct message *m = &r->message;
    bool is_own = !r->is_memory && !m->is_echo && !m->speaker.n && str_is(m->role, "user");
    if (shown.lines || !f->in->gate || !is_own || !r->part.quotable.n || f->asked.aggregation)
        return found_text(r);
    str whole = tombstones_left(&f->tombstones, &f->ctx->arena, m);
    return whole.n > WHOLE_SHOWN ? found_text(r) : utterance_own_words(&f->ctx->arena, whole);
}

/* Of a message a chat reads sentences; the rest is shown like the results of a search. */
static void show_part(const struct finder *f, struct recalled *r, struct shown shown)
{
    struct arena *a = &f->ctx->arena;
    str text = text_at(f, r, shown);
    size_t room = room_of(f, r, shown);
    bool has_sentences = f->in->gate && !r->is_memory;
    r->part.is_passage = text.n > room;
    if (has_sentences && r->part.telling.n && r->part.is_passage)
        r->text = passage_around(a, text, r->part.telling, room);
    else
        r->text = (has_sentences ? passage_of : excerpt_of)(a, text, &f->asked.query,
                                                            f->asked.weights, room);
}

static void add_words(struct buf *b, const struct query *q, str what, const uint8_t *in,
                      const uint8_t *but)
{
    for (size_t w = 0; w < q->n; w++) {
        if (!in[w] || (but && but[w]))
            continue;
        buf_add(b, what);
        buf_add(b, q->texts[w]);
        what = S(", ");
    }
}

static void add_reason(struct buf *b, str reason)
{
    buf_printf(b, "%s" S_FMT, b->n ? "; " : "", S_ARG(reason));
}

str found_why(const struct finder *f, const struct recalled *r)
{
    struct arena *a = &f->ctx->arena;
    const struct query *q = &f->asked.query;
    const struct candidate *c = r->by;
    enum { WHY_MAX = 400 };
    struct buf b = buf_make(a, WHY_MAX);
    add_words(&b, q, S("says "), c->own, NULL);
    add_words(&b, q, b.n ? S("; near it: ") : S("near it: "), c->near, c->own);
    if (c->dense >= FOUND_CLOSE)
        add_reason(&b, str_printf(a, "close in meaning (%.2f)", (double)c->dense));
    if (r->measured.signals[SIGNAL_speaker] > 0)
        add_reason(&b, str_printf(a, "by " S_FMT ", whom the question names",
                                  S_ARG(r->message.speaker)));
    if (r->measured.signals[SIGNAL_answers] > 0)
        add_reason(&b, S("answers a question about it"));
    if (r->measured.signals[SIGNAL_time] > 0)
        add_reason(&b, S("of the time the question names"));
    if (r->measured.signals[SIGNAL_date] > 0)
        add_reason(&b, S("holds a date"));
    return buf_str(&b);
}

/* Marks what goes in: over the bar, and within the budget in the order of rank. */
static enum status choose(struct finder *f, struct line_budget budget, int64_t *sum)
{
    size_t n = 0;
    struct shown shown = {0};
    struct sized_line *v = NEW_N(&f->ctx->arena, struct sized_line, f->n + 1);
    for (size_t i = 0; i < f->n; i++) {
        struct recalled *r = &f->found[i];
        show_part(f, r, shown);
        if (r->by)
            r->why = found_why(f, r);
        r->tokens = tokens_of(r->text);
        if (r->state != LINE_CHOSEN || !may_be_given(f, r))
            continue;
        r->state = LINE_QUOTABLE;
        shown.lines += r->origin != LINE_STANDING;
        shown.replies += is_reply(r);
    }
    if (f->in->gate && shown.lines && RULE("supersession"))
        TRY(settle_supersession(f));
    for (size_t i = 0; i < f->n; i++) {
        if (f->found[i].state != LINE_QUOTABLE)
            continue;
        f->found[i].tokens = tokens_of(f->found[i].text);
        int64_t tokens = !f->in->gate           ? f->found[i].tokens
                         : lines_is_again(f, i) ? 0 /* the block tells it once */
                                                : f->found[i].tokens + LINE_TOKENS;
        v[n++] = (struct sized_line){tokens, i};
    }
    assert(n <= f->n);
    n = lines_within(f, v, n, budget);
    *sum = 0;
    for (size_t i = 0; i < n; i++) {
        f->found[v[i].at].state = LINE_INJECTED;
        *sum += f->found[v[i].at].tokens;
    }
    return OK;
}

/* Nothing that could be searched for: too short, or made of words that say nothing. */
static bool is_empty(const struct finder *f)
{
    bool has_meaning = f->in->by.strategy == STRATEGY_SEMANTIC || f->asked.query.n;
    return str_trim(f->in->question).n < QUESTION_MIN || !has_meaning;
}

/* In a search what was said of it in other sessions goes before more of the same. */
static void spread_sessions(struct finder *f, size_t limit)
{
    struct arena *a = &f->ctx->arena;
    size_t n = f->n < limit ? f->n : limit, *order = NEW_N(a, size_t, f->n + 1);
    struct recalled *found = NEW_N(a, struct recalled, f->n + 1);
    str *sessions = NEW_N(a, str, f->n + 1);
    for (size_t i = 0; i < f->n; i++)
        sessions[i] = f->found[i].is_memory ? S("") : f->found[i].message.session;
    rank_spread(a, sessions, f->n, n, order);
    for (size_t i = 0; i < n; i++)
        found[i] = f->found[order[i]];
    f->found = found;
    f->n = n;
}

/* In a chat by the reranking model, where one is set. */
static enum status find_ordered(struct finder *f, size_t limit)
{
    bool is_broad = f->asked.aggregation;
    size_t times = !is_broad ? 1 : f->in->gate ? AGGREGATION_TIMES : AGGREGATION_DEEP;
    TRY(find_in_scope(f, times * limit));
    if (is_broad && !f->in->gate)
        spread_sessions(f, limit);
    if (f->in->gate && !f->in->by.is_unordered)
        order_beside(f);
    return OK;
}

/* Each step down, and why. */
static str fallback_of(const struct finder *f)
{
    if (f->how.steps.strategy == STRATEGY_RECENT || !f->how.by_words.n ||
        (f->how.steps.store.n && f->in->by.strategy == f->how.steps.strategy))
        return f->how.beside;
    return str_printf(&f->ctx->arena, S_FMT "%svectors: " S_FMT, S_ARG(f->how.beside),
                      f->how.beside.n ? "; " : "", S_ARG(f->how.by_words));
}

/* Of "static:table:256" the source is "static" and the model "table". */
static void complete_steps(struct finder *f)
{
    struct recall_steps *steps = &f->how.steps;
    str model = f->how.vectors;
    if (!steps->store.n && model.n) {
        steps->source = str_cut(&model, ':');
        model = maker_of(model);
        steps->model = str_sub(model, 0, model.n ? model.n - 1 : 0);
        steps->store = S("sqlite-vec");
    }
    steps->fallback = fallback_of(f);
    if (!steps->store.n)
        steps->store = S("none");
}

static str reason_of(const struct finder *f, str reason)
{
    struct arena *a = &f->ctx->arena;
    if (f->how.without.n)
        reason = str_printf(a, S_FMT "; %s" S_FMT, S_ARG(reason),
                            f->how.vectors.n ? "" : "keyword search only: ", S_ARG(f->how.without));
    if (f->how.beside.n)
        reason = str_printf(a, S_FMT "; " S_FMT, S_ARG(reason), S_ARG(f->how.beside));
    if (f->how.steps.is_reranked)
        reason = str_printf(a, S_FMT "; %zu lines reranked by " S_FMT, S_ARG(reason),
                            f->how.steps.reranked, S_ARG(f->how.steps.reranker));
    return reason;
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
    engine_extract(f->ctx, f->e, EXTRACT_USER, NULL, f->in->question, &n_facts);
    return n_facts >= n_sentences;
}

/* The order of the stages at the head of the file. An empty question finds nothing, unless it asks
 * what is known about the user. */
static enum status find(struct finder *f, struct recall_out *out)
{
    const struct recall_in *in = f->in;
    const struct settings *s = f->e->settings;
    size_t limit = in->limit ? in->limit : (size_t)s->recall_limit;
    bool newest = in->by.strategy == STRATEGY_RECENT;
    struct gate gate = {0};
    f->asked.is_of_several = in->gate && !f->asked.aggregation && RULE("several") &&
                             form_odds_of(FORM_LIST, in->question).by[0] >= 0;
    if (in->gate && in->bar == 0 && !newest && RULE("intent"))
        gate = gate_of(&f->ctx->arena, in->question, NULL, 0);
    bool tells = in->gate && gate_is_first_person(in->question) && only_tells(f);
    if (gate.is_weak && tells)
        gate = (struct gate){0};
    bool asks_all = RULE("overview") && in->gate && in->bar == 0 && !newest && !in->only.turns &&
                    form_odds_of(FORM_KNOWN, in->question).by[0] >= 0;
    if (asks_all)
        gate = (struct gate){GATE_IDENTITY, in->question, false, false};
    bool asks_known = known_is_asked(f, gate) && !in->only.turns;
    if (newest)
        TRY(find_in_scope(f, limit));
    else if (!is_empty(f))
        TRY(find_ordered(f, limit));
    bool is_idle =
        !newest && is_empty(f) && (!asks_known || str_trim(in->question).n < QUESTION_MIN);
    struct gathering g = {.f = f,
                          .verdict = {S("none"), S("no words to search"), .least = 2},
                          .gate = gate,
                          .budget = in->budget_tokens ? in->budget_tokens : s->budget_tokens};
    if (!is_idle)
        g.verdict = verdict_of(f, gate, tells);
    g.asks_all = asks_all && !(f->asked.aggregation && g.verdict.is_sure); /* "of my trip" */
    g.asks_known = asks_known && (g.asks_all || !g.verdict.is_sure);
    for (size_t i = is_idle ? SOURCES - 1 : 0; i < SOURCES; i++)
        TRY(add_source(&g, sources[i]));
    lines_select(f, &g.verdict);
    if (RULE("next_message"))
        TRY(next_messages(f));
    int64_t tokens, frame = in->gate ? BLOCK_TOKENS : 0;
    struct line_budget budget =
        in->gate ? lines_budget(f, g.budget) : (struct line_budget){g.budget, g.budget, 0};
    /* below 0 it would be without end */
    budget.sure = budget.sure < 0 ? -1 : budget.sure > frame ? budget.sure - frame : 0;
    budget.most -= frame;
    TRY(choose(f, budget, &tokens));
    str covered = lines_covered(f, &g.verdict);
    str reason = str_printf(&f->ctx->arena, S_FMT S_FMT, S_ARG(g.verdict.reason), S_ARG(covered));
    complete_steps(f);
    *out = (struct recall_out){.v = f->found,
                               .n = f->n,
                               .decision = g.verdict.decision,
                               .reason = reason_of(f, reason),
                               .probability = g.verdict.probability,
                               .evidence = g.verdict.evidence,
                               .tokens = tokens,
                               .vectors = f->how.vectors,
                               .without = f->how.without,
                               .steps = f->how.steps};
    return ctx_has_time(f->ctx) ? OK : fail(f->ctx, TIMED_OUT, "recall exceeded its time limit");
}

/* Budget, strategy and retention of the settings apply unless the caller gives others. */
enum status engine_context(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                           struct recall_out *out, str *block)
{
    const struct settings *runtime = engine_runtime(e);
    struct recall_in gated = *in;
    gated.gate = true;
    gated.budget_tokens = in->budget_tokens ? in->budget_tokens : runtime_budget(runtime);
    gated.by.strategy = in->by.strategy ? in->by.strategy : runtime->strategy;
    gated.only.after = in->only.after ? in->only.after : runtime_after(runtime, clock_ms());
    TRY(engine_recall(ctx, e, &gated, out));
    int64_t now = in->asked ? in->asked : clock_ms();
    *block = block_render(&ctx->arena, out->v, out->n, gated.budget_tokens, now);
    return OK;
}

enum status find_recalled(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                          struct recall_out *out)
{
    struct recall_in asked = *in;
    struct finder f;
    STORE_VIEW(view, ctx, e->store);
    if (in->gate)
        asked.question = text_without_material(&ctx->arena, in->question);
    if (in->gate)
        TRY(standing_ask(ctx, e, in->pool));
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
