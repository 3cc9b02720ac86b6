/* json.c - an answer that fits a table: asked for patiently, and once more when it does not fit. */
#include <sodium.h>
#include <time.h>

#include "base/clock.h"
#include "core/tokens.h"
#include "llm/inside.h"

enum { ASKS = 2, TRIES = 3, LOOK_MS = 20 };

/*
 * Waits before the next try, and grows with each; random, so that those who failed together do not
 * come back together. False when there is no time for it, or nobody waits any more.
 */
static bool wait(const struct ctx *ctx, const struct llm_ask *ask, int tries, int64_t asked_ms)
{
    static const int64_t pauses[TRIES - 1] = {250, 1000};
    int64_t ms = asked_ms > pauses[tries] ? asked_ms : pauses[tries];
    ms += randombytes_uniform((uint32_t)pauses[tries]);
    int64_t until = clock_mono_us() + ms * 1000;
    if (ctx->deadline_us ? until >= ctx->deadline_us : ms > ask->timeout_ms)
        return false;
    while (ctx_has_time(ctx) && clock_mono_us() < until)
        nanosleep(&(struct timespec){0, LOOK_MS * 1000000}, NULL);
    return ctx_has_time(ctx);
}

static enum status put(struct ctx *ctx, const struct llm_ask *ask, struct manner *how,
                       struct llm_answer *out)
{
    for (int tries = 1;; tries++) {
        struct heard heard;
        enum status s = llm_put(ctx, ask, how, out, &heard);
        if (s == OK || !heard.may_pass || tries == TRIES ||
            !wait(ctx, ask, tries - 1, heard.retry_ms))
            return s;
        ctx_clear_failure(ctx);
    }
}

static enum status read(struct ctx *ctx, const struct llm_answer *answer, const struct field *table,
                        bool leniently, void *out)
{
    struct json *object;
    TRY(llm_object(ctx, answer->text, &object));
    return llm_fit(ctx, table, object, leniently, out);
}

/* Why it does not fit, for the model and for who reads the log. */
static str complaint(struct arena *a, const struct ctx *ctx, const struct llm_answer *answer)
{
    return str_printf(a, "%s%s%s%s%s", *ctx->field ? "the member '" : "", ctx->field,
                      *ctx->field ? "' " : "", ctx->why,
                      answer->is_cut ? "; it was cut off, so it must be shorter" : "");
}

enum status llm_json(struct ctx *ctx, const struct llm_ask *ask, const struct field *table,
                     void *out, struct llm_answer *answer)
{
    struct manner how = {.as_json = true};
    struct llm_ask again = *ask;
    str why = S("");
    *answer = (struct llm_answer){.text = S("")};
    for (int i = 0; i < ASKS; i++) {
        struct llm_answer one;
        enum status s = put(ctx, &again, &how, &one);
        if (s == TIMED_OUT) /* it was read all the same */
            answer->tokens_in += tokens_of(again.system) + tokens_of(again.user);
        TRY(s);
        answer->text = one.text;
        answer->is_cut = one.is_cut;
        answer->tokens_in += one.tokens_in;
        answer->tokens_out += one.tokens_out;
        if (read(ctx, &one, table, i + 1 == ASKS, out) == OK)
            return OK;
        why = complaint(&ctx->arena, ctx, &one);
        ctx_clear_failure(ctx);
        again.user = str_printf(&ctx->arena,
                                S_FMT "\n\nYour last answer to this could not be used: " S_FMT
                                      ". Answer again, with one JSON object and nothing else.",
                                S_ARG(ask->user), S_ARG(why));
    }
    return fail(ctx, BAD_INPUT, "the model answered twice with what does not fit: " S_FMT,
                S_ARG(why));
}
