/* hook.c - the command hook: passes what a coding agent reports on to the server. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
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
    for (ssize_t n; (n = read(STDIN_FILENO, bytes, READ_SIZE)) != 0;)
        if (n > 0)
            buf_add(&all, (str){bytes, (size_t)n});
        else if (errno != EINTR)
            return fail(ctx, UPSTREAM, "the event cannot be read: %s", strerror(errno));
    if (all.full)
        return fail(ctx, TOO_LARGE, "the event has more than %d bytes", EVENT_MAX);
    *out = buf_str(&all);
    return OK;
}

/* --- the project --- */

/*
 * Git's own rule: the nearest folder upwards that has .git. That is a folder in a repository and a
 * file in a further work tree of one, which names the repository it belongs to: all of its work
 * trees are one project. A repository of the whole home folder, where people keep their settings,
 * is no project of the folders in it.
 */

enum { LINK_MAX = 4096 };

/* "gitdir: /path/of/the/repository/.git/worktrees/name"; of a submodule it is .git/modules. */
static str main_tree_of(struct arena *a, str folder, str link)
{
    str to = str_trim(str_cut(&link, '\n'));
    if (!str_starts(to, S("gitdir:")))
        return folder;
    to = str_trim(str_sub(to, S("gitdir:").n, to.n));
    size_t at = str_find(to, S("/.git/worktrees/"));
    if (at == to.n)
        return folder;
    str root = str_sub(to, 0, at);
    if (!str_starts(root, S("/")))
        root = str_printf(a, S_FMT "/" S_FMT, S_ARG(folder), S_ARG(root));
    char *whole = realpath(str_c(a, root), NULL);
    str found = whole ? str_dup(a, str_of(whole)) : folder;
    free(whole);
    return found;
}

static str parent_of(str folder)
{
    size_t slash = str_behind_last(folder, '/');
    return slash > 1 ? str_sub(folder, 0, slash - 1) : S("");
}

/* The root of the repository that the folder is in, or the folder itself. */
static str project_root(struct ctx *ctx, str folder)
{
    struct arena *a = &ctx->arena;
    const char *home = getenv("HOME");
    for (str at = folder; at.n; at = parent_of(at)) {
        struct stat st;
        str link;
        const char *git = str_printf(a, S_FMT "/.git", S_ARG(at)).p;
        bool is_home = home && str_is(at, home) && !str_eq(at, folder);
        if (is_home || stat(git, &st) != 0)
            continue;
        bool is_link = S_ISREG(st.st_mode) && soft(ctx, file_read(ctx, git, LINK_MAX, &link));
        return is_link ? main_tree_of(a, at, link) : at;
    }
    return folder;
}

/* --- the call --- */

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
    struct json_out w = json_in(&ctx->arena, EVENT_MAX + READ_SIZE);
    json_open(&w, '{');
    for (const struct json *m = root->first; m; m = m->next)
        if (!str_is(json_name(m), "project"))
            json_member_raw(&w, str_c(&ctx->arena, json_name(m)), m->source);
    json_member_str(&w, "project", project_root(ctx, folder));
    json_close(&w, '}');
    *out = buf_str(w.b);
    return OK;
}

enum status command_hook(struct ctx *ctx, const struct options *o)
{
    str event;
    struct answer answer;
    struct called_server server;
    TRY(read_event(ctx, &event));
    TRY(with_project(ctx, event, &event));
    TRY(server_find(ctx, o, server_token(), &server));
    const struct call call = {.url = str_printf(&ctx->arena, S_FMT "/v1/hooks", S_ARG(server.url)),
                              .method = S("POST"),
                              .headers = server.headers,
                              .n_headers = server.n_headers,
                              .body = event,
                              .timeout_ms = TIMEOUT_MS,
                              .answer_max = ANSWER_MAX};
    TRY(http_call(ctx, &call, &answer));
    if (answer.code != 200)
        return fail(ctx, UPSTREAM, "the server answered %d: " S_FMT, answer.code,
                    S_ARG(
                        http_complaint(&ctx->arena, answer.body, 300, server_token(), &event, 1)));
    fwrite(answer.body.p, 1, answer.body.n, stdout);
    return OK;
}
