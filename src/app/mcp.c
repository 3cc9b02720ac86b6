/* mcp.c - the Model Context Protocol on standard input and output: a message a line. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"

#include "app/background.h"
#include "app/commands.h"
#include "surface/surface.h"

enum { ANSWER_MAX = 64 << 20, READ_SIZE = 64 << 10 };

static enum status put(struct ctx *ctx, str text)
{
    while (text.n) {
        ssize_t n = write(STDOUT_FILENO, text.p, text.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(ctx, UPSTREAM, "the client does not read: %s", strerror(errno));
        text = str_sub(text, (size_t)n, text.n);
    }
    return OK;
}

/* A ctx of its own, so that a long life needs no more memory than its longest message. */
static enum status answer(struct ctx *ctx, struct app *app, struct pool_ref pool, str line)
{
    CLEANUP(ctx_free) struct ctx mine = {0};
    if (!str_trim(line).n)
        return OK;
    struct buf out = buf_make(&mine.arena, ANSWER_MAX);
    surface_mcp_line(&mine, app, pool, line, &out);
    if (!out.n)
        return OK;
    buf_byte(&out, '\n');
    return put(ctx, buf_str(&out));
}

/* Lines as they end; of one that is too long the beginning is refused as broken JSON. */
static enum status take(struct ctx *ctx, struct app *app, struct pool_ref pool, struct buf *line,
                        str bytes)
{
    while (bytes.n) {
        const char *end = memchr(bytes.p, '\n', bytes.n);
        size_t n = end ? (size_t)(end - bytes.p) : bytes.n;
        buf_add(line, str_sub(bytes, 0, n));
        if (!end)
            return OK;
        TRY(answer(ctx, app, pool, buf_str(line)));
        buf_clear(line);
        bytes = str_sub(bytes, n + 1, bytes.n);
    }
    return OK;
}

static enum status serve(struct ctx *ctx, struct app *app, struct pool_ref pool, struct buf *line)
{
    char bytes[READ_SIZE];
    for (;;) {
        ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(ctx, UPSTREAM, "cannot read: %s", strerror(errno));
        if (n == 0)
            return answer(ctx, app, pool, buf_str(line));
        TRY(take(ctx, app, pool, line, (str){bytes, (size_t)n}));
    }
}

enum status command_mcp(struct ctx *ctx, const struct options *o)
{
    CLEANUP(home_close) struct home home = {0};
    CLEANUP(background_end) struct background background = {0};
    CLEANUP(buf_free) struct buf line = buf_make(NULL, (size_t)o->settings.body_max);
    signal(SIGPIPE, SIG_IGN);
    TRY(home_open(ctx, o, &home));
    background_begin(&background, &home);
    struct app app = {&o->settings, home.engine, NULL, clock_ms()};
    return serve(ctx, &app, pool_of(o), &line);
}
