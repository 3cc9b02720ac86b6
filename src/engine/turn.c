/* turn.c - one turn of a chat: recall before the model answers, keeping afterwards. */
#include "engine/engine_int.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"
#include "base/words.h"
#include "core/tokens.h"
#include "engine/distil.h"
#include "engine/gate.h"
#include "engine/same.h"

enum { LINES_MAX = 50, TITLE_MAX = 80, QUESTION_MAX = 8000 };

/* --- the question --- */

static bool is_user(const struct said *s)
{
    return str_is(s->role, "user");
}

/* The last user message before `before`, or before itself. */
static size_t last_user(const struct turn *t, size_t before)
{
    for (size_t i = before; i-- > 0;)
        if (is_user(&t->said[i]))
            return i;
    return before;
}

/* "Hello!", "ok, thanks": asks nothing, also not what came before. */
static bool is_courtesy(struct arena *a, str text)
{
    static const char *const courtesies[] = {"hello",   "hi",      "hey",     "thanks", "thank",
                                             "bye",     "goodbye", "cheers",  "great",  "nice",
                                             "perfect", "cool",    "awesome", NULL};
    static const char *const beside[] = {"ok", "okay", "yes", "yeah", "no", "well", "good", NULL};
    struct words w = words_of(a, text, 64);
    size_t n = 0;
    if (str_find(text, S("?")) < text.n || gate_of(a, text, NULL, 0).section != GATE_NONE)
        return false;
    for (size_t i = 0; i < w.n; i++) {
        bool is_courteous = str_is_one_of(w.v[i].text, courtesies);
        if (!is_courteous && !w.v[i].is_stop && !str_is_one_of(w.v[i].text, beside))
            return false;
        n += is_courteous;
    }
    return n > 0;
}

/* A tool's answer follows the question: what stood beside it stands there still, also nothing. */
static bool is_continued(const struct turn *t)
{
    for (size_t i = t->block_at + 1; i < t->n_said; i++)
        if (str_is(t->said[i].role, "tool") || str_is(t->said[i].role, "assistant") ||
            str_is(t->said[i].role, "function"))
            return true;
    return false;
}

static str latest_of(struct arena *a, const struct turn *t)
{
    return utf8_cut(str_trim(engine_strip_block(a, t->said[t->block_at].text)), QUESTION_MAX);
}

/* What stands before the question: of the session first, then of the request. */
static const struct said *before_of(struct arena *a, const struct turn *t, size_t *n)
{
    struct said *v = NEW_N(a, struct said, t->n_window + t->block_at + 1);
    for (size_t i = 0; i < t->n_window; i++)
        v[i] = (struct said){.role = t->window[i].role, .text = t->window[i].text};
    if (t->block_at)
        memcpy(v + t->n_window, t->said, t->block_at * sizeof *v);
    *n = t->n_window + t->block_at;
    return v;
}

/* What is searched for; *how says in words what was done to the question, or is "". Behind a tool's
 * answer no model is asked again. */
static str question_of(struct ctx *ctx, struct engine *e, const struct turn *t, str *how)
{
    struct arena *a = &ctx->arena;
    struct rewritten found;
    struct rewrite_in in = {.pool = t->pool,
                            .question = latest_of(a, t),
                            .model = t->model,
                            .wait_ms = is_continued(t) ? 0 : t->rewrite_ms};
    *how = S("");
    if (!in.question.n || is_courtesy(a, in.question))
        return in.question;
    in.before = before_of(a, t, &in.n);
    engine_rewrite(ctx, e, &in, &found);
    *how = found.why;
    return utf8_cut(found.search, QUESTION_MAX);
}

/* --- recall --- */

static void keep_lines(struct arena *a, struct receipt *r, const struct recalled *found, size_t n)
{
    r->n = n < LINES_MAX ? n : LINES_MAX;
    r->lines = NEW_N(a, struct receipt_line, r->n + 1);
    for (size_t i = 0; i < r->n; i++) {
        const struct recalled *c = &found[i];
        r->lines[i] = (struct receipt_line){
            .kind = c->is_memory ? S("memory") : S("message"),
            .id = str_dup(a, c->is_memory ? c->memory.id : c->message.id),
            .source = c->is_memory ? str_dup(a, c->memory.source) : S(""),
            .score = c->score,
            .tokens = c->tokens,
            .injected = c->injected,
            .why = str_dup(a, c->why),
        };
    }
}

/* Whatever went wrong: the chat goes on without memory, and the receipt says why. */
static void leave_out(struct ctx *ctx, struct engine *e, struct turn *t, enum status s)
{
    count(s == TIMED_OUT ? &e->timed_out : &e->failed, 1);
    log_event(LOG_WARN, "recall.left_out", "id=%s status=%s why=\"%s\"", ctx->id, status_name(s),
              ctx->why);
    t->record.decision = S("failed");
    t->record.reason = str_dup(&ctx->arena, str_of(ctx->why));
    if (!t->record.reason.n)
        t->record.reason = str_of(status_name(s));
    ctx_clear_failure(ctx);
}

/* Recall looks at far more than it keeps, and the turn lives as long as the model's answer streams:
 * so it works in a ctx of its own, and what is kept is copied. */
static enum status recall(struct ctx *ctx, struct engine *e, struct turn *t)
{
    CLEANUP(ctx_free) struct ctx own = {.deadline_us = ctx->deadline_us};
    struct recall_out found;
    const struct live *live = engine_live(e);
    int64_t budget = live_budget(e, live);
    struct recall_in in = {.pool = t->pool,
                           .question = t->record.question,
                           .exclude = t->ids.v,
                           .n_exclude = t->ids.n,
                           .session = t->whole,
                           .budget_tokens = budget,
                           .gate = true,
                           .strategy = live_strategy(live),
                           .after = live_after(live, clock_ms())};
    if (is_courtesy(&own.arena, t->record.question)) {
        t->record.decision = S("none");
        t->record.reason = S("a courtesy asks nothing");
        return OK;
    }
    memcpy(own.id, ctx->id, sizeof own.id);
    enum status s = engine_recall(&own, e, &in, &found);
    if (s != OK)
        return fail(ctx, s, "%s", own.why);
    str block = block_render(&own.arena, found.v, found.n, budget, clock_ms());
    t->block = str_dup(&ctx->arena, block);
    t->record.decision = str_dup(&ctx->arena, found.decision);
    t->record.reason = str_dup(&ctx->arena, found.reason);
    keep_lines(&ctx->arena, &t->record, found.v, found.n);
    return OK;
}

/* The same by Osaurus's rules. */
static enum status plan(struct ctx *ctx, struct engine *e, struct turn *t)
{
    CLEANUP(ctx_free) struct ctx own = {.deadline_us = ctx->deadline_us};
    struct plan_out found;
    const struct plan_in in = {.pool = t->pool,
                               .question = t->record.question,
                               .budget_tokens = engine_live(e)->osaurus.budget_tokens,
                               .exclude = t->ids.v,
                               .n_exclude = t->ids.n,
                               .session = t->whole};
    memcpy(own.id, ctx->id, sizeof own.id);
    enum status s = engine_plan(&own, e, &in, &found);
    if (s != OK)
        return fail(ctx, s, "%s", own.why);
    t->block = str_dup(&ctx->arena, found.block);
    t->record.decision = str_dup(&ctx->arena, found.decision);
    t->record.reason = str_dup(&ctx->arena, found.reason);
    keep_lines(&ctx->arena, &t->record, found.v, found.n);
    if (t->mode != MODE_READONLY)
        engine_shown(&own, e, t->pool, &found);
    return OK;
}

/* Who lets the core model open the gate has chosen to wait for it. */
static int64_t may_take_ms(struct engine *e, const struct turn *t)
{
    enum { WITH_MODEL_MS = 3000 };
    int64_t ms = e->settings->recall_deadline_ms;
    bool waits = t->is_planned && e->settings->core_model.n &&
                 str_is(engine_live(e)->osaurus.gate_mode, "llm");
    return waits && ms < WITH_MODEL_MS ? WITH_MODEL_MS : ms;
}

/* What the turn has taken since it began counts, but not what the question was waited for. */
static enum status look_up(struct ctx *ctx, struct engine *e, struct turn *t, int64_t began)
{
    int64_t asked = clock_mono_us(), deadline = ctx->deadline_us;
    str how;
    t->record.question = question_of(ctx, e, t, &how);
    int64_t mine = began + clock_mono_us() - asked + may_take_ms(e, t) * 1000;
    ctx->deadline_us = deadline && deadline < mine ? deadline : mine;
    enum status s = t->is_planned ? plan(ctx, e, t) : recall(ctx, e, t);
    ctx->deadline_us = deadline;
    TRY(s);
    if (how.n)
        t->record.reason =
            str_printf(&ctx->arena, S_FMT "; " S_FMT, S_ARG(t->record.reason), S_ARG(how));
    return OK;
}

static bool is_fresh(const struct turn *t, uint64_t chain)
{
    for (size_t i = 0; i < t->n_fresh; i++)
        if (t->fresh[i].chain == chain)
            return true;
    return false;
}

/*
 * A tool's answer can come before its question's turn is kept, as that waits for the model's
 * answer. So with tools the receipt, which holds the block, is queued before the model is asked,
 * and a continued turn that the store does not know yet waits for the queue.
 */
static void promise(struct ctx *ctx, struct engine *e, const struct turn *t)
{
    struct bundle b = {.pool = t->pool, .receipt = &t->record};
    if (store_write_later(ctx, e->store, &b) != OK)
        ctx_clear_failure(ctx); /* engine_end_turn writes it again */
}

static enum status repeat(struct ctx *ctx, struct engine *e, struct turn *t, int64_t began)
{
    struct receipt before;
    bool fresh = is_fresh(t, t->record.chain);
    if (fresh && store_settle(ctx, e->store) != OK)
        ctx_clear_failure(ctx);
    TRY(store_receipt_of(ctx, e->store, t->pool, t->record.chain, &before));
    if (fresh && !before.block.n)
        return look_up(ctx, e, t, began);
    t->block = before.block;
    /* What the block shows, so that this receipt goes with it when it is forgotten. */
    t->record.lines = before.lines;
    t->record.n = before.n;
    t->record.decision = S("again");
    t->record.reason = S("as it stood beside the same message before");
    return OK;
}

static enum status remember(struct ctx *ctx, struct engine *e, struct turn *t, int64_t began)
{
    size_t at = last_user(t, t->n_said);
    if (at == t->n_said)
        return OK;
    t->block_at = at;
    t->record.question = latest_of(&ctx->arena, t);
    if (t->mode == MODE_AFTER || !live_budget(e, engine_live(e))) {
        t->record.decision = S("off");
        t->record.reason =
            t->mode == MODE_AFTER ? S("the request asked for none") : S("the budget is 0");
        return OK;
    }
    if (is_continued(t) && t->record.chain)
        return repeat(ctx, e, t, began);
    return look_up(ctx, e, t, began);
}

void engine_begin_turn(struct ctx *ctx, struct engine *e, struct turn *t)
{
    int64_t began = clock_mono_us();
    e->chat_at = began;
    t->receipt = t->block = S("");
    t->record = (struct receipt){.decision = S("none"), .reason = S("nothing was asked")};
    t->ids = (struct strs){0};
    t->whole = S("");
    t->n_fresh = 0;
    if (t->mode == MODE_OFF || !live_remembers(engine_live(e))) {
        t->mode = MODE_OFF;
        return;
    }
    ctx_clear_failure(ctx);
    turn_place(ctx, e, t);
    enum status s = remember(ctx, e, t, began);
    if (s != OK)
        leave_out(ctx, e, t, s);
    else
        count(t->block.n ? &e->recalled : &e->silent, 1);
    t->receipt = t->record.id = id_random(&ctx->arena);
    t->record.created = clock_ms();
    t->record.block = t->block;
    t->record.tokens = tokens_of(t->block);
    t->record.took_us = clock_mono_us() - began;
    count(&e->injected_tokens, (uint64_t)t->record.tokens);
    if (t->mode == MODE_READONLY) /* the receipt is kept, what the user said is not */
        t->record.question = S("");
    if (t->has_tools)
        promise(ctx, e, t);
}

/* --- keeping --- */

static enum extract_rules rules_of(const struct engine *e)
{
    str name = e->settings->extraction;
    return str_is(name, "seed") ? EXTRACT_SEED : str_is(name, "off") ? EXTRACT_OFF : EXTRACT_USER;
}

/* Facts of one message that are not kept yet, with ids that follow from it, so that a retry finds
 * them there. */
static void extract_from(struct ctx *ctx, struct engine *e, const struct message *m,
                         struct bundle *b)
{
    size_t n;
    struct memory *v = engine_extract(ctx, e, rules_of(e), m->text, &n);
    for (size_t i = 0; i < n; i++) {
        const str parts[] = {m->id, v[i].key, v[i].content};
        if (rules_of(e) == EXTRACT_USER && same_is_kept(ctx, e, b->pool, &v[i]))
            continue;
        v[i].id = id_of(&ctx->arena, parts, 3);
        v[i].session = m->session;
        v[i].source = m->id;
        v[i].origin = m->origin;
        b->memories = memories_with_room(&ctx->arena, b->memories, b->n_memories);
        b->memories[b->n_memories++] = v[i];
    }
}

/* The first line that the user said. */
static str title_of(const struct message *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        str text = str_trim(v[i].text);
        if (str_is(v[i].role, "user"))
            return utf8_cut(str_cut(&text, '\n'), TITLE_MAX);
    }
    return S("");
}

static void add_messages(struct ctx *ctx, struct engine *e, struct turn *t, str answer,
                         struct bundle *b)
{
    enum extract_rules rules = rules_of(e);
    answer = engine_strip_block(&ctx->arena, answer);
    struct message *all = NEW_N(&ctx->arena, struct message, t->n_fresh + 1);
    if (t->n_fresh)
        memcpy(all, t->fresh, t->n_fresh * sizeof *all);
    b->messages = all;
    b->n_messages = t->n_fresh;
    if (str_trim(answer).n && t->chain)
        all[b->n_messages++] = turn_answer(&ctx->arena, t, answer);
    b->session = (struct session){.id = b->n_messages ? t->record.session : S("")};
    if (t->n_fresh && !t->fresh[0].tail)
        b->session.title = title_of(t->fresh, t->n_fresh);
    b->distil_at = distil_due(engine_live(e), clock_ms());
    b->rule = rules == EXTRACT_SEED ? PUT_REPLACE : PUT_SUPERSEDE;
    for (size_t i = 0; i < b->n_messages; i++)
        if (str_is(all[i].role, "user") ||
            (rules == EXTRACT_SEED && str_is(all[i].role, "assistant")))
            extract_from(ctx, e, &all[i], b);
}

enum status engine_end_turn(struct ctx *ctx, struct engine *e, struct turn *t, str answer)
{
    struct bundle b = {.pool = t->pool, .receipt = &t->record};
    if (t->mode == MODE_OFF || !live_remembers(engine_live(e))) /* it may be off by now */
        return OK;
    if (t->mode != MODE_READONLY)
        add_messages(ctx, e, t, answer, &b);
    b.goes_on = t->goes_on && t->is_durable && b.session.id.n;
    enum status s =
        t->is_durable ? store_write(ctx, e->store, &b) : store_write_later(ctx, e->store, &b);
    if (s == TOO_BUSY && !t->is_durable) {
        count(&e->dropped_turns, 1);
        log_event(LOG_WARN, "turn.dropped", "id=%s messages=%zu why=\"%s\"", ctx->id, b.n_messages,
                  ctx->why);
        ctx_clear_failure(ctx);
        return OK;
    }
    if (s == NOT_FOUND && b.goes_on) {
        ctx_clear_failure(ctx);
        return OK;
    }
    TRY(s);
    count(&e->turns, 1);
    count(&e->facts, b.n_memories);
    return OK;
}
