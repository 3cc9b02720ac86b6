/* call.c - calls to the running server, with the token of the environment. */
#include "ext/shell/call.h"

enum { TIMEOUT_MS = 10000, SILENCE_MS = 600000, ANSWER_MAX = 16 << 20, REASON_MAX = 300 };

/* A key of the model's server goes where an application would send it, if there is no token. */
str shell_credential(void)
{
    str token = server_token();
    return token.n ? token : str_trim(str_of(getenv("OPENAI_API_KEY")));
}

enum status shell_call(struct ctx *ctx, const struct called_server *s, const char *method, str path,
                       str body, struct intake *intake, struct answer *out)
{
    const struct call call = {.url =
                                  str_printf(&ctx->arena, S_FMT S_FMT, S_ARG(s->url), S_ARG(path)),
                              .method = str_of(method),
                              .headers = s->headers,
                              .n_headers = s->n_headers,
                              .body = body,
                              .timeout_ms = intake ? SILENCE_MS : TIMEOUT_MS,
                              .answer_max = ANSWER_MAX,
                              .intake = intake};
    enum status status = http_call(ctx, &call, out);
    if (status != UPSTREAM)
        return status;
    str why = ctx_take_why(ctx);
    return fail(ctx, UPSTREAM,
                "no server answers at " S_FMT "; start it with rememberd serve, or name its "
                "address with --url (" S_FMT ")",
                S_ARG(s->url), S_ARG(why));
}

enum status shell_check(struct ctx *ctx, const struct answer *answer)
{
    bool is_refused = answer->code == 401 || answer->code == 403;
    if (answer->code == 200)
        return OK;
    enum status s = is_refused ? FORBIDDEN : answer->code == 404 ? NOT_FOUND : UPSTREAM;
    return fail(ctx, s, "the server answered %d: " S_FMT "%s", answer->code,
                S_ARG(http_complaint(&ctx->arena, answer->body, REASON_MAX, shell_credential(),
                                     NULL, 0)),
                is_refused ? " (the variable " TOKEN_VARIABLE " holds the access token)" : "");
}

enum status shell_get(struct ctx *ctx, const struct called_server *s, str path, struct json **out)
{
    struct answer answer;
    TRY(shell_call(ctx, s, "GET", path, S(""), NULL, &answer));
    TRY(shell_check(ctx, &answer));
    return json_parse(ctx, answer.body, out);
}
