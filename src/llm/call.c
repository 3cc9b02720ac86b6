/* call.c - one POST to a model server. */
#include "base/json.h"

#include "llm/inside.h"
#include <assert.h>

bool llm_is_anthropic(const struct upstream *up)
{
    return str_is(up->dialect, "anthropic");
}

/* At most three. The version is a date that Anthropic's API requires in each request; later
 * versions of the format have other dates. */
static size_t headers_of(struct arena *a, const struct upstream *up, struct header out[3])
{
    size_t n = 0;
    out[n++] = (struct header){S("Content-Type"), S("application/json")};
    if (llm_is_anthropic(up))
        out[n++] = (struct header){S("anthropic-version"), S("2023-06-01")};
    if (up->key.n && llm_is_anthropic(up))
        out[n++] = (struct header){S("x-api-key"), up->key};
    else if (up->key.n)
        out[n++] =
            (struct header){S("Authorization"), str_printf(a, "Bearer " S_FMT, S_ARG(up->key))};
    assert(n <= 3);
    return n;
}

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
    struct header headers[3];
    struct call call = {.url = upstream_url(a, up, str_of(path), S("")),
                        .method = S("POST"),
                        .headers = headers,
                        .n_headers = headers_of(a, up, headers),
                        .body = body,
                        .timeout_ms = timeout_ms,
                        .answer_max = ANSWER_MAX};
    struct answer answer;
    *heard = (struct heard){0};
    enum status s = http_call(ctx, &call, &answer);
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
