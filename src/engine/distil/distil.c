/* distil.c - sessions become episodes and facts: one question to the core model, one write. */
#include "engine/distil/distil.h"

#include <assert.h>
#include <sodium.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/words.h"
#include "engine/recall/bars.h"
#include "engine/text/utterance.h"

/*
 * A worker claims a session before it distils it. The memories and the removal of the pending turns
 * are one write: a process that dies between the model's answer and that write has changed nothing,
 * and its claim expires. The model is not trusted: only facts in the user's own words are kept.
 */
enum {
    NOVELTY_LEAST = 80, /* characters of a session below which the model is not asked */
    MUCH = 1000,        /* characters from which an empty answer counts as a failure */
    SIGNALS_AT_ONCE = 1000,
    IDENTITY_LINES = 30,
    EPISODES = 3,
    FAULTS_MAX = 5,         /* unusable answers for a session before it waits for a request */
    CLAIM_MAX = 16,         /* sessions of one claim */
    CLAIM_WORTH_MS = 400,   /* what a claim should take, estimated from the last answers */
    CLAIM_SLACK_MS = 30000, /* a claim starts no other session after this time */
    CHATS_MS = 50,          /* after a chat, others are expected for this time */
    PAUSE_MS = 5,           /* between two sessions while chats are expected */
    AGAIN_MS = 60000,
    AGAIN_MOST_MS = 3600000,
    ANSWER_ABOUT = 300 /* tokens */
};
/* --- how a claim ends --- */

/*
 * A minute, doubled with each failure up to an hour; random, so that sessions do not all come back
 * at once. A failure of the server is retried every hour without an end: the server may be down for
 * a weekend, and distillation must go on without anyone's help. The status reports it.
 */
static int64_t again_at(int64_t tries)
{
    int64_t ms = AGAIN_MS;
    for (int64_t i = 0; i < tries && ms < AGAIN_MOST_MS; i++)
        ms *= 2;
    ms = ms < AGAIN_MOST_MS ? ms : AGAIN_MOST_MS;
    return clock_ms() + ms - (int64_t)randombytes_uniform((uint32_t)(ms / 4));
}

/* One session, and what was spent on it. */
struct job {
    struct distilling d;
    const struct waiting_session *w;
    struct core_answer answer;
    int64_t *signals;
    size_t said; /* characters */
};

static struct work work_of(const struct job *j, const char *status, str details)
{
    struct work work = j->answer.work;
    work.pool = j->w->pool;
    work.kind = S("distil");
    work.status = str_of(status);
    work.details = details;
    work.created = 0; /* when it is written */
    return work;
}

static enum status postpone_session(struct ctx *ctx, struct engine *e,
                                    const struct waiting_session *w, int64_t at)
{
    struct distil_end end = {.pool = w->pool, .session = w->session, .again_at = at};
    return store_end_distil(ctx, e->store, &end);
}

static enum status end_done(struct ctx *ctx, struct job *j, const char *status, str why)
{
    assert(j->d.n > 0);
    struct work work = work_of(j, status, why);
    struct distil_end end = {.pool = j->w->pool,
                             .session = j->w->session,
                             .done = j->signals,
                             .n_done = j->d.n,
                             .work = &work};
    return store_end_distil(ctx, j->d.e->store, &end);
}

/* An unusable answer is mostly the fault of the session's content, other failures the server's. */
static enum status end_failed(struct ctx *ctx, struct job *j, enum status s, str why,
                              struct distil_outcome *out)
{
    assert(s != OK && why.n);
    bool own = s == BAD_INPUT;
    bool dead = own && j->w->is_answer_fault && j->w->tries + 1 >= FAULTS_MAX;
    str error = str_printf(&ctx->arena, "%s" S_FMT, own ? "answer: " : "", S_ARG(why));
    struct work work = work_of(j, dead ? "dead" : "error", error);
    struct distil_end end = {.pool = j->w->pool,
                             .session = j->w->session,
                             .again_at = again_at(j->w->tries),
                             .error = error,
                             .is_answer_fault = own,
                             .is_dead = dead,
                             .work = &work};
    count(&j->d.e->counters.distil_failed, 1);
    out->result = DISTIL_FAILED;
    out->is_server = !own;
    out->why = error;
    log_event(LOG_WARN, "distil.failed", "id=%s status=%s tries=%lld dead=%d", ctx->id,
              status_name(s), (long long)j->w->tries + 1, dead);
    return store_end_distil(ctx, j->d.e->store, &end);
}

/* --- what goes into the question --- */

/* An answer is under the bars of the time of its message. */
static size_t strip_turns(struct arena *a, const struct bars *bars, struct distilling *d)
{
    size_t said = 0;
    for (size_t i = 0; i < d->n; i++) {
        struct pending_signal *s = &d->signals[i];
        struct message answer = {.text = s->answer, .created = s->message.created};
        str text = bars_left(bars, a, &s->message);
        s->message.text = utterance_own_words(a, str_trim(engine_strip_block(a, text)));
        s->answer = str_trim(engine_strip_block(a, bars_left(bars, a, &answer)));
        said += utf16_length(s->message.text) + utf16_length(s->answer);
        d->date = s->message.created > d->date ? s->message.created : d->date;
    }
    return said;
}

static enum status list_memories(struct ctx *ctx, const struct distilling *d,
                                 struct memory_filter f, struct memory **out, size_t *n)
{
    f.pool = d->pool;
    return store_list_memories(ctx, d->e->store, &f, out, n, NULL);
}

static enum status gather_session(struct ctx *ctx, struct distilling *d)
{
    struct memory *v, *before = NEW(&ctx->arena, struct memory);
    size_t n;
    str id = episode_id(&ctx->arena, d->session);
    TRY(list_memories(ctx, d,
                      (struct memory_filter){.layer = S("identity"), .limit = IDENTITY_LINES},
                      &d->identity, &d->n_identity));
    TRY(list_memories(ctx, d,
                      (struct memory_filter){.layer = S("episode"),
                                             .after = d->date - 90 * DAY_MS,
                                             .before = d->date + DAY_MS,
                                             .limit = EPISODES + 1},
                      &v, &n));
    d->episodes = NEW_N(&ctx->arena, struct memory, EPISODES);
    for (size_t i = 0; i < n && d->n_episodes < EPISODES; i++)
        if (!str_eq(v[i].session, d->session))
            d->episodes[d->n_episodes++] = v[i];
    enum status s = store_memory(ctx, d->e->store, d->pool, id, before);
    if (s == OK && !before->valid_to)
        d->before = before;
    return soft_if(ctx, s, NOT_FOUND) ? OK : s;
}

/* --- the question and its answer --- */

static void note_time(struct engine *e, int64_t took_ms)
{
    int64_t before = e->core_model.took_ms;
    e->core_model.took_ms = 1 + (before ? (3 * before + took_ms) / 4 : took_ms);
}

static str told_of(struct arena *a, const struct kept *k)
{
    str slight = k->slight ? str_printf(a, " slight=%lld", (long long)k->slight) : S("");
    return str_printf(a, "pinned=%lld identity=%lld known=%lld unsaid=%lld secret=%lld" S_FMT,
                      (long long)k->pinned, (long long)k->identity, (long long)k->known,
                      (long long)k->unsaid, (long long)k->secret, S_ARG(slight));
}

/* A small model gives the empty example of the instructions as its answer. */
static bool is_blank(const struct said_of_session *said)
{
    const struct json *pinned = said->pinned_candidates;
    return !str_trim(said->episode.summary).n && !said->episode.topics.n &&
           !said->episode.decisions.n && !said->episode.action_items.n && !said->entities.n &&
           !said->identity_facts.n && !(pinned && pinned->first && pinned->first->next);
}

/* Why the answer needs a summary and has none, or "". */
static str no_summary(const struct job *j, const struct said_of_session *said)
{
    if (j->answer.is_cut)
        return S("no summary, and cut off");
    return j->said >= MUCH && is_blank(said)
               ? S("nothing of it is worth a word, though much was said")
               : S("");
}

static enum status keep_answer(struct ctx *ctx, struct job *j, const struct said_of_session *said,
                               struct distil_outcome *out)
{
    struct bundle b = {.pool = j->d.pool,
                       .session = {.id = j->d.session},
                       .rule = PUT_DISTILLED,
                       .distilled = j->signals,
                       .n_distilled = j->d.n};
    struct kept kept;
    enum status s = distil_keep(ctx, &j->d, said, &b, &kept);
    str why = s == NOT_FOUND ? no_summary(j, said) : str_dup(&ctx->arena, str_of(ctx->why));
    if (s == BAD_INPUT || (s == NOT_FOUND && why.n)) {
        soft(ctx, s);
        return end_failed(ctx, j, BAD_INPUT, why, out);
    }
    if (soft_if(ctx, s, NOT_FOUND)) {
        out->result = DISTIL_EMPTY;
        out->why = S("empty_summary");
        return end_done(ctx, j, "empty", out->why);
    }
    TRY(s);
    struct work work = work_of(j, "success", told_of(&ctx->arena, &kept));
    b.work = &work;
    s = store_write(ctx, j->d.e->store, &b);
    /* A part of the session was forgotten meanwhile, or another process was faster. */
    if (soft_if(ctx, s, CONFLICT)) {
        out->result = DISTIL_WAITS;
        out->why = S("changed_meanwhile");
        return postpone_session(ctx, j->d.e, j->w, clock_ms());
    }
    count(&j->d.e->counters.distilled, s == OK);
    return s;
}

/* Nothing has failed: the session waits for a model, for tokens or for the circuit breaker. */
static enum status end_waiting(struct ctx *ctx, struct job *j, struct distil_outcome *out)
{
    struct engine *e = j->d.e;
    enum core_why why = j->answer.why;
    assert(why != CORE_ANSWERED && why <= CORE_CANCELLED);
    int64_t wait_ms = why == CORE_BUDGET    ? AGAIN_MS
                      : why == CORE_BREAKER ? dependency_seconds(&e->core_model.background) * 1000
                                            : 0;
    *out = (struct distil_outcome){DISTIL_WAITS, str_of(core_why_code(why)), true, why};
    return postpone_session(ctx, e, j->w, clock_ms() + wait_ms);
}

static enum status put_question(struct ctx *ctx, struct job *j, struct distil_outcome *out)
{
    struct engine *e = j->d.e;
    struct said_of_session said;
    TRY(gather_session(ctx, &j->d));
    const struct core_ask_in in = {.kind = CORE_DISTIL,
                                   .pool = j->d.pool,
                                   .instructions = distil_instructions(),
                                   .prompt = distil_prompt(&ctx->arena, &j->d),
                                   .shape = said_of_session_fields,
                                   .out = &said,
                                   .wait_ms = 2 * e->settings->core_timeout_ms,
                                   .keeps_work = true};
    enum core_why why = core_ask(ctx, e, &in, &j->answer);
    e->core_model.wants = why == CORE_BUDGET ? j->answer.about : 0;
    if (j->answer.work.took_ms)
        note_time(e, j->answer.work.took_ms);
    if (why == CORE_ANSWERED)
        return keep_answer(ctx, j, &said, out);
    if (why <= CORE_CANCELLED)
        return end_waiting(ctx, j, out);
    str details = j->answer.work.details;
    enum status s = j->answer.status;
    return end_failed(ctx, j, s, details.n ? details : str_of(status_name(s)), out);
}

enum status distil_session(struct ctx *ctx, struct engine *e, const struct waiting_session *w,
                           struct distil_outcome *out)
{
    struct job j = {.w = w,
                    .d = {.e = e, .pool = w->pool, .session = w->session},
                    .answer.work = {.model = S("")}};
    struct bars bars;
    *out = (struct distil_outcome){.why = S("")};
    assert(w->pool.user.n && w->pool.space.n && w->session.n);
    TRY(bars_load(ctx, e, w->pool, &bars));
    TRY(store_signals(ctx, e->store, w->pool, w->session, SIGNALS_AT_ONCE, &j.d.signals, &j.d.n));
    if (!j.d.n) {
        out->result = DISTIL_NOTHING;
        return postpone_session(ctx, e, w, 0);
    }
    j.signals = NEW_N(&ctx->arena, int64_t, j.d.n);
    for (size_t i = 0; i < j.d.n; i++)
        j.signals[i] = j.d.signals[i].no;
    j.said = strip_turns(&ctx->arena, &bars, &j.d);
    if (j.said < NOVELTY_LEAST) {
        out->result = DISTIL_SKIPPED;
        out->why = str_printf(&ctx->arena, "low_novelty:%zuchars", j.said);
        return end_done(ctx, &j, "skipped", out->why);
    }
    return put_question(ctx, &j, out);
}

/* The end of the year 9999: a session with this time waits for a request. */
#define WHEN_ASKED ((int64_t)253402300799000)

int64_t distil_due(const struct runtime *l, int64_t now)
{
    bool is_manual = l->layers.extraction_mode == DISTIL_WHEN_ASKED;
    return is_manual ? WHEN_ASKED : now + l->layers.debounce_s * 1000;
}

int64_t distil_lease_ms(const struct engine *e)
{
    return 3 * e->settings->core_timeout_ms + 2 * CLAIM_SLACK_MS;
}

/* --- the background --- */

/* Tokens that the next session needs: as many as the last session that exceeded the budget. */
static int64_t tokens_wanted(const struct engine *e)
{
    int64_t wants = e->core_model.wants;
    return wants ? wants : ANSWER_ABOUT;
}

/* Whether anything could be distilled now, without a look at the store. */
static bool may_begin(struct ctx *ctx, struct engine *e)
{
    str words;
    return runtime_remembers(engine_runtime(e)) && !dependency_is_open(&e->core_model.background) &&
           core_may(ctx, e, tokens_wanted(e), &words) == CORE_ANSWERED;
}

/* One session after a failure, so that a broken server fails one session and not 16. A slow model
 * gets few, so that other processes can claim the rest. */
static size_t claim_of(struct engine *e)
{
    int64_t took = e->core_model.took_ms;
    bool is_slow = dependency_is_failing(&e->core_model.background) || !took;
    int64_t n = is_slow ? 1 : CLAIM_WORTH_MS / took;
    return (size_t)(n < 1 ? 1 : n > CLAIM_MAX ? CLAIM_MAX : n);
}

/*
 * Distilling costs processor time. Its threads have low priority, but a chat still waits until the
 * scheduler takes them off the processor. So they pause between two sessions while there are chats;
 * next to a slow model the pause is nothing.
 */
static void give_way(struct engine *e)
{
    static const struct timespec a_moment = {.tv_nsec = PAUSE_MS * 1000000};
    if (clock_mono_us() - e->work.chat_at < CHATS_MS * 1000)
        nanosleep(&a_moment, NULL);
}

static enum status distil_claimed(struct ctx *ctx, struct engine *e,
                                  const struct waiting_session *v, size_t n, bool *goes_on)
{
    int64_t began = clock_mono_us();
    assert(n <= CLAIM_MAX);
    *goes_on = true;
    for (size_t i = 0; i < n; i++) {
        if (!*goes_on || ctx_is_cut(ctx) || clock_mono_us() - began > CLAIM_SLACK_MS * 1000) {
            TRY(postpone_session(ctx, e, &v[i], v[i].due));
            continue;
        }
        CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
        struct distil_outcome out;
        enum status s = distil_session(&own, e, &v[i], &out);
        if (s != OK)
            return fail(ctx, s, "%s", own.why);
        *goes_on = !out.is_server;
        give_way(e);
    }
    return OK;
}

enum status engine_distil_some(struct ctx *ctx, struct engine *e, bool *more)
{
    struct waiting_session *v;
    size_t n;
    *more = false;
    if (!may_begin(ctx, e) || atomic_exchange(&e->work.is_looking, true))
        return OK;
    enum status s = store_due_sessions(ctx, e->store, distil_lease_ms(e), claim_of(e), &v, &n);
    e->work.is_looking = false;
    if (s != OK || !n)
        return s;
    return distil_claimed(ctx, e, v, n, more);
}

/* --- on demand --- */

enum status engine_sync(struct ctx *ctx, struct engine *e, struct pool_ref pool, int64_t *sessions)
{
    dependency_reset(&e->core_model.background); /* the caller may have repaired the server */
    return store_flush_signals(ctx, e->store, pool, S(""), sessions);
}

/* Why nothing can be distilled now, or "". */
static str reason_to_wait(struct ctx *ctx, struct engine *e)
{
    const struct dependency *model = &e->core_model.background;
    str words;
    enum core_why why = core_may(ctx, e, tokens_wanted(e), &words);
    if (why == CORE_UNSET || why == CORE_UNAVAILABLE)
        return words;
    if (!runtime_remembers(engine_runtime(e)))
        return S("memory is switched off");
    if (why != CORE_ANSWERED)
        return words;
    return dependency_is_failing(model) ? dependency_why(&ctx->arena, model) : S("");
}

/* Pending turns may keep the error of a failure before the last success, which is out of date. */
static enum status forget_old_error(struct ctx *ctx, struct engine *e, const struct pool_ref *pool,
                                    struct signal_stats *s)
{
    enum { LOOKED_AT = 20 };
    struct work *v;
    size_t n, i = 0;
    TRY(store_work_log(ctx, e->store, pool, S("distil"), LOOKED_AT, &v, &n));
    while (i < n && !v[i].model.n) /* the model was not asked */
        i++;
    if (i < n && (str_is(v[i].status, "success") || str_is(v[i].status, "empty")))
        s->error = S("");
    return OK;
}

static str last_failure(struct arena *a, const struct signal_stats *s)
{
    if (!s->error.n)
        return S("");
    return str_printf(a, S_FMT "; %s", S_ARG(s->error),
                      s->dead == s->sessions ? "given up until a sync is requested"
                                             : "retried within the hour");
}

enum status engine_distil_status(struct ctx *ctx, struct engine *e, const struct pool_ref *pool,
                                 struct distil_status *out)
{
    struct distil_status s = {.core_model = e->settings->core_model,
                              .reason = S(""),
                              .hour_tokens = llm_meter_spent(&e->core_model.meter),
                              .hour_budget = e->settings->core_tokens_per_hour};
    TRY(store_signal_stats(ctx, e->store, pool, &s.signals));
    if (s.signals.error.n)
        TRY(forget_old_error(ctx, e, pool, &s.signals));
    TRY(store_work_sum(ctx, e->store, clock_ms() - DAY_MS, &s.day));
    s.reason = reason_to_wait(ctx, e);
    s.available = !s.reason.n;
    if (s.available)
        s.reason = last_failure(&ctx->arena, &s.signals);
    *out = s;
    return OK;
}
