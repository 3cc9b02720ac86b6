/* turn.c - one turn of a chat: recall before the model answers, keeping afterwards. */
#include "engine/chat/turn.h"
#include "engine/recall/block.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/utf8.h"
#include "core/tokens.h"
#include "engine/recall/tombstones.h"
#include "engine/text/block_strip.h"
#include "engine/text/envelope.h"
#include "engine/text/forget_request.h"
#include "engine/text/helper_prompt.h"
#include "engine/text/memory_intent.h"
#include "engine/text/utterance.h"

const char *const memory_mode_names[] = {"full", "readonly", "after", "off", NULL};

/*
 * A turn has two halves with the model's answer in between, which may take minutes. The first half
 * is in front of the user's wait: it finds the conversation's place (conversation.c), rewrites the
 * question if it needs what was said before (rewrite.c), recalls, and renders the block, all within
 * a deadline. The second half writes everything in one transaction: messages, facts, the receipt.
 */
enum {
    LINES_MAX = 50,      /* of a receipt, from recall */
    LINES_ALL_MAX = 200, /* with those of the model's searches */
    QUESTION_MAX = 8000, /* bytes of a message that are searched for */
    PLACE_MS = 1000      /* for finding the conversation, where another server is asked */
};

/* --- the question --- */

/* Nothing is searched for, not even what came before. */
static bool is_courtesy(struct arena *a, str text)
{
    return gate_of(a, text, NULL, 0).section == GATE_NONE && utterance_is_courtesy(a, text);
}

/* A tool's answer follows the question: the block beside the question must not change, or the
 * model's server could not reuse its prompt cache. */
static bool is_continued(const struct turn *t)
{
    assert(t->out.block_at < t->in.n_said);
    const struct said *v = t->in.said + t->out.block_at + 1;
    return SOME(i, t->in.n_said - t->out.block_at - 1,
                str_is(v[i].role, "tool") || str_is(v[i].role, "assistant") ||
                    str_is(v[i].role, "function"));
}

/* The messages before the question: the session's window first, then the request's. */
static const struct said *before_of(struct arena *a, const struct turn *t, size_t *n)
{
    struct said *v = NEW_N(a, struct said, t->in.n_window + t->out.block_at + 1);
    for (size_t i = 0; i < t->in.n_window; i++)
        v[i] = (struct said){.role = t->in.window[i].role, .text = t->in.window[i].text};
    if (t->out.block_at)
        memcpy(v + t->in.n_window, t->in.said, t->out.block_at * sizeof *v);
    *n = t->in.n_window + t->out.block_at;
    return v;
}

/* The text that is searched for; *how is what was done to the question, in words, or "". After a
 * tool's answer no model is asked again. */
static str question_of(struct ctx *ctx, struct engine *e, const struct turn *t, str *how)
{
    struct arena *a = &ctx->arena;
    struct rewritten found;
    struct rewrite_in in = {.pool = t->in.pool,
                            .question = t->record.question,
                            .model = t->in.model,
                            .wait_ms = is_continued(t) ? 0 : t->in.rewrite_ms};
    *how = S("");
    if (!in.question.n || is_courtesy(a, in.question))
        return in.question;
    in.before = before_of(a, t, &in.n);
    engine_rewrite(ctx, e, &in, &found);
    *how = found.why;
    return utf8_cut(found.search, QUESTION_MAX);
}

/* --- recall --- */

/* Recall's results live in a ctx that ends before the turn, so the texts are copied. */
static struct receipt_line line_of(struct arena *a, const struct recalled *c)
{
    return (struct receipt_line){
        .kind = c->is_memory ? S("memory") : S("message"),
        .id = str_dup(a, recalled_id(c)),
        .source = c->is_memory ? str_dup(a, c->memory.source) : S(""),
        .score = c->score,
        .tokens = c->tokens,
        .injected = c->state == LINE_INJECTED,
        .why = str_dup(a, c->why),
    };
}

/* A receipt explains an answer; its first LINES_MAX lines are enough for that, best first. */
static void keep_lines(struct ctx *ctx, struct engine *e, struct turn *t,
                       const struct recalled *found, size_t n)
{
    struct receipt *r = &t->record;
    r->told = replay_told(t->arena, found, n);
    r->n = n < LINES_MAX ? n : LINES_MAX;
    r->lines = NEW_N(t->arena, struct receipt_line, r->n + 1);
    for (size_t i = 0; i < r->n; i++)
        r->lines[i] = line_of(t->arena, &found[i]);
    if (t->out.mode != MODE_READONLY && !t->in.preview)
        engine_shown(ctx, e, t->in.pool, found, n);
}

/* A preview is no turn of a chat. */
static void count_turn(const struct turn *t, atomic_uint_least64_t *counter, uint64_t n)
{
    if (!t->in.preview)
        count(counter, n);
}

/* A failed recall never fails the chat, which goes on without memory; the receipt says why. */
static void note_failure(struct ctx *ctx, struct engine *e, struct turn *t, enum status s)
{
    count_turn(t, s == TIMED_OUT ? &e->counters.timed_out : &e->counters.failed, 1);
    log_event(LOG_WARN, "recall.left_out", "id=%s status=%s why=\"%s\"", ctx->id, status_name(s),
              ctx->why);
    t->record.decision = S("failed");
    t->record.reason = ctx_take_why(ctx);
    if (!t->record.reason.n)
        t->record.reason = str_of(status_name(s));
}

static int64_t turn_budget(struct engine *e, const struct turn *t)
{
    const struct preview *p = t->in.preview;
    int64_t most = t->in.budget_tokens, all = runtime_budget(engine_runtime(e));
    if (p && p->budget_tokens)
        return p->budget_tokens;
    return most && most < all ? most : all;
}

int64_t turn_at(const struct turn *t)
{
    return t->in.late ? t->in.late->at : clock_ms();
}

/* Messages that the model is shown anyway, and what a preview goes without. */
static struct recall_seen seen_of(struct arena *a, const struct turn *t)
{
    const struct preview *p = t->in.preview;
    struct strs all = t->out.ids;
    if (p && p->n_without)
        all.v = DUP_N(a, all.v, all.n, all.n + p->n_without);
    for (size_t i = 0; p && i < p->n_without; i++)
        all.v[all.n++] = p->without[i];
    return (struct recall_seen){all.v, all.n, t->out.whole};
}

/* What recall found good enough may all be held back, or be in the conversation already: then the
 * receipt must not say that memory was given. */
static void note_decision(struct ctx *ctx, struct turn *t, str decision, str reason)
{
    struct arena *a = &ctx->arena;
    t->record.decision = str_dup(a, decision);
    t->record.reason = str_dup(a, reason);
    if (t->out.block.n || str_is(decision, "none"))
        return;
    t->record.decision = S("none");
    t->record.reason = str_printf(a, S_FMT "; but none of it may be inserted now", S_ARG(reason));
}

/*
 * "Please forget that I'm allergic to peanuts" erases nothing: rules that read it erased what
 * nobody meant (docs/decisions/016-erasing.md). But a model would answer "I have forgotten it", and
 * the request would be the best line about peanuts from then on. So the model is told this.
 */
#define FORGET_NOTE                                                                                \
    "Asked to forget something. A message in a chat does not do that, so nothing was forgotten. "  \
    "It can be deleted in Memory Studio, with `rememberd forget ID`, or with the tool "            \
    "memory_forget."

/* The block with a line for the note, if the budget has room for it. A block of another form, as
 * agents have it, stays as it is. */
static str with_note(struct arena *a, str block, str note, int64_t budget_tokens)
{
    const str end = S(BLOCK_CLOSING), begin = S(BLOCK_OPENING);
    if (!note.n || (block.n && !str_ends(block, end)))
        return block;
    str front = block.n ? str_sub(block, 0, block.n - end.n) : begin;
    str whole = str_printf(a, S_FMT "- " S_FMT "\n" BLOCK_CLOSING, S_ARG(front), S_ARG(note));
    return tokens_of(whole) <= budget_tokens ? whole : block;
}

/* Recall reads far more than it keeps, and the turn lives as long as the model's answer streams: so
 * recall has a ctx of its own, and the few results are copied. */
static enum status recall_block(struct ctx *ctx, struct engine *e, struct turn *t)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    struct recall_out found;
    const struct settings *runtime = engine_runtime(e);
    int64_t as_of = t->in.preview ? t->in.preview->as_of : 0, now = as_of ? as_of : clock_ms();
    int64_t budget = turn_budget(e, t);
    assert(t->in.pool.user.n);
    struct recall_in in = {.pool = t->in.pool,
                           .scope = t->in.scope,
                           .within = t->record.session,
                           .question = t->record.question,
                           .seen = seen_of(&own.arena, t),
                           .budget_tokens = budget,
                           .gate = true,
                           .by.strategy = runtime->strategy,
                           .only.after = runtime_after(runtime, now),
                           .is_caught_up = true,
                           .is_preview = t->in.preview != NULL};
    in.only.as_of = in.asked = as_of;
    if (is_courtesy(&own.arena, t->record.question)) {
        t->record.decision = S("none");
        t->record.reason = S("a courtesy asks nothing");
        return OK;
    }
    TRY(ctx_pass(ctx, &own, engine_recall(&own, e, &in, &found)));
    replay_leave_told(t, found.v, found.n);
    str block = block_render(&own.arena, found.v, found.n, budget, now);
    bool forgets = forget_request_of(t->record.question) != FORGET_NOTHING;
    t->out.forgot = forgets ? S(FORGET_NOTE) : S("");
    block = with_note(&own.arena, block, t->out.forgot, budget);
    t->out.block = str_dup(&ctx->arena, block);
    note_decision(ctx, t, found.decision, found.reason);
    keep_lines(&own, e, t, found.v, found.n);
    return OK;
}

/* The same for the chat of an agent: identity lines and at most one section. */
static enum status plan_block(struct ctx *ctx, struct engine *e, struct turn *t)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    struct plan_out found;
    const struct preview *preview = t->in.preview;
    int64_t budget = preview && preview->budget_tokens ? preview->budget_tokens
                                                       : engine_runtime(e)->memory_budget;
    assert(t->in.pool.user.n && t->in.is_planned && !(preview && preview->as_of));
    const struct plan_in in = {.pool = t->in.pool,
                               .question = t->record.question,
                               .budget_tokens = budget,
                               .seen = seen_of(&own.arena, t),
                               .is_preview = preview != NULL};
    TRY(ctx_pass(ctx, &own, engine_plan(&own, e, &in, &found)));
    /* An agent's block may be the same for many questions. */
    bool stands = SOME(i, t->out.n_earlier, str_eq(t->out.earlier[i].block, found.block));
    t->out.block = stands ? S("") : str_dup(&ctx->arena, found.block);
    t->record.decision = str_dup(&ctx->arena, found.decision);
    t->record.reason = str_dup(&ctx->arena, found.reason);
    keep_lines(&own, e, t, found.v, found.n);
    return OK;
}

/* Whoever sets the gate mode llm has chosen to wait for the core model. */
static int64_t recall_limit_ms(struct engine *e, const struct turn *t)
{
    enum { WITH_MODEL_MS = 3000 };
    int64_t ms = e->settings->recall_deadline_ms;
    bool waits = t->in.is_planned && e->settings->core_model.n &&
                 engine_runtime(e)->gate_mode == GATE_MODE_LLM;
    return waits && ms < WITH_MODEL_MS ? WITH_MODEL_MS : ms;
}

/* The deadline counts from the turn's begin, without the time that rewriting the question took. */
static enum status search_block(struct ctx *ctx, struct engine *e, struct turn *t, int64_t began)
{
    int64_t asked = clock_mono_us(), deadline = ctx->deadline_us;
    str how;
    t->record.question = question_of(ctx, e, t, &how);
    int64_t mine = began + clock_mono_us() - asked + recall_limit_ms(e, t) * 1000;
    ctx->deadline_us = deadline && deadline < mine ? deadline : mine;
    enum status s = t->in.is_planned ? plan_block(ctx, e, t) : recall_block(ctx, e, t);
    ctx->deadline_us = deadline;
    TRY(s);
    if (how.n)
        t->record.reason =
            str_printf(&ctx->arena, S_FMT "; " S_FMT, S_ARG(t->record.reason), S_ARG(how));
    return OK;
}

/*
 * A tool's answer can arrive before the turn of its question is kept, which waits for the model's
 * answer. So with tools the receipt, which holds the block, is queued before the model is asked,
 * and a continued turn that the store does not know yet waits for the queue. With a block it is
 * queued as well: the conversation's next request may reach another instance.
 */
static void queue_receipt(struct ctx *ctx, struct engine *e, struct turn *t)
{
    assert(t->record.id.n);
    struct bundle b = {.pool = t->in.pool, .receipt = &t->record};
    t->has_queued = soft(ctx, store_write_later(ctx, e->store, &b));
}

static enum status repeat_block(struct ctx *ctx, struct engine *e, struct turn *t, int64_t began)
{
    struct receipt before;
    assert(t->record.chain && (t->in.is_aside || is_continued(t)));
    /* The message came with this request, so the store may not have it yet. */
    bool fresh = SOME(i, t->n_fresh, t->fresh[i].chain == t->record.chain);
    if (fresh)
        soft(ctx, store_settle(ctx, e->store));
    TRY(store_receipt_of(ctx, e->store, t->in.pool, t->record.chain, &before));
    if (fresh && !before.block.n && !t->in.is_aside)
        return search_block(ctx, e, t, began);
    t->out.block = before.block;
    struct replay again = {.chain = t->record.chain};
    if (soft(ctx, store_replays(ctx, e->store, t->in.pool, t->record.session, &again, 1)))
        t->record.told = again.told;
    /* With the same lines this receipt, too, is erased when a memory in the block is forgotten. */
    t->record.lines = before.lines;
    t->record.n = before.n;
    t->record.decision = S("again");
    t->record.reason = S("the block of the same message before");
    return OK;
}

/* A preview that changes something shows what the question itself would find. */
static bool is_repeated(const struct turn *t)
{
    const struct preview *p = t->in.preview;
    bool is_changed = p && (p->as_of || p->n_without || p->budget_tokens);
    return is_continued(t) && t->record.chain && !is_changed;
}

/* Only tools' results: the block stands beside the question, at the model's server. */
static enum status find_given(struct ctx *ctx, struct engine *e, struct turn *t)
{
    struct receipt before;
    size_t n = t->in.n_window;
    while (n && !str_is(t->in.window[n - 1].role, "user"))
        n--;
    if (!n || !t->in.window[n - 1].chain)
        return OK;
    TRY(store_receipt_of(ctx, e->store, t->in.pool, t->in.window[n - 1].chain, &before));
    t->in.beside = before.block;
    return OK;
}

/* In this order: no user message, no recall; recall off or no budget, the receipt says so; a tool's
 * round trip repeats the block of its question; everything else searches. */
static enum status find_block(struct ctx *ctx, struct engine *e, struct turn *t, int64_t began)
{
    size_t n = t->in.n_said;
    assert(!t->in.is_aside || t->out.mode == MODE_READONLY);
    while (n && !said_by_user(&t->in.said[n - 1]))
        n--;
    if (!n)
        return find_given(ctx, e, t);
    t->out.block_at = n - 1;
    /* Without the block of an earlier request: a client may send back what it was given. */
    str latest = engine_strip_block(&ctx->arena, t->in.said[n - 1].text);
    t->record.question = utf8_cut(str_trim(latest), QUESTION_MAX);
    if (t->out.mode == MODE_AFTER || !turn_budget(e, t)) {
        t->record.decision = S("off");
        t->record.reason = !runtime_remembers(engine_runtime(e)) ? S("memory is switched off")
                           : t->out.mode == MODE_AFTER ? S("recall is off for this request")
                                                       : S("the token budget is 0");
        return OK;
    }
    replay_find(ctx, e, t);
    if (is_repeated(t) || (t->in.is_aside && t->record.chain))
        return repeat_block(ctx, e, t, began);
    return t->in.is_aside ? OK : search_block(ctx, e, t, began);
}

/* Why a call of the client's program was given nothing, or less than its user would be. */
static void note_helper(struct turn *t)
{
    struct receipt *r = &t->record;
    bool is_left_out = t->in.is_aside || t->out.mode == MODE_OFF;
    bool is_given = t->out.block.n || !is_left_out || str_is(r->decision, "failed");
    str call = str_printf(t->arena, "helper call: " S_FMT, S_ARG(t->out.helper));
    if (!is_given)
        r->decision = S("off");
    r->reason =
        is_given ? str_printf(t->arena, S_FMT "; " S_FMT, S_ARG(r->reason), S_ARG(call)) : call;
}

/* For every turn with memory on: "why was nothing found?" is what people ask most. */
static void finish_record(struct ctx *ctx, struct engine *e, struct turn *t, int64_t began)
{
    struct receipt *r = &t->record;
    assert(!t->out.block.n || t->out.block_at < t->in.n_said);
    if (t->out.helper.n)
        note_helper(t);
    r->id = t->in.preview ? S("") : t->in.late ? t->in.late->receipt : id_random(&ctx->arena);
    r->created = ctx->asked && !t->in.late ? ctx->asked : turn_at(t);
    r->block = t->out.block;
    r->tokens = tokens_of(r->block);
    r->took_us = clock_mono_us() - began;
    count_turn(t, &e->counters.injected_tokens, (uint64_t)r->tokens);
    /* The receipt is kept, the user's words are not. */
    bool is_kept = t->out.mode != MODE_READONLY || t->in.preview;
    r->question = is_kept ? turn_masked(e, t, &ctx->arena, r->question) : S("");
    r->reason = turn_masked(e, t, &ctx->arena, r->reason);
    t->out.receipt = r->id;
    t->out.session = r->session;
}

/* The front end's own prompt: the user has said nothing. */
static bool is_helper_turn(struct arena *a, const struct turn_in *in)
{
    str system = S("");
    if (!in->has_helpers || in->has_tools || !in->n_said ||
        !said_by_user(&in->said[in->n_said - 1]))
        return false;
    if (!said_by_user(&in->said[0]) && !str_is(in->said[0].role, "assistant"))
        system = in->said[0].text;
    return is_helper_prompt(a, system, in->said[in->n_said - 1].text);
}

static void recall_turn(struct ctx *ctx, struct engine *e, struct turn *t, int64_t began)
{
    int64_t deadline = ctx->deadline_us, mine = began + PLACE_MS * 1000;
    if (e->work.spool && !t->in.late) /* PostgreSQL may be silent */
        ctx->deadline_us = deadline && deadline < mine ? deadline : mine;
    if (!t->in.late)
        engine_catch_up(ctx, e, t->in.pool);
    bool is_there = turn_place(ctx, e, t);
    ctx->deadline_us = deadline;
    enum status s = is_there || t->out.mode == MODE_AFTER
                        ? find_block(ctx, e, t, began)
                        : fail(ctx, STORAGE, "the database cannot be reached");
    if (s != OK)
        note_failure(ctx, e, t, s);
    else
        count_turn(t, t->out.block.n ? &e->counters.recalled : &e->counters.silent, 1);
    finish_record(ctx, e, t, began);
}

/* While memory is switched off nothing is recalled and nothing learnt. A session that the server
 * keeps for its client goes on, or the next message would not find this one. */
enum memory_mode turn_mode_now(struct engine *e, const struct turn_in *in)
{
    if (in->mode == MODE_OFF || runtime_remembers(engine_runtime(e)))
        return in->mode;
    return in->is_durable && (in->mode == MODE_FULL || in->mode == MODE_AFTER) ? MODE_AFTER
                                                                               : MODE_OFF;
}

/* What an agent wrote around the user's words is not theirs; without any it is a tool's result. */
static void open_envelopes(struct turn *t)
{
    struct said *v = NULL;
    for (size_t i = 0; i < t->in.n_said; i++) {
        const struct said *said = &t->in.said[i];
        str text = buf_words(t->arena, said->text);
        str typed = said_by_user(said)                ? envelope_typed(t->arena, text)
                    : str_is(said->role, "assistant") ? llm_without_thought(text)
                                                      : text;
        if (typed.n == said->text.n)
            continue;
        v = v ? v : DUP_N(t->arena, t->in.said, t->in.n_said, t->in.n_said);
        v[i].text = typed;
        v[i].role = typed.n ? said->role : S("tool");
    }
    t->in.said = v ? v : t->in.said;
}

static struct turn *make_turn(struct ctx *ctx, struct engine *e, const struct turn_in *in)
{
    struct turn *t = NEW(&ctx->arena, struct turn);
    t->in = *in;
    t->arena = &ctx->arena;
    t->out = (struct turn_out){.mode = turn_mode_now(e, in), .helper = in->helper};
    t->record = (struct receipt){.decision = S("none"), .reason = S("nothing was asked")};
    if (t->out.mode != MODE_OFF && !in->late) /* a spooled text is open already */
        open_envelopes(t);
    return t;
}

/* Whether it was a helper's prompt. */
static bool ask_turn(struct ctx *ctx, struct engine *e, struct turn *t, int64_t began)
{
    ctx_clear_failure(ctx);
    bool is_helper = is_helper_turn(&ctx->arena, &t->in);
    assert(!t->in.is_aside || t->in.helper.n);
    turn_find_secrets(e, t);
    if (is_helper || t->in.is_aside)
        count_turn(t, &e->counters.helpers, 1);
    if (!is_helper) {
        recall_turn(ctx, e, t, began);
        return false;
    }
    t->out.mode = MODE_OFF; /* nothing but the receipt is kept, which says why */
    t->out.helper = S("the chat program, by its form");
    finish_record(ctx, e, t, began);
    return true;
}

struct turn *engine_begin_turn(struct ctx *ctx, struct engine *e, const struct turn_in *in)
{
    int64_t began = clock_mono_us();
    struct turn *t = make_turn(ctx, e, in);
    if (in->mode != MODE_OFF)
        e->work.chat_at = began;
    if (t->out.mode == MODE_OFF)
        return t;
    atomic_fetch_add(&e->work.asking, 1);
    bool is_helper = ask_turn(ctx, e, t, began);
    atomic_fetch_sub(&e->work.asking, 1);
    if (!in->late && (is_helper || in->has_tools || t->out.block.n))
        queue_receipt(ctx, e, t);
    return t;
}

void engine_preview(struct ctx *ctx, struct engine *e, const struct turn_in *in,
                    struct receipt *out)
{
    int64_t began = clock_mono_us();
    struct turn *t = make_turn(ctx, e, in);
    assert(in->preview);
    if (t->out.mode != MODE_OFF)
        ask_turn(ctx, e, t, began);
    else {
        t->record.decision = S("off");
        t->record.reason = in->mode == MODE_OFF ? S("memory is off for this request")
                                                : S("memory is switched off");
    }
    *out = t->record;
}

/* --- between question and answer --- */

const struct turn_out *turn_out_of(const struct turn *t)
{
    return &t->out;
}

void turn_drop_block(struct turn *t, str why)
{
    struct receipt *r = &t->record;
    t->has_queued = false;
    t->out.block = r->block = S("");
    r->tokens = 0;
    r->reason = str_dup(t->arena, why);
    for (size_t i = 0; i < r->n; i++)
        r->lines[i].injected = false;
}

void turn_note_search(struct turn *t, enum plan_scope scope, const struct recalled *v, size_t n)
{
    struct receipt *r = &t->record;
    t->has_queued = false;
    size_t room = r->n < LINES_ALL_MAX ? LINES_ALL_MAX - r->n : 0;
    n = n < room ? n : room;
    struct receipt_line *lines = DUP_N(t->arena, r->lines, r->n, r->n + n + 1);
    for (size_t i = 0; i < n; i++) {
        struct receipt_line *line = &lines[r->n + i];
        *line = line_of(t->arena, &v[i]);
        line->injected = true; /* in the tool's answer, which the model reads as well */
        line->why = str_printf(t->arena, "the model searched %s%s" S_FMT, plan_scope_names[scope],
                               v[i].why.n ? ": " : "", S_ARG(v[i].why));
    }
    r->lines = lines;
    r->n += n;
}
