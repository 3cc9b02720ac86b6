/* ingest.c - a whole conversation from outside: it replaces the stored one. */
#include "base/clock.h"
#include "base/id.h"
#include "core/session_title.h"
#include "engine/distil/distil.h"
#include "engine/distil/known.h"
#include "engine/extract/secrets.h"
#include "engine/text/forget_request.h"

/* AT_ONCE requests wait for the core model's answer. Each holds a worker of the server meanwhile,
 * and chats need workers too, so the background distils the other conversations. All turns are one
 * write, and nobody else can write during it: TURNS_MAX turns take one second, two when they
 * replace as many. */
enum { CONVERSATION_MAX = 255, TURNS_MAX = 10000, AT_ONCE = 2, PARTS_AT_ONCE = 20 };

/* As in a chat: a secret is one wherever it appears again in its conversation. */
static struct strs secrets_of(struct ctx *ctx, const struct engine *e,
                              const struct ingest_turns_in *in)
{
    struct strs found = {0};
    for (size_t i = 0; i < in->n && !e->settings->keep_secrets; i++) {
        secrets_add(&ctx->arena, in->turns[i].user, &found);
        secrets_add(&ctx->arena, in->turns[i].assistant, &found);
    }
    return found;
}

static struct message message_of(struct arena *a, const struct engine *e,
                                 const struct ingest_turns_in *in, size_t i, bool is_user,
                                 const struct strs *secrets, int64_t now)
{
    assert(i < in->n);
    const struct ingest_turn *t = &in->turns[i];
    str text = is_user ? t->user : t->assistant;
    int64_t date = t->date ? t->date : in->session_date;
    size_t index = 2 * i + !is_user;
    str kept = engine_strip_block(a, text);
    return (struct message){
        .id = ID_OF(a, in->conversation, {(const char *)&index, sizeof index}, text,
                    {(const char *)&date, sizeof date}),
        .session = in->conversation,
        .role = is_user ? S("user") : S("assistant"),
        .text = e->settings->keep_secrets ? kept : secrets_masked(a, kept, secrets),
        .origin = is_user ? ORIGIN_USER : ORIGIN_ASSISTANT,
        .created = date ? date : now,
    };
}

/* Limits are checked before anything is erased: the stored conversation is replaced as a whole. */
static enum status check_turns(struct ctx *ctx, const struct ingest_turns_in *in)
{
    if (!in->conversation.n)
        return fail_missing(ctx, "conversation_id");
    if (in->conversation.n > CONVERSATION_MAX)
        return fail_field(ctx, "conversation_id", "must be at most %d bytes", CONVERSATION_MAX);
    if (in->n > TURNS_MAX)
        return fail_field(ctx, "turns", "are %zu; at most %d are one conversation", in->n,
                          TURNS_MAX);
    return OK;
}

/* *in_work: another worker is distilling the conversation. */
static enum status put_turns(struct ctx *ctx, struct engine *e, const struct ingest_turns_in *in,
                             bool waits, bool *in_work)
{
    int64_t now = clock_ms();
    bool has_model = e->settings->core_model.n > 0;
    struct message *v = NEW_N(&ctx->arena, struct message, 2 * in->n + 1);
    struct bundle b = {.pool = in->pool,
                       .session = {.id = in->conversation},
                       .messages = v,
                       .replaces = true};
    struct strs secrets = secrets_of(ctx, e, in);
    for (size_t i = 0; i < 2 * in->n; i++) {
        struct message m = message_of(&ctx->arena, e, in, i / 2, i % 2 == 0, &secrets, now);
        if (str_trim(m.text).n)
            v[b.n_messages++] = m;
        if (i % 2 == 0 && !b.session.title.n)
            b.session.title = session_title(m.text);
    }
    forget_requests_leave(S(""), v, b.n_messages);
    *in_work = false;
    if (!b.n_messages) { /* a conversation without any text replaces the old one by nothing */
        struct forget what = {.pool = in->pool, .session = in->conversation, .is_upkeep = true};
        int64_t erased;
        return soft_or(ctx, store_forget(ctx, e->store, &what, &erased), NOT_FOUND);
    }
    TRY(engine_check_quota(ctx, e, in->pool,
                           (struct quota){.messages = (int64_t)b.n_messages,
                                          .bytes = quota_bytes(v, b.n_messages, NULL, 0)}));
    if (!in->skip_extraction)
        b.distil_at = has_model ? now : distil_due(engine_runtime(e), now);
    if (has_model && waits) /* claimed by the same write, so that no other worker takes it */
        b.claim_ms = distil_lease_ms(e);
    TRY(store_write(ctx, e->store, &b));
    *in_work = b.in_work;
    return OK;
}

static str outcome_text(struct arena *a, const struct distil_outcome *o)
{
    static const char *const words[] = {
        [DISTIL_DONE] = "distilled", [DISTIL_NOTHING] = "no_signals", [DISTIL_SKIPPED] = "skipped:",
        [DISTIL_EMPTY] = "empty:",   [DISTIL_WAITS] = "pending:",     [DISTIL_FAILED] = "error:"};
    /* Clients of this API call "skipped" what waits for the core model, but not for its budget. */
    bool is_model = o->core != CORE_ANSWERED && o->core != CORE_BUDGET;
    return str_printf(a, "%s" S_FMT, words[is_model ? DISTIL_SKIPPED : o->result], S_ARG(o->why));
}

/* Part by part, as long as the caller waits. What came of the last part counts, unless it was too
 * short to say anything. */
static struct distil_outcome distil_parts(struct ctx *ctx, struct engine *e,
                                          const struct waiting_session *w, bool *has_episode)
{
    struct distil_outcome all = {.result = DISTIL_NOTHING, .why = S("")};
    bool has_more = true;
    *has_episode = false;
    for (int i = 0; has_more && i < PARTS_AT_ONCE; i++) {
        CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
        struct distil_outcome now;
        enum status s = distil_session(&own, e, w, true, &now);
        if (s != OK)
            now = (struct distil_outcome){.result = DISTIL_FAILED, .why = str_of(own.why)};
        has_more = now.has_more && ctx_has_time(ctx);
        bool says_nothing = now.result <= DISTIL_EMPTY && now.result != DISTIL_DONE;
        *has_episode |= now.result == DISTIL_DONE;
        if (!says_nothing || !*has_episode) {
            now.why = str_dup(&ctx->arena, now.why);
            all = now;
        }
        all.has_more = now.has_more;
    }
    return all;
}

/* Never fails the request: the turns are stored by now, and `distillation` tells how far it
 * came. */
static void distil_now(struct ctx *ctx, struct engine *e, const struct ingest_turns_in *in,
                       struct ingest_turns_out *out)
{
    struct waiting_session w = {.pool = in->pool, .session = in->conversation};
    bool has_episode;
    struct distil_outcome all = distil_parts(ctx, e, &w, &has_episode);
    out->distillation = outcome_text(&ctx->arena, &all);
    if (all.has_more) { /* the background distils the rest */
        soft(ctx, distil_postpone(ctx, e, &w, 0));
        out->distillation = S("pending:more");
    }
    if (has_episode)
        out->episode_id = episode_id(&ctx->arena, in->conversation);
}

static enum status ingest_turns(struct ctx *ctx, struct engine *e, const struct ingest_turns_in *in,
                                bool waits, struct ingest_turns_out *out)
{
    struct ingest_turns_out o = {.turns = (int64_t)in->n,
                                 .distillation = S(""),
                                 .episode_id = S("")};
    bool in_work;
    TRY(put_turns(ctx, e, in, waits, &in_work));
    if (!in->skip_extraction && in_work)
        o.distillation = S("pending:in_work");
    else if (!waits)
        o.distillation = S("pending:busy");
    else if (!in->skip_extraction)
        distil_now(ctx, e, in, &o);
    *out = o;
    return OK;
}

/* The counter is given back on every path; requests beyond AT_ONCE are stored and distilled by the
 * background, and answer "pending:busy". */
enum status engine_ingest_turns(struct ctx *ctx, struct engine *e, const struct ingest_turns_in *in,
                                struct ingest_turns_out *out)
{
    bool asks = !in->skip_extraction && e->settings->core_model.n;
    TRY(check_turns(ctx, in));
    if (!runtime_remembers(engine_runtime(e)))
        return fail(ctx, FORBIDDEN, "memory_disabled");
    engine_catch_up(ctx, e, in->pool); /* else a chat of the same conversation would come behind */
    /* With two workers one stays free for chats. */
    int64_t workers = e->settings->workers, most = workers == 1 || workers == 2 ? 1 : AT_ONCE;
    bool waits = !asks || atomic_fetch_add(&e->work.ingests, 1) < most;
    enum status s = ingest_turns(ctx, e, in, waits, out);
    if (asks) {
        int64_t before = atomic_fetch_sub(&e->work.ingests, 1);
        assert(before > 0);
    }
    return s;
}
