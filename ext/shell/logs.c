/* logs.c - the command logs: what the server wrote, as the system's journal has it. */
#include <errno.h>
#include <unistd.h>

#include "ext/shell/command.h"

/*
 * The server writes its log to standard error and keeps no copy: whoever started it decides where
 * the lines go. As a service that is the journal, which this command shows. The journal's own
 * program follows, turns pages and knows who may read, so this process becomes that one.
 */

enum status command_logs(struct ctx *ctx, const struct options *o)
{
    const char *lines = str_printf(&ctx->arena, "%lld", (long long)o->limit).p;
    const char *argv[] = {"journalctl",
                          "--unit=rememberd",
                          "--output=cat",
                          "--lines",
                          lines,
                          o->follow ? "--follow" : NULL,
                          NULL};
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "the service's journal (a server started by hand logs to its terminal):\n");
    execvp(argv[0], (char *const *)argv);
    return fail(ctx, errno == ENOENT ? UNSUPPORTED : STORAGE,
                "journalctl cannot be started (%s). Without systemd, the log is where standard "
                "error of 'rememberd serve' goes; of a container: docker logs NAME",
                strerror(errno));
}
