/* hook.c - the command hook: passes what a coding agent reports on to the server. */
#include <errno.h>
#include <unistd.h>

#include "ext/connect/command.h"
#include "http/http.h"

#include "ext/connect/connect.h"

/*
 * A coding agent starts this program, writes the event's JSON to its standard input and waits. It
 * must never be held up or stopped by memory: an exit status of 2 would mean that the user's prompt
 * is refused. So the row of this command makes every exit status 0 (main.c), the server has a short
 * time to answer, and what goes wrong is one line on standard error.
 */
enum { EVENT_MAX = 16 << 20, READ_SIZE = 64 << 10, TIMEOUT_MS = 4000, ANSWER_MAX = 1 << 20 };

static enum status read_event(struct ctx *ctx, str *out)
{
    struct buf all = buf_make(&ctx->arena, EVENT_MAX);
    char *bytes = arena_alloc(&ctx->arena, READ_SIZE);
    for (;;) {
        ssize_t n = read(STDIN_FILENO, bytes, READ_SIZE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(ctx, UPSTREAM, "the event cannot be read: %s", strerror(errno));
        if (n == 0)
            break;
        buf_add(&all, (str){bytes, (size_t)n});
    }
    if (all.full)
        return fail(ctx, TOO_LARGE, "the event has more than %d bytes", EVENT_MAX);
    *out = buf_str(&all);
    return OK;
}

/* The project's root is known on this machine alone, so it is added here. */
static enum status with_project(struct ctx *ctx, str event, str *out)
{
    struct json *root;
    TRY(json_parse(ctx, event, &root));
    if (root->type != JSON_OBJECT)
        return fail(ctx, BAD_INPUT, "the event must be a JSON object");
    str folder = json_string(json_get(root, "cwd"));
    char *here = folder.n ? NULL : getcwd(NULL, 0);
    if (here)
        folder = str_dup(&ctx->arena, str_of(here));
    free(here);
    struct buf b = buf_make(&ctx->arena, EVENT_MAX + READ_SIZE);
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    for (const struct json *m = root->first; m; m = m->next)
        if (!str_is(json_name(m), "project"))
            json_member_raw(&w, str_c(&ctx->arena, json_name(m)), m->source);
    json_member_str(&w, "project", project_root(&ctx->arena, folder));
    json_close(&w, '}');
    *out = buf_str(&b);
    return OK;
}

static enum status send_event(struct ctx *ctx, const struct options *o, str event,
                              struct answer *out)
{
    struct header headers[3] = {{S("Content-Type"), S("application/json")}};
    size_t n = 1;
    str url;
    TRY(server_address(ctx, o, &url));
    if (options_has(o, "space"))
        headers[n++] = (struct header){S("X-Memory-Space"), o->space};
    if (server_token().n)
        headers[n++] = (struct header){S("Authorization"), str_printf(&ctx->arena, "Bearer " S_FMT,
                                                                      S_ARG(server_token()))};
    const struct call call = {.url = str_printf(&ctx->arena, S_FMT "/v1/hooks", S_ARG(url)),
                              .method = S("POST"),
                              .headers = headers,
                              .n_headers = n,
                              .body = event,
                              .timeout_ms = TIMEOUT_MS,
                              .answer_max = ANSWER_MAX};
    return http_call(ctx, &call, out);
}

enum status command_hook(struct ctx *ctx, const struct options *o)
{
    str event;
    struct answer answer;
    TRY(read_event(ctx, &event));
    TRY(with_project(ctx, event, &event));
    TRY(send_event(ctx, o, event, &answer));
    if (answer.code != 200)
        return fail(ctx, UPSTREAM, "the server answered %d: " S_FMT, answer.code,
                    S_ARG(
                        http_complaint(&ctx->arena, answer.body, 300, server_token(), &event, 1)));
    fwrite(answer.body.p, 1, answer.body.n, stdout);
    return OK;
}
