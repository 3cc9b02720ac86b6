/* distil_ingest.c - a conversation that is brought in whole: kept in place of what was there. */
#include "base/clock.h"
#include "base/id.h"
#include "engine/distil.h"

/*
 * AT_ONCE wait for the core model's answer: each holds a worker of the server as long, and chats
 * need some, too. What comes besides is left to the background. All turns are one write, in which
 * nobody else writes: TURNS_MAX of them take one second, in
 * place of as many two.
 */
enum { CONVERSATION_MAX = 255, TURNS_MAX = 10000, AT_ONCE = 2 };

static struct message message_of(struct arena *a, const struct ingest_turns_in *in, size_t i,
                                 bool is_user, int64_t now)
{
    const struct ingest_turn *t = &in->turns[i];
    str text = is_user ? t->user : t->assistant;
    int64_t date = t->date ? t->date : in->session_date;
    size_t index = 2 * i + !is_user;
    const str parts[] = {in->conversation,
                         {(const char *)&index, sizeof index},
                         text,
                         {(const char *)&date, sizeof date}};
    return (struct message){
        .id = id_of(a, parts, 4),
        .session = in->conversation,
        .role = is_user ? S("user") : S("assistant"),
        .text = engine_strip_block(a, text),
        .origin = is_user ? ORIGIN_USER : ORIGIN_ASSISTANT,
        .created = date ? date : now,
    };
}

static enum status check(struct ctx *ctx, const struct ingest_turns_in *in)
{
    if (!in->conversation.n)
        return fail_field(ctx, "conversation_id", "is required");
    if (in->conversation.n > CONVERSATION_MAX)
        return fail_field(ctx, "conversation_id", "must be at most %d bytes", CONVERSATION_MAX);
    if (in->n > TURNS_MAX)
        return fail_field(ctx, "turns", "are %zu; at most %d are one conversation", in->n,
                          TURNS_MAX);
    return OK;
}

static enum status forget_old(struct ctx *ctx, struct engine *e, const struct ingest_turns_in *in)
{
    struct forget what = {.pool = in->pool, .session = in->conversation};
    int64_t erased;
    enum status s = store_forget(ctx, e->store, &what, &erased);
    if (s == NOT_FOUND)
        ctx_clear_failure(ctx);
    return s == NOT_FOUND ? OK : s;
}

/* *in_work: someone else distils the conversation. */
static enum status put(struct ctx *ctx, struct engine *e, const struct ingest_turns_in *in,
                       bool waits, bool *in_work)
{
    int64_t now = clock_ms();
    bool has_model = e->settings->core_model.n > 0;
    struct message *v = NEW_N(&ctx->arena, struct message, 2 * in->n + 1);
    struct bundle b = {.pool = in->pool,
                       .session = {.id = in->conversation},
                       .messages = v,
                       .replaces = true};
    for (size_t i = 0; i < in->n; i++)
        for (int is_user = 1; is_user >= 0; is_user--) {
            struct message m = message_of(&ctx->arena, in, i, is_user, now);
            if (str_trim(m.text).n)
                v[b.n_messages++] = m;
        }
    *in_work = false;
    if (!b.n_messages)
        return forget_old(ctx, e, in);
    if (!in->skip_extraction)
        b.distil_at = has_model ? now : distil_due(engine_live(e), now);
    if (has_model && waits) /* nobody else takes it while the caller waits for it */
        b.claim_ms = distil_lease_ms(e);
    TRY(store_write(ctx, e->store, &b));
    *in_work = b.in_work;
    return OK;
}

static str told(struct arena *a, const struct distil_outcome *o)
{
    static const char *const words[] = {
        [DISTIL_DONE] = "distilled", [DISTIL_NOTHING] = "no_signals", [DISTIL_SKIPPED] = "skipped:",
        [DISTIL_EMPTY] = "empty:",   [DISTIL_WAITS] = "pending:",     [DISTIL_FAILED] = "error:"};
    static const char *const skipped[] = {"core_model_unset", "core_model_unavailable",
                                          "breaker_open", "cancelled", NULL};
    const char *word = words[o->result];
    for (const char *const *why = skipped; *why; why++) /* as Osaurus calls what waits */
        if (o->result == DISTIL_WAITS && str_is(o->why, *why))
            word = words[DISTIL_SKIPPED];
    return str_printf(a, "%s" S_FMT, word, S_ARG(o->why));
}

static void distil_now(struct ctx *ctx, struct engine *e, const struct ingest_turns_in *in,
                       struct ingest_turns_out *out)
{
    struct waiting_session w = {.pool = in->pool, .session = in->conversation};
    CLEANUP(ctx_free) struct ctx own = {.deadline_us = ctx->deadline_us, .is_cut = ctx->is_cut};
    struct distil_outcome outcome;
    enum status s = distil_session(&own, e, &w, &outcome);
    if (s != OK)
        outcome = (struct distil_outcome){DISTIL_FAILED, str_of(own.why), true};
    out->distillation = told(&ctx->arena, &outcome);
    if (outcome.result == DISTIL_DONE)
        out->episode_id = episode_id(&ctx->arena, in->conversation);
}

static enum status ingest(struct ctx *ctx, struct engine *e, const struct ingest_turns_in *in,
                          bool waits, struct ingest_turns_out *out)
{
    struct ingest_turns_out o = {.turns = (int64_t)in->n,
                                 .distillation = S(""),
                                 .episode_id = S("")};
    bool in_work;
    TRY(put(ctx, e, in, waits, &in_work));
    if (!in->skip_extraction && in_work)
        o.distillation = S("pending:in_work");
    else if (!waits)
        o.distillation = S("pending:busy");
    else if (!in->skip_extraction)
        distil_now(ctx, e, in, &o);
    *out = o;
    return OK;
}

/* One worker is left to the others, where there are two. */
static int at_once(const struct engine *e)
{
    int64_t workers = e->settings->workers;
    return workers == 1 || workers == 2 ? 1 : AT_ONCE;
}

enum status engine_ingest_turns(struct ctx *ctx, struct engine *e, const struct ingest_turns_in *in,
                                struct ingest_turns_out *out)
{
    bool asks = !in->skip_extraction && e->settings->core_model.n;
    TRY(check(ctx, in));
    if (!live_remembers(engine_live(e)))
        return fail(ctx, FORBIDDEN, "memory_disabled");
    bool waits = !asks || atomic_fetch_add(&e->ingests, 1) < at_once(e);
    enum status s = ingest(ctx, e, in, waits, out);
    if (asks)
        atomic_fetch_sub(&e->ingests, 1);
    return s;
}
