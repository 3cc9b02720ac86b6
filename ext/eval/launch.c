/* launch.c - the command eval of rememberd: it starts the program rememberd-eval. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "app/command.h"
#include "ext/eval/row.h"

/* The words of this run, which the other program reads again. */
static enum status own_words(struct ctx *ctx, char ***out)
{
    enum { WORDS_BYTES_MAX = 1 << 20, WORDS_MAX = 1000 };
    char *bytes = arena_alloc(&ctx->arena, WORDS_BYTES_MAX);
    char **words = NEW_N(&ctx->arena, char *, WORDS_MAX + 1);
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : 0, more = 0;
    while (fd >= 0 && got < WORDS_BYTES_MAX &&
           (more = read(fd, bytes + got, (size_t)(WORDS_BYTES_MAX - got))) > 0)
        got += more;
    if (fd >= 0)
        close(fd);
    if (got <= 0 || more < 0 || got == WORDS_BYTES_MAX)
        return fail(ctx, STORAGE, "/proc/self/cmdline cannot be read: run rememberd-eval itself");
    size_t n = 0;
    for (ssize_t at = 0; at < got && n < WORDS_MAX; at += (ssize_t)strlen(bytes + at) + 1)
        words[n++] = bytes + at;
    *out = words;
    return OK;
}

static enum status start_eval(struct ctx *ctx, const struct options *o)
{
    char path[PATH_MAX], **words = NULL;
    (void)o;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - sizeof "-eval");
    if (n <= 0)
        return fail(ctx, STORAGE, "the folder of this program cannot be found: %s",
                    strerror(errno));
    path[n] = 0;
    char *name = strrchr(path, '/') + 1;
    snprintf(name, sizeof path - (size_t)(name - path), "rememberd-eval");
    TRY(own_words(ctx, &words));
    execv(path, words);
    return fail(ctx, STORAGE, "%s cannot be started: %s", path, strerror(errno));
}

const struct command eval_launch_commands[] = {EVAL_ROW(NULL, start_eval), {0}};
