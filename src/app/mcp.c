/* mcp.c - the Model Context Protocol on standard input and output: a message a line. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"

#include "app/background.h"
#include "app/command.h"
#include "base/files.h"
#include "surface/surface.h"

/* Nothing but answers may be printed on standard output, so logs go to standard error. There is no
 * token: whoever can start the program can read the data. */

/* The limit of a line is the setting body_max, the same as for a message over HTTP. */
enum { ANSWER_MAX = 64 << 20, READ_SIZE = 64 << 10 };

/* Each message has a ctx, so that a long session needs no more memory than its longest message. */
static enum status answer_line(struct ctx *ctx, struct app *app, const struct options *o, str line)
{
    CLEANUP(ctx_free) struct ctx mine = ctx_child(ctx, 0);
    if (!str_trim(line).n || str_is(str_trim(line), "\xEF\xBB\xBF"))
        return OK;
    struct buf out = buf_make(&mine.arena, ANSWER_MAX);
    surface_mcp_line(&mine, app, pool_of(o), o->tools, line, &out);
    if (!out.n)
        return OK;
    buf_byte(&out, '\n');
    return write_all(STDOUT_FILENO, buf_str(&out))
               ? OK
               : fail(ctx, UPSTREAM, "writing to the client failed: %s", strerror(errno));
}

/* Handles each line when its newline arrives. A line over the limit is cut, and so is refused as
 * broken JSON. */
static enum status take_bytes(struct ctx *ctx, struct app *app, const struct options *o,
                              struct buf *line, str bytes)
{
    while (bytes.n) {
        bool is_whole = memchr(bytes.p, '\n', bytes.n);
        buf_add(line, str_cut(&bytes, '\n'));
        if (!is_whole)
            return OK;
        TRY(answer_line(ctx, app, o, buf_str(line)));
        buf_clear(line);
    }
    return OK;
}

/* A last line without a newline counts as well. */
static enum status serve_stdin(struct ctx *ctx, struct app *app, const struct options *o,
                               struct buf *line)
{
    char bytes[READ_SIZE];
    for (ssize_t n; (n = read(STDIN_FILENO, bytes, sizeof bytes)) != 0;) {
        if (n < 0 && errno != EINTR)
            return fail(ctx, UPSTREAM, "reading from the client failed: %s", strerror(errno));
        TRY(take_bytes(ctx, app, o, line, (str){bytes, n > 0 ? (size_t)n : 0}));
    }
    return answer_line(ctx, app, o, buf_str(line));
}

enum status command_mcp_check(struct ctx *ctx, const struct options *o)
{
    return surface_mcp_tools(ctx, o->tools);
}

/* Background work runs here, too: without a server nobody else makes vectors of what is added. */
enum status command_mcp(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    CLEANUP(background_end) struct background background = {0};
    CLEANUP(buf_free) struct buf line = buf_make(NULL, (size_t)o->settings.body_max);
    signal(SIGPIPE, SIG_IGN);
    TRY(instance_open(ctx, o, TO_ADD, &instance));
    background_begin(&background, &instance);
    struct app app = {.settings = &o->settings,
                      .engine = instance.engine,
                      .surfaces = surfaces,
                      .started_us = clock_mono_us()};
    return serve_stdin(ctx, &app, o, &line);
}
