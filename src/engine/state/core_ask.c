/* core_ask.c - every question to the core model: budget, breaker, deadline, meter, work log. */
#include "engine/state/core_ask.h"

#include "base/clock.h"
#include "core/tokens.h"

static const struct {
    const char *work;     /* kind of the work log */
    int64_t answer_about; /* tokens that it usually has, for the budget */
} kinds[] = {
    [CORE_DISTIL] = {"distil", 300},   [CORE_GATE] = {"gate", 50},
    [CORE_REWRITE] = {"rewrite", 200}, [CORE_SUMMARY] = {"summary", 500},
    [CORE_PROFILE] = {"profile", 300}, [CORE_DEDUP] = {"dedup", 100},
};

/*
 * All questions to the core model go through core_ask, so that a new use cannot forget budget,
 * breaker, deadline, meter or work log. Tokens of a call that failed count, too: the server bills
 * those as well.
 */

/* words NULL: as the failed step words it. */
static const struct {
    const char *code, *words;
} whys[] = {
    [CORE_ANSWERED] = {"answered", ""},
    [CORE_UNSET] = {"core_model_unset", NULL},
    [CORE_UNAVAILABLE] = {"core_model_unavailable", NULL},
    [CORE_BUDGET] = {"token_budget", "the hourly token budget is used up"},
    [CORE_BREAKER] = {"breaker_open", NULL},
    [CORE_CANCELLED] = {"cancelled", "the call was cancelled"},
    [CORE_LATE] = {"timed_out", "timed out"},
    [CORE_UNUSABLE] = {"unusable", NULL},
    [CORE_FAILED] = {"failed", NULL},
};

/* The word that APIs and logs show for an outcome; clients compare it, so it never changes. */
const char *core_why_code(enum core_why why)
{
    assert((size_t)why < sizeof whys / sizeof *whys);
    return whys[why].code;
}

static str words_of(struct ctx *ctx, enum core_why why)
{
    str noted = ctx_take_why(ctx);
    return whys[why].words ? str_of(whys[why].words) : noted;
}

/* CORE_ANSWERED here means: nothing speaks against asking. */
static enum core_why check_settings(struct ctx *ctx, const struct engine *e, int64_t about,
                                    struct llm_ask *ask)
{
    const struct settings *s = e->settings;
    if (llm_core(ctx, s, &ask->up, &ask->model) != OK)
        return s->core_model.n ? CORE_UNAVAILABLE : CORE_UNSET;
    bool may = llm_meter_may(&e->core_model.meter, s->core_tokens_per_hour, about);
    return may ? CORE_ANSWERED : CORE_BUDGET;
}

/* Promises nothing: another thread may spend the tokens first. */
enum core_why core_may(struct ctx *ctx, const struct engine *e, int64_t about, str *words)
{
    struct llm_ask ask;
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    enum core_why why = check_settings(&own, e, about, &ask);
    *words = str_dup(&ctx->arena, words_of(&own, why));
    return why;
}

/* --- one question --- */

/* BAD_INPUT comes from answers that are not the JSON that was asked for: a fault of the answer and
 * not of the server, so it does not open the background's breaker (state/dependency.c). */
static enum core_why why_of(const struct ctx *ctx, enum status s)
{
    return s == OK           ? CORE_ANSWERED
           : ctx_is_cut(ctx) ? CORE_CANCELLED
           : s == TIMED_OUT  ? CORE_LATE
           : s == BAD_INPUT  ? CORE_UNUSABLE
                             : CORE_FAILED;
}

/* took_ms is at least 1 once a call was made: 0 tells callers that no call was made. Questions for
 * which a chat waits have their own breakers: too late for a chat is early enough for the rest. */
static enum core_why ask_model(struct ctx *ctx, struct engine *e, const struct core_ask_in *in,
                               const struct llm_ask *ask, struct core_answer *out)
{
    struct dependency *d = in->kind == CORE_GATE      ? &e->core_model.sections
                           : in->kind == CORE_REWRITE ? &e->core_model.rewriter
                                                      : &e->core_model.background;
    struct llm_answer answer;
    int64_t ticket, began = clock_mono_us();
    out->status = dependency_begin(ctx, d, &ticket);
    if (out->status != OK)
        return CORE_BREAKER;
    out->status =
        in->shape ? llm_json(ctx, ask, in->shape, in->out, &answer) : llm_ask(ctx, ask, &answer);
    dependency_end(ctx, d, ticket, out->status);
    llm_meter_add(&e->core_model.meter, answer.tokens_in + answer.tokens_out);
    out->text = answer.text;
    out->is_cut = answer.is_cut;
    out->work.model = ask->model;
    out->work.tokens_in = answer.tokens_in;
    out->work.tokens_out = answer.tokens_out;
    out->work.took_ms = (clock_mono_us() - began) / 1000 + 1;
    if (out->status != OK || !in->read)
        return why_of(ctx, out->status);
    out->status = in->read(ctx, &answer, in->out);
    return out->status == OK ? CORE_ANSWERED : CORE_UNUSABLE;
}

/* timeout_ms is of one call, the deadline of ctx of all of them. */
static enum core_why put_question(struct ctx *ctx, struct engine *e, const struct core_ask_in *in,
                                  struct core_answer *out)
{
    const struct settings *s = e->settings;
    struct llm_ask ask = {.system = in->instructions,
                          .user = in->prompt,
                          .max_tokens = in->max_tokens ? in->max_tokens : s->core_max_tokens,
                          .timeout_ms = s->core_timeout_ms};
    if (in->wait_ms && in->wait_ms < ask.timeout_ms)
        ask.timeout_ms = in->wait_ms;
    enum core_why why = check_settings(ctx, e, out->about, &ask);
    out->status = why == CORE_ANSWERED ? OK : why == CORE_BUDGET ? TOO_BUSY : UNSUPPORTED;
    return why == CORE_ANSWERED ? ask_model(ctx, e, in, &ask, out) : why;
}

/* In a ctx that no deadline cuts: a question that came too late is logged as well. */
void core_log(struct ctx *ctx, struct engine *e, const struct work *work)
{
    CLEANUP(ctx_free) struct ctx own = ctx_detached(ctx);
    if (store_log_work(&own, e->store, work) != OK)
        log_event(LOG_WARN, "core_model.unlogged", "id=%s kind=" S_FMT " why=\"%s\"", own.id,
                  S_ARG(work->kind), own.why);
}

enum core_why core_ask(struct ctx *ctx, struct engine *e, const struct core_ask_in *in,
                       struct core_answer *out)
{
    int64_t wait_ms = in->wait_ms ? in->wait_ms : e->settings->core_timeout_ms;
    assert((size_t)in->kind < sizeof kinds / sizeof *kinds && !(in->shape && in->read));
    struct ctx call = ctx_child(ctx, wait_ms);
    call.arena = ctx->arena; /* lent, so that the answer is in the caller's arena */
    *out = (struct core_answer){
        .text = S(""),
        .about = tokens_of(in->instructions) + tokens_of(in->prompt) + kinds[in->kind].answer_about,
        .work = {.pool = in->pool, .kind = str_of(kinds[in->kind].work), .model = S("")}};
    out->why = put_question(&call, e, in, out);
    out->work.status = out->why == CORE_ANSWERED ? S("success") : S("error");
    out->work.details = str_dup(&call.arena, str_of(call.why));
    out->work.created = clock_ms();
    out->words = words_of(&call, out->why);
    ctx->arena = call.arena;
    if (out->work.took_ms && !in->keeps_work)
        core_log(ctx, e, &out->work);
    return out->why;
}

enum status engine_find_core(struct ctx *ctx, const struct settings *settings, str *model, str *url)
{
    const struct upstream *up;
    TRY(llm_core(ctx, settings, &up, model));
    *url = up->url;
    return OK;
}
