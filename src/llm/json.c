/* json.c - requests a JSON object that fits a table, with retries and one correction. */
#include <sodium.h>

#include "base/clock.h"
#include "llm/inside.h"

/* ASKS: the question and one correction; a model that fails twice seldom succeeds later. TRIES: per
 * question, for failures of the server. LOOK_MS: how soon a cancelled call ends its pause. */
enum { ASKS = 2, TRIES = 3, LOOK_MS = 20 };

/*
 * Waits before the next try, longer each time. The wait is random, so that requests that failed
 * together are not repeated together. False: no time is left, or the call was cancelled.
 */
static bool wait_to_retry(const struct ctx *ctx, const struct llm_ask *ask, int tries,
                          int64_t asked_ms)
{
    /* In ms; up to the same time again is added at random. */
    static const int64_t pauses[TRIES - 1] = {250, 1000};
    assert(tries >= 0 && tries < TRIES - 1);
    int64_t ms = asked_ms > pauses[tries] ? asked_ms : pauses[tries];
    ms += randombytes_uniform((uint32_t)pauses[tries]);
    int64_t until = clock_mono_us() + ms * 1000;
    /* A wait that cannot end in time is not begun. Without a deadline the limit is the timeout of
     * one call: a server may ask for an hour in Retry-After. */
    if (ctx->deadline_us ? until >= ctx->deadline_us : ms > ask->timeout_ms)
        return false;
    while (ctx_has_time(ctx) && clock_mono_us() < until)
        nanosleep(&(struct timespec){0, LOOK_MS * 1000000}, NULL);
    return ctx_has_time(ctx);
}

/* Repeats only transient failures; a wrong key stays wrong. */
static enum status put_patiently(struct ctx *ctx, const struct llm_ask *ask, struct manner *how,
                                 struct llm_answer *out)
{
    for (int tries = 1;; tries++) {
        struct heard heard;
        enum status s = llm_put(ctx, ask, how, out, &heard);
        if (s == OK || !heard.may_pass || tries == TRIES ||
            !wait_to_retry(ctx, ask, tries - 1, heard.retry_ms))
            return s;
        soft(ctx, s);
    }
}

/* Why the answer is unusable, for the model and for the log. */
static str complaint_of(struct arena *a, const struct ctx *ctx, const struct llm_answer *answer)
{
    return str_printf(a, "%s%s%s%s%s", *ctx->field ? "the member '" : "", ctx->field,
                      *ctx->field ? "' " : "", ctx->why,
                      answer->is_cut ? "; the answer was cut off, so it must be shorter" : "");
}

/* The reason of the first failure goes into the second prompt: most models correct themselves. */
enum status llm_json(struct ctx *ctx, const struct llm_ask *ask, const struct field *table,
                     void *out, struct llm_answer *answer)
{
    struct manner how = {.as_json = true};
    struct llm_ask again = *ask;
    str why = S("");
    *answer = (struct llm_answer){.text = S("")};
    for (int i = 0; i < ASKS; i++) {
        struct llm_answer one;
        enum status s = put_patiently(ctx, &again, &how, &one);
        answer->tokens_in += one.tokens_in;
        answer->tokens_out += one.tokens_out;
        /* Where the server fails, another wording of the question would not help. */
        TRY(s);
        answer->text = one.text;
        answer->is_cut = one.is_cut || llm_breaks_off(one.text);
        struct json *object;
        if (llm_object(ctx, one.text, &object) == OK &&
            llm_fit(ctx, table, object, i + 1 == ASKS, out) == OK)
            return OK;
        why = complaint_of(&ctx->arena, ctx, &one);
        ctx_clear_failure(ctx);
        again.user = str_printf(&ctx->arena,
                                S_FMT "\n\nYour last answer to this could not be used: " S_FMT
                                      ". Answer again, with one JSON object and nothing else.",
                                S_ARG(ask->user), S_ARG(why));
    }
    return fail(ctx, BAD_INPUT, "the model gave two unusable answers: " S_FMT, S_ARG(why));
}
