/* launch.c - the command eval of rememberd: it starts the program rememberd-eval. */
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "base/files.h"
#include "ext/eval/row.h"

/* The words of this run, which the other program reads again. */
static enum status own_words(struct ctx *ctx, char ***out)
{
    enum { WORDS_BYTES_MAX = (1 << 20) - 1, WORDS_MAX = 1000 };
    char **words = NEW_N(&ctx->arena, char *, WORDS_MAX + 1);
    str bytes;
    if (!soft(ctx, file_read(ctx, "/proc/self/cmdline", WORDS_BYTES_MAX, &bytes)) || !bytes.n)
        return fail(ctx, STORAGE, "/proc/self/cmdline cannot be read: run rememberd-eval itself");
    bytes = str_dup(&ctx->arena, bytes);
    size_t n = 0;
    for (size_t at = 0; at < bytes.n && n < WORDS_MAX; at += strlen(bytes.p + at) + 1)
        words[n++] = (char *)bytes.p + at;
    *out = words;
    return OK;
}

static enum status start_eval(struct ctx *ctx, UNUSED const struct options *o)
{
    char path[PATH_MAX], **words = NULL;
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
