/* distil.c - sessions become episodes and facts: one question to the core model, one write. */
#include "engine/distil.h"

#include <sodium.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/words.h"
#include "core/tokens.h"

/*
 * Whoever works on a session has claimed it, and what it makes is written together with the end of
 * its signals, all or nothing: whoever dies between the model's answer and that write has changed
 * nothing, and the claim ends by itself. What the model says is not asked to be true: only what the
 * user's own words bear out becomes a fact.
 */
enum {
    NOVELTY_LEAST = 80, /* characters of a session below which nobody is asked */
    MUCH = 1000,        /* so many of which something must be worth a word */
    SIGNALS_AT_ONCE = 1000,
    IDENTITY_LINES = 30,
    EPISODES = 3,
    FAULTS_MAX = 5, /* answers of a session that do not fit before it waits to be asked for */
    CLAIM_MAX = 16,
    CLAIM_WORTH_MS = 400, /* what a claim should take, by the last answers */
    CLAIM_SLACK_MS = 30000,
    CHATS_MS = 50, /* for so long after a chat others are expected */
    PAUSE_MS = 5,
    AGAIN_MS = 60000,
    AGAIN_MOST_MS = 3600000,
    ANSWER_ABOUT = 300 /* tokens */
};
/* --- how a claim ends --- */

/*
 * A minute, doubled with each failure up to an hour; random, so that they do not all come back at
 * once. What the server refuses is put to it every hour for as long as it does: it may be out for a
 * weekend, and nobody must be there to go on. The status says so.
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
    const struct llm_ask *ask;
    struct llm_answer answer;
    int64_t *signals, took_ms;
    size_t said; /* characters */
};

static struct work work_of(const struct job *j, const char *status, str details)
{
    bool asked = j->answer.tokens_in + j->answer.tokens_out > 0 || j->took_ms > 0;
    return (struct work){.pool = j->w->pool,
                         .kind = S("distil"),
                         .status = str_of(status),
                         .details = details,
                         .model = asked && j->ask ? j->ask->model : S(""),
                         .tokens_in = j->answer.tokens_in,
                         .tokens_out = j->answer.tokens_out,
                         .took_ms = j->took_ms};
}

static enum status leave(struct ctx *ctx, struct engine *e, const struct waiting_session *w,
                         int64_t at)
{
    struct distil_end end = {.pool = w->pool, .session = w->session, .again_at = at};
    return store_end_distil(ctx, e->store, &end);
}

static enum status end_done(struct ctx *ctx, struct job *j, const char *status, str why)
{
    struct work work = work_of(j, status, why);
    struct distil_end end = {.pool = j->w->pool,
                             .session = j->w->session,
                             .done = j->signals,
                             .n_done = j->d.n,
                             .work = &work};
    return store_end_distil(ctx, j->d.e->store, &end);
}

/* What does not fit is the session's own fault, mostly; the rest is the server's. */
static enum status end_failed(struct ctx *ctx, struct job *j, enum status s, str why,
                              struct distil_outcome *out)
{
    bool own = s == BAD_INPUT;
    bool again = str_starts(j->w->error, S("answer: "));
    bool dead = own && again && j->w->tries + 1 >= FAULTS_MAX;
    str error = str_printf(&ctx->arena, "%s" S_FMT, own ? "answer: " : "", S_ARG(why));
    struct work work = work_of(j, dead ? "dead" : "error", error);
    struct distil_end end = {.pool = j->w->pool,
                             .session = j->w->session,
                             .again_at = again_at(j->w->tries),
                             .error = error,
                             .is_dead = dead,
                             .work = &work};
    count(&j->d.e->distil_failed, 1);
    out->result = DISTIL_FAILED;
    out->is_server = !own;
    out->why = error;
    log_event(LOG_WARN, "distil.failed", "status=%s tries=%lld dead=%d", status_name(s),
              (long long)j->w->tries + 1, dead);
    return store_end_distil(ctx, j->d.e->store, &end);
}

/* --- what goes into the question --- */

static size_t strip(struct arena *a, struct distilling *d)
{
    size_t said = 0;
    for (size_t i = 0; i < d->n; i++) {
        struct pending_signal *s = &d->signals[i];
        str text = s->message.is_echo ? s->message.says : s->message.text;
        s->message.text = str_trim(engine_strip_block(a, text));
        s->answer = str_trim(engine_strip_block(a, s->answer));
        said += utf16_length(s->message.text) + utf16_length(s->answer);
        d->date = s->message.created > d->date ? s->message.created : d->date;
    }
    return said;
}

static enum status list(struct ctx *ctx, const struct distilling *d, struct memory_filter f,
                        struct memory **out, size_t *n)
{
    f.pool = d->pool;
    return store_list_memories(ctx, d->e->store, &f, out, n, NULL);
}

static enum status gather(struct ctx *ctx, struct distilling *d)
{
    struct memory *v, *before = NEW(&ctx->arena, struct memory);
    size_t n;
    str id = episode_id(&ctx->arena, d->session);
    TRY(list(ctx, d, (struct memory_filter){.layer = S("identity"), .limit = IDENTITY_LINES},
             &d->identity, &d->n_identity));
    TRY(list(ctx, d,
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
    if (s == NOT_FOUND)
        ctx_clear_failure(ctx);
    return s == NOT_FOUND ? OK : s;
}

/* --- the question and its answer --- */

static void note_time(struct engine *e, int64_t took_ms)
{
    int64_t before = e->core_took_ms;
    e->core_took_ms = 1 + (before ? (3 * before + took_ms) / 4 : took_ms);
}

static enum status ask(struct ctx *ctx, struct job *j, struct said_of_session *said)
{
    struct engine *e = j->d.e;
    int64_t began = clock_mono_us(), most = began + 2 * e->settings->core_timeout_ms * 1000;
    int64_t deadline = ctx->deadline_us;
    ctx->deadline_us = deadline && deadline < most ? deadline : most;
    enum status s = llm_json(ctx, j->ask, said_of_session_fields, said, &j->answer);
    ctx->deadline_us = deadline;
    j->took_ms = (clock_mono_us() - began) / 1000 + 1;
    llm_meter_add(&e->meter, j->answer.tokens_in + j->answer.tokens_out);
    note_time(e, j->took_ms);
    return s;
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

/* Why there is no summary although there must be one, or "". */
static str no_summary(const struct job *j, const struct said_of_session *said)
{
    if (j->answer.is_cut)
        return S("no summary, and cut off");
    return j->said >= MUCH && is_blank(said)
               ? S("nothing of it is worth a word, though much was said")
               : S("");
}

static enum status keep(struct ctx *ctx, struct job *j, const struct said_of_session *said,
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
        ctx_clear_failure(ctx);
        return end_failed(ctx, j, BAD_INPUT, why, out);
    }
    if (s == NOT_FOUND) {
        ctx_clear_failure(ctx);
        out->result = DISTIL_EMPTY;
        out->why = S("empty_summary");
        return end_done(ctx, j, "empty", out->why);
    }
    TRY(s);
    struct work work = work_of(j, "success", told_of(&ctx->arena, &kept));
    b.work = &work;
    s = store_write(ctx, j->d.e->store, &b);
    if (s == CONFLICT) { /* something of it was forgotten, or another process was first */
        ctx_clear_failure(ctx);
        out->result = DISTIL_WAITS;
        out->why = S("changed_meanwhile");
        return leave(ctx, j->d.e, j->w, clock_ms());
    }
    count(&j->d.e->distilled, s == OK);
    return s;
}

static bool is_cut(const struct ctx *ctx)
{
    return ctx->is_cut && *ctx->is_cut;
}

static enum status ask_and_keep(struct ctx *ctx, struct job *j, struct distil_outcome *out)
{
    struct engine *e = j->d.e;
    struct said_of_session said;
    int64_t ticket;
    if (!breaker_begin(&e->core, &ticket)) {
        *out = (struct distil_outcome){DISTIL_WAITS, S("breaker_open"), true};
        return leave(ctx, e, j->w, clock_ms() + breaker_seconds(&e->core) * 1000);
    }
    enum status s = ask(ctx, j, &said);
    if (s != OK && is_cut(ctx)) {
        ctx_clear_failure(ctx);
        *out = (struct distil_outcome){DISTIL_WAITS, S("cancelled"), true};
        return leave(ctx, e, j->w, clock_ms());
    }
    breaker_end(&e->core, ticket, s == OK || s == BAD_INPUT);
    if (s == OK)
        return keep(ctx, j, &said, out);
    str why = str_dup(&ctx->arena, str_of(ctx->why));
    ctx_clear_failure(ctx);
    return end_failed(ctx, j, s, why.n ? why : str_of(status_name(s)), out);
}

static enum status put_question(struct ctx *ctx, struct job *j, struct distil_outcome *out)
{
    struct engine *e = j->d.e;
    struct llm_ask question = {.system = distil_instructions(),
                               .max_tokens = e->settings->core_max_tokens,
                               .timeout_ms = e->settings->core_timeout_ms};
    if (llm_core(ctx, e->settings, &question.up, &question.model) != OK) {
        bool unset = !e->settings->core_model.n;
        ctx_clear_failure(ctx);
        *out = (struct distil_outcome){DISTIL_WAITS,
                                       unset ? S("core_model_unset") : S("core_model_unavailable"),
                                       true};
        return leave(ctx, e, j->w, clock_ms());
    }
    TRY(gather(ctx, &j->d));
    question.user = distil_prompt(&ctx->arena, &j->d);
    j->ask = &question;
    int64_t about = tokens_of(question.system) + tokens_of(question.user) + ANSWER_ABOUT;
    bool may = llm_meter_may(&e->meter, e->settings->core_tokens_per_hour, about);
    e->core_wants = may ? 0 : about;
    if (!may) {
        *out = (struct distil_outcome){DISTIL_WAITS, S("token_budget"), true};
        return leave(ctx, e, j->w, clock_ms() + AGAIN_MS);
    }
    enum status s = ask_and_keep(ctx, j, out);
    j->ask = NULL;
    return s;
}

enum status distil_session(struct ctx *ctx, struct engine *e, const struct waiting_session *w,
                           struct distil_outcome *out)
{
    struct job j = {.w = w, .d = {.e = e, .pool = w->pool, .session = w->session}};
    *out = (struct distil_outcome){.why = S("")};
    TRY(store_signals(ctx, e->store, w->pool, w->session, SIGNALS_AT_ONCE, &j.d.signals, &j.d.n));
    if (!j.d.n) {
        out->result = DISTIL_NOTHING;
        return leave(ctx, e, w, 0);
    }
    j.signals = NEW_N(&ctx->arena, int64_t, j.d.n);
    for (size_t i = 0; i < j.d.n; i++)
        j.signals[i] = j.d.signals[i].no;
    j.said = strip(&ctx->arena, &j.d);
    if (j.said < NOVELTY_LEAST) {
        out->result = DISTIL_SKIPPED;
        out->why = str_printf(&ctx->arena, "low_novelty:%zuchars", j.said);
        return end_done(ctx, &j, "skipped", out->why);
    }
    return put_question(ctx, &j, out);
}

/* In a year that nobody sees: it waits to be asked for. */
#define WHEN_ASKED ((int64_t)253402300799000)

int64_t distil_due(const struct live *l, int64_t now)
{
    bool is_manual = str_is(l->osaurus.extraction_mode, "manual");
    return is_manual ? WHEN_ASKED : now + l->osaurus.debounce_s * 1000;
}

int64_t distil_lease_ms(const struct engine *e)
{
    return 3 * e->settings->core_timeout_ms + 2 * CLAIM_SLACK_MS;
}

/* --- the background --- */

/* Whether the hour has room for another session: the one that found none, if there was one. */
static bool has_tokens(struct engine *e)
{
    int64_t wants = e->core_wants;
    return llm_meter_may(&e->meter, e->settings->core_tokens_per_hour,
                         wants ? wants : ANSWER_ABOUT);
}

/* Whether anything could be distilled now, without a look at the store. */
static bool may_begin(struct ctx *ctx, struct engine *e)
{
    const struct upstream *up;
    str model;
    bool has_model = llm_core(ctx, e->settings, &up, &model) == OK;
    ctx_clear_failure(ctx);
    int64_t until = e->core.until_us;
    return has_model && live_remembers(engine_live(e)) && (!until || clock_mono_us() >= until) &&
           has_tokens(e);
}

/* One after a failure, so that the others are not all taken through it; of a slow model's sessions
 * no more than others could have taken meanwhile. */
static size_t claim_of(struct engine *e)
{
    int64_t took = e->core_took_ms;
    int64_t n = e->core.until_us || !took ? 1 : CLAIM_WORTH_MS / took;
    return (size_t)(n < 1 ? 1 : n > CLAIM_MAX ? CLAIM_MAX : n);
}

/*
 * What a session costs is the processor, most of all, and its threads have little priority already;
 * but a chat that comes meanwhile finds what it needs taken until they are put aside. So they pause
 * between sessions while there are chats. A model that takes its time does not notice.
 */
static void give_way(struct engine *e)
{
    static const struct timespec a_moment = {.tv_nsec = PAUSE_MS * 1000000};
    if (clock_mono_us() - e->chat_at < CHATS_MS * 1000)
        nanosleep(&a_moment, NULL);
}

static enum status distil_claimed(struct ctx *ctx, struct engine *e,
                                  const struct waiting_session *v, size_t n, bool *goes_on)
{
    int64_t began = clock_mono_us();
    *goes_on = true;
    for (size_t i = 0; i < n; i++) {
        if (!*goes_on || is_cut(ctx) || clock_mono_us() - began > CLAIM_SLACK_MS * 1000) {
            TRY(leave(ctx, e, &v[i], v[i].due));
            continue;
        }
        CLEANUP(ctx_free) struct ctx own = {.is_cut = ctx->is_cut};
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
    if (!may_begin(ctx, e) || atomic_exchange(&e->is_looking, true))
        return OK;
    enum status s = store_due_sessions(ctx, e->store, distil_lease_ms(e), claim_of(e), &v, &n);
    e->is_looking = false;
    if (s != OK || !n)
        return s;
    return distil_claimed(ctx, e, v, n, more);
}

/* --- on demand --- */

enum status engine_sync(struct ctx *ctx, struct engine *e, struct pool_ref pool, int64_t *sessions)
{
    breaker_reset(&e->core); /* who asks may have mended it */
    return store_flush_signals(ctx, e->store, pool, S(""), sessions);
}

static str hindrance(struct ctx *ctx, struct engine *e)
{
    if (!live_remembers(engine_live(e)))
        return S("memory is switched off");
    if (!has_tokens(e))
        return S("the tokens of this hour are spent");
    if (e->core.until_us)
        return str_printf(&ctx->arena, "the core model has failed and is left alone for %lld s",
                          (long long)breaker_seconds(&e->core));
    return S("");
}

/* What waits may have failed before others went well: then that is no news. */
static enum status forget_old_error(struct ctx *ctx, struct engine *e, const struct pool_ref *pool,
                                    struct signal_stats *s)
{
    enum { LOOKED_AT = 20 };
    struct work *v;
    size_t n, i = 0;
    TRY(store_work_log(ctx, e->store, pool, S("distil"), LOOKED_AT, &v, &n));
    while (i < n && !v[i].model.n) /* nobody was asked */
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
                      s->dead == s->sessions ? "given up until it is asked for"
                                             : "it is tried again within the hour");
}

enum status engine_distil_status(struct ctx *ctx, struct engine *e, const struct pool_ref *pool,
                                 struct distil_status *out)
{
    struct distil_status s = {.core_model = e->settings->core_model,
                              .reason = S(""),
                              .hour_tokens = llm_meter_spent(&e->meter),
                              .hour_budget = e->settings->core_tokens_per_hour};
    const struct upstream *up;
    str model;
    TRY(store_signal_stats(ctx, e->store, pool, &s.signals));
    if (s.signals.error.n)
        TRY(forget_old_error(ctx, e, pool, &s.signals));
    TRY(store_work_sum(ctx, e->store, clock_ms() - DAY_MS, &s.day));
    bool has_model = llm_core(ctx, e->settings, &up, &model) == OK;
    str why = str_dup(&ctx->arena, str_of(ctx->why));
    ctx_clear_failure(ctx);
    s.reason = has_model ? hindrance(ctx, e) : why;
    s.available = !s.reason.n;
    if (s.available)
        s.reason = last_failure(&ctx->arena, &s.signals);
    *out = s;
    return OK;
}
