/* call.c - one POST to a model's server, and what came of it. */
#include "base/json.h"
#include "base/words.h"
#include "llm/inside.h"

bool llm_is_anthropic(const struct upstream *up)
{
    return str_is(up->dialect, "anthropic");
}

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
    return n;
}

/* 529 is said by an Anthropic server that has too much to do. */
static bool may_pass(int code)
{
    return code == 408 || code == 429 || code >= 500;
}

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
        str why = str_dup(a, str_of(ctx->why));
        ctx_clear_failure(ctx);
        heard->may_pass = s == UPSTREAM;
        return fail(ctx, s == TIMED_OUT ? TIMED_OUT : UPSTREAM, "the server: " S_FMT, S_ARG(why));
    }
    if (answer.code < 200 || answer.code > 299) {
        str said = http_complaint(a, answer.body, SAID_MAX, &asked, 1);
        enum status how = answer.code == 401 || answer.code == 403 ? NO_AUTH : UPSTREAM;
        heard->body = answer.body;
        heard->may_pass = may_pass(answer.code);
        heard->retry_ms = answer.retry_ms;
        return fail(ctx, how, "the server answers %d%s" S_FMT, answer.code, said.n ? ": " : "",
                    S_ARG(said));
    }
    if (json_parse(ctx, answer.body, &heard->root) != OK) {
        ctx_clear_failure(ctx);
        return fail(ctx, UPSTREAM, "the server's answer is no JSON");
    }
    return OK;
}
