/* turn_keep.c - storing an answered turn: messages, facts, the receipt. */
#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"
#include "base/rule.h"
#include "core/session_title.h"
#include "engine/chat/late.h"
#include "engine/dedup/equivalence.h"
#include "engine/distil/distil.h"
#include "engine/recall/tombstones.h"
#include "engine/text/forget_request.h"

/*
 * Order of the second half: strip the memory block from the answer, mask secrets, extract facts by
 * rules, and write messages, facts, session and receipt as one bundle, in one transaction. A
 * durable turn (a session that the server keeps for its client) waits for it; all others are
 * queued. When the queue is full, the turn is dropped and counted (dropped_turns), as a chat must
 * not wait for a disk. Distilling by a model comes later, in the background (distil/background.c).
 */

/* Facts of one message. One that is kept already is said once more: what the user said, or was
 * distilled from that, gets a new date; what a program added keeps its date. The ids of new ones
 * are derived from the message, so that a retry of the same turn adds nothing. They are as old as
 * the message: its answer may have taken minutes, and what was edited meanwhile is newer. */
static void extract_from(struct ctx *ctx, struct engine *e, const struct tombstones *tombstones,
                         const struct message *m, struct bundle *b)
{
    size_t n;
    assert(m->id.n && b->pool.user.n);
    if (!RULE("extract"))
        return;
    str text = m->is_echo ? m->text : tombstones_left(tombstones, &ctx->arena, m);
    struct memory *v = engine_extract(ctx, e, e->settings->extraction, m, text, &n);
    for (size_t i = 0; i < n; i++) {
        const str parts[] = {m->id, v[i].key, v[i].content};
        struct memory like = {0};
        bool is_kept =
            e->settings->extraction == EXTRACT_USER && same_is_kept(ctx, e, b->pool, &v[i], &like);
        bool is_order = v[i].type == TYPE_PROCEDURAL && forget_request_of(m->text);
        bool is_stated = like.origin == ORIGIN_USER || like.origin == ORIGIN_DISTILLED;
        if (is_order || (is_kept && (!is_stated || like.created >= m->created)))
            continue;
        if (is_kept) {
            like.created = m->created;
            v[i] = like;
        } else {
            v[i].id = id_of(&ctx->arena, parts, 3);
            v[i].session = m->session;
            v[i].source = m->id;
            v[i].origin = m->origin;
            v[i].created = v[i].updated = v[i].last_used = v[i].valid_from = m->created;
        }
        memories_add(&ctx->arena, &b->memories, &b->n_memories, v[i]);
    }
}

/* A message of the user that a bar names was erased and is said again: as another one, since the
 * bar holds for what has its id. A retry gives it the same id, and the next erasure a new one. */
static void name_again(struct ctx *ctx, const struct tombstones *tombstones, struct message *m)
{
    if (tombstones_touch(tombstones, m->id))
        m->id = ID_OF(&ctx->arena, m->id, S("again"),
                      {(const char *)&tombstones->newest, sizeof tombstones->newest});
}

/* Messages before the last one of the user were said before. What was erased of them is left out.
 */
static enum status settle_history(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                  const struct tombstones *tombstones, struct message *v, size_t *n)
{
    size_t last = *n, kept = 0;
    while (last && !str_is(v[last - 1].role, "user"))
        last--;
    struct erased_ask *asks = NEW_N(&ctx->arena, struct erased_ask, last + 1);
    bool *is_erased = NEW_N(&ctx->arena, bool, *n + 1);
    size_t turn = last; /* what it begins with is said now, unless a bar names it */
    while (turn && str_is(v[turn - 1].role, "user"))
        turn--;
    for (size_t i = 0; i + 1 < last; i++) {
        bool is_old = i < turn || tombstones_touch(tombstones, v[i].id);
        tombstones_date_back(tombstones, &ctx->arena, &v[i]);
        asks[i] = (struct erased_ask){.message = &v[i], .created = is_old ? 0 : v[i].created};
    }
    TRY(last > 1 ? store_was_erased(ctx, e->store, pool, asks, last - 1, is_erased) : OK);
    if (last)
        name_again(ctx, tombstones, &v[last - 1]);
    for (size_t i = 0; i < *n; i++)
        if (!is_erased[i])
            v[kept++] = v[i];
    *n = kept;
    return OK;
}

str engine_title_of(const struct message *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(v[i].role, "user"))
            return session_title(v[i].text);
    return S("");
}

/* Kept for the conversation alone, and never found. */
static void keep_silent(struct message *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        v[i].is_echo = true;
        v[i].says = S("");
    }
}

static void mask_messages(struct ctx *ctx, struct engine *e, const struct turn *t,
                          struct message *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        v[i].text = turn_masked(e, t, &ctx->arena, v[i].text);
        v[i].says = turn_masked(e, t, &ctx->arena, v[i].says);
    }
}

/* Noted in the receipt of each chat, and once in the log. */
static bool is_over_quota(struct ctx *ctx, struct engine *e, struct turn *t,
                          const struct message *v, size_t n)
{
    const struct quota more = {.memories = 1,
                               .messages = (int64_t)t->n_fresh + 1,
                               .bytes = quota_bytes(v, n, NULL, 0)};
    enum status s = engine_check_quota(ctx, e, t->in.pool, more);
    if (s == FORBIDDEN) {
        quota_note(e, t->in.pool.user, ctx->why);
        t->out.unkept = str_dup(&ctx->arena, str_of(ctx->why));
        t->has_queued = false;
        t->record.reason = str_printf(&ctx->arena, S_FMT "%snot kept: %s", S_ARG(t->record.reason),
                                      t->record.reason.n ? "; " : "", ctx->why);
    }
    soft(ctx, s);
    return s == FORBIDDEN;
}

/* While memory is off, messages of a session that the server keeps are stored as silent echoes, so
 * the conversation continues and nothing of it can be recalled. The same over a quota, where no
 * other conversation is kept. */
static enum status add_messages(struct ctx *ctx, struct engine *e, struct turn *t, str answer,
                                struct bundle *b)
{
    enum extract_rules rules = e->settings->extraction;
    struct tombstones tombstones = {0};
    if (t->n_fresh)
        TRY(tombstones_load(ctx, e, t->in.pool, &tombstones));
    answer = engine_strip_block(&ctx->arena, answer);
    struct message *all = DUP_N(&ctx->arena, t->fresh, t->n_fresh, t->n_fresh + 1);
    b->messages = all;
    b->n_messages = t->n_fresh;
    TRY(settle_history(ctx, e, t->in.pool, &tombstones, all, &b->n_messages));
    b->hears = t->in.late && t->in.late->is_brought;
    if (str_trim(answer).n ? t->chain != 0 : t->calls.n > 0)
        all[b->n_messages++] = turn_answer(&ctx->arena, e, t, answer, rules == EXTRACT_TABLE);
    b->session = (struct session){.id = b->n_messages ? t->record.session : S("")};
    mask_messages(ctx, e, t, all, b->n_messages);
    if (t->n_fresh && !t->fresh[0].tail)
        b->session.title = engine_title_of(all, b->n_messages);
    bool is_off = !runtime_remembers(engine_runtime(e));
    if (is_off || is_over_quota(ctx, e, t, all, b->n_messages)) {
        keep_silent(all, b->n_messages);
        if (!is_off && !t->in.is_durable) {
            b->session.id = S("");
            b->n_messages = 0;
        }
        return OK;
    }
    b->distil_at = distil_due(engine_runtime(e), clock_ms());
    b->rule = rules == EXTRACT_TABLE ? PUT_REPLACE : PUT_SUPERSEDE;
    forget_requests_leave(t->record.question, all, b->n_messages);
    for (const struct message *m = all; m < all + b->n_messages; m++)
        if ((!m->is_echo || m->says.n) && /* else nothing in it is new */
            (str_is(m->role, "user") || (rules == EXTRACT_TABLE && str_is(m->role, "assistant"))))
            extract_from(ctx, e, &tombstones, m, b);
    return OK;
}

/* May run minutes after engine_begin_turn, on another thread; settings are read anew. A retry of
 * the same turn writes the same ids and changes nothing. */
static enum status keep_turn(struct ctx *ctx, struct engine *e, struct turn *t, str answer,
                             bool waits)
{
    struct bundle b = {.pool = t->in.pool, .receipt = &t->record, .asked = t->record.created};
    assert(t->out.mode != MODE_OFF || !t->out.block.n);
    enum memory_mode now = turn_mode_now(e, &t->in); /* it may be switched off by now */
    if (t->out.mode == MODE_OFF || now == MODE_OFF)
        return OK;
    if (t->out.mode != MODE_READONLY)
        TRY(add_messages(ctx, e, t, answer, &b));
    b.has_queued = t->has_queued;
    b.goes_on = t->in.goes_on && t->in.is_durable && b.session.id.n;
    enum status s = waits ? store_write(ctx, e->store, &b) : store_write_later(ctx, e->store, &b);
    if (s == TOO_BUSY && !waits) {
        count(&e->counters.dropped_turns, 1);
        log_event(LOG_WARN, "turn.dropped", "id=%s messages=%zu why=\"%s\"", ctx->id, b.n_messages,
                  ctx->why);
        soft(ctx, s);
        return OK;
    }
    if (b.goes_on && soft_if(ctx, s, NOT_FOUND)) /* forgotten meanwhile: nothing is kept */
        return OK;
    TRY(s);
    count(&e->counters.turns, 1);
    count(&e->counters.facts, b.n_memories);
    return OK;
}

str engine_kept_answer(struct arena *a, str answer)
{
    return buf_words(a, llm_without_thought(answer));
}

/* A store that is away, full or busy loses nothing; what comes behind the turn waits, too. */
static enum status end_turn(struct ctx *ctx, struct engine *e, struct turn *t, str answer,
                            bool waits)
{
    answer = engine_kept_answer(&ctx->arena, answer);
    enum status s = late_is_due(e, t) ? TOO_BUSY : keep_turn(ctx, e, t, answer, waits);
    t->is_blind = late_may_help(s);
    if (t->is_blind && late_is_due(e, t)) {
        ctx_clear_failure(ctx);
        s = late_note(ctx, e, t, answer);
    }
    count(&e->counters.dropped_turns, s != OK && !t->in.late);
    return s;
}

/* Another server, which answers the next question, knows nothing of the turns that wait here. */
bool engine_keeps_first(const struct engine *e)
{
    return str_starts(e->settings->store, S("postgres"));
}

enum status engine_end_turn(struct ctx *ctx, struct engine *e, struct turn *t, str answer)
{
    return end_turn(ctx, e, t, answer, t->in.is_durable || engine_keeps_first(e));
}

enum status turn_end_now(struct ctx *ctx, struct engine *e, struct turn *t, str answer)
{
    return end_turn(ctx, e, t, answer, true);
}

/* --- between the answer's last byte and the queue --- */

/* Runs when the answer's last byte went out, or when somebody else first asks the store for this
 * pool (engine_catch_up); a failure can no longer reach the client, so it is logged. */
static void keep_answered(struct ctx *ctx, struct engine *e, struct unkept *u)
{
    struct turn *t = (struct turn *)((char *)u - offsetof(struct turn, unkept));
    assert(t->answer_of);
    enum status s = engine_end_turn(ctx, e, t, t->answer_of(ctx, t->answer_arg));
    if (s != OK)
        log_event(LOG_WARN, "turn.lost", "id=%s why=\"%s\"", ctx->id, ctx->why);
    soft(ctx, s);
}

void engine_turn_answered(struct engine *e, struct turn *t, turn_answer_text *answer_of, void *arg)
{
    assert(!t->answer_of && answer_of);
    t->answer_of = answer_of;
    t->answer_arg = arg;
    t->unkept.pool = t->in.pool;
    t->unkept.keep = keep_answered;
    unkept_add(e, &t->unkept);
}

bool engine_finish_turn(struct ctx *ctx, struct engine *e, struct turn *t)
{
    if (t->answer_of)
        unkept_end(ctx, e, &t->unkept);
    return t->answer_of != NULL;
}
