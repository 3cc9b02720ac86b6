/* background.c - sessions that are due for distilling, and the status of that work. */
#include <unistd.h>

#include "base/clock.h"
#include "engine/distil/distil.h"

/*
 * Workers of the background call engine_distil_some in turns. A session is due some seconds after
 * its last turn (debounce_s), so that a talk is distilled as a whole and not after every message. A
 * claim is a lease in the store: if the process dies, the session becomes due again, at the latest
 * when the lease ends, and other processes on the same store never take what is claimed.
 *
 * CLAIM_WORTH_MS / the time of the last answers gives the sessions of one claim: with a model that
 * answers in 50 ms eight, with one that takes seconds a single one.
 */

enum {
    CLAIM_MAX = 16,         /* sessions of one claim */
    CLAIM_WORTH_MS = 400,   /* what a claim should take, estimated from the last answers */
    CLAIM_SLACK_MS = 30000, /* a claim starts no other session after this time */
    PAUSE_MS = 5,           /* between two sessions while chats are expected */
    ANSWER_ABOUT = 300      /* tokens */
};

/* The end of the year 9999: a session with this time waits for a request. */
#define WHEN_ASKED ((int64_t)253402300799000)

int64_t distil_due(const struct settings *l, int64_t now)
{
    bool is_manual = l->extraction_mode == DISTIL_WHEN_ASKED;
    return is_manual ? WHEN_ASKED : now + l->summary_debounce_s * 1000;
}

/* Longer than a claim should take: no session of it begins after CLAIM_SLACK_MS, and one question
 * takes at most twice core_timeout_ms. A lease that ended early would let a second process distil
 * the same session. */
int64_t distil_lease_ms(const struct engine *e)
{
    return 3 * e->settings->core_timeout_ms + 2 * CLAIM_SLACK_MS;
}

/* --- the background --- */

/* Tokens that the next session needs: as many as the last session that exceeded the budget. */
static int64_t tokens_wanted(const struct engine *e)
{
    return e->core_model.wants ?: ANSWER_ABOUT;
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
 * After a failure of the server the rest of the claim is given back instead of failing one by one.
 *
 * Distilling costs processor time. Its threads have low priority, but a chat still waits until the
 * scheduler takes them off the processor. So they pause between two sessions while there are chats;
 * next to a slow model the pause is nothing.
 */
static enum status distil_claimed(struct ctx *ctx, struct engine *e,
                                  const struct waiting_session *v, size_t n, bool *goes_on)
{
    int64_t began = clock_mono_us();
    assert(n <= CLAIM_MAX);
    *goes_on = true;
    for (size_t i = 0; i < n; i++) {
        if (!*goes_on || ctx_is_cut(ctx) || clock_mono_us() - began > CLAIM_SLACK_MS * 1000) {
            TRY(distil_postpone(ctx, e, &v[i], v[i].due));
            continue;
        }
        CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
        struct distil_outcome out;
        TRY(ctx_pass(ctx, &own, distil_session(&own, e, &v[i], false, &out)));
        *goes_on = !out.is_server;
        if (engine_has_chats(e))
            usleep(PAUSE_MS * 1000);
    }
    return OK;
}

/* *more: call again at once. is_looking lets one worker look for due sessions at a time; the others
 * return at once, as they would find the same ones. */
enum status engine_distil_some(struct ctx *ctx, struct engine *e, bool *more)
{
    struct waiting_session *v;
    size_t n;
    str words;
    bool may_begin = runtime_remembers(engine_runtime(e)) &&
                     !dependency_is_open(&e->core_model.background) &&
                     core_may(ctx, e, tokens_wanted(e), &words) == CORE_ANSWERED;
    *more = false;
    if (!may_begin || atomic_exchange(&e->work.is_looking, true))
        return OK;
    enum status s = store_due_sessions(ctx, e->store, distil_lease_ms(e), claim_of(e), &v, &n);
    e->work.is_looking = false;
    if (s != OK || !n)
        return s;
    return distil_claimed(ctx, e, v, n, more);
}

/* --- on demand --- */

/* Distilling itself stays with the background. */
enum status engine_sync(struct ctx *ctx, struct engine *e, struct pool_ref pool, int64_t *sessions)
{
    dependency_reset(&e->core_model.background); /* the caller may have repaired the server */
    engine_catch_up(ctx, e, pool);
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

enum status engine_distil_status(struct ctx *ctx, struct engine *e, const struct pool_ref *pool,
                                 struct distil_status *out)
{
    struct distil_status s = {.core_model = e->settings->core_model,
                              .hour_tokens = llm_meter_spent(&e->core_model.meter),
                              .hour_budget = e->settings->core_tokens_per_hour};
    if (pool)
        engine_catch_up(ctx, e, *pool);
    TRY(store_signal_stats(ctx, e->store, pool, &s.signals));
    if (s.signals.error.n)
        TRY(forget_old_error(ctx, e, pool, &s.signals));
    TRY(store_work_sum(ctx, e->store, clock_ms() - DAY_MS, &s.day));
    s.reason = reason_to_wait(ctx, e);
    s.available = !s.reason.n;
    if (s.available && s.signals.error.n)
        s.reason =
            str_printf(&ctx->arena, S_FMT "; %s", S_ARG(s.signals.error),
                       s.signals.dead == s.signals.sessions ? "given up until a sync is requested"
                                                            : "retried within the hour");
    *out = s;
    return OK;
}
