/* call.c - one POST to a model server. */
#include "llm/inside.h"

/* Whether a retry may help. 5xx includes 529, Anthropic's code for an overloaded server. */
static bool may_pass(int code)
{
    return code == 408 || code == 429 || code >= 500;
}

/* The failure is noted again in the words of this room, so that a user sees which server failed. */
enum status llm_post(struct ctx *ctx, const struct upstream *up, const char *path, str body,
                     int64_t timeout_ms, str asked, struct heard *heard)
{
    struct arena *a = &ctx->arena;
    const struct call call = {.body = body, .timeout_ms = timeout_ms, .answer_max = ANSWER_MAX};
    struct answer answer;
    *heard = (struct heard){0};
    enum status s = http_call_upstream(ctx, up, path, call, &answer);
    if (s != OK) {
        str why = ctx_take_why(ctx);
        /* A timeout is not retried: the next try would take as long, and the server may have billed
         * the first. */
        heard->may_pass = s == UPSTREAM;
        return fail(ctx, s == TIMED_OUT ? TIMED_OUT : UPSTREAM, "the model server: " S_FMT,
                    S_ARG(why));
    }
    if (answer.code < 200 || answer.code > 299) {
        str said = http_complaint(a, answer.body, SAID_MAX, up->key, &asked, 1);
        /* Without a valid key no retry and no other request can succeed, so this has a status of
         * its own. */
        enum status how = answer.code == 401 || answer.code == 403 ? NO_AUTH : UPSTREAM;
        heard->body = answer.body;
        heard->may_pass = may_pass(answer.code);
        heard->retry_ms = answer.retry_ms;
        return fail(ctx, how, "the model server answers %d%s" S_FMT, answer.code,
                    said.n ? ": " : "", S_ARG(said));
    }
    if (!soft(ctx, json_parse(ctx, answer.body, &heard->root)))
        return fail(ctx, UPSTREAM, "the answer of the model server is not JSON");
    return OK;
}
