/* print.c - prints text, JSON and dates on standard output. */
#include "app/print.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time_text.h"

/* Standard output is for results, so that it can be piped; warnings, progress and failures go to
 * standard error. */

void print_safely(str text, const char *kept)
{
    for (size_t i = 0, n; i < text.n; i += n ? n : 1) {
        n = control_bytes(text, i);
        putchar(n && !char_is_one_of(text.p[i], kept) ? ' ' : text.p[i]);
    }
}

void print_line(str text)
{
    print_safely(text, "");
    putchar('\n');
}

/* For text that this program has made, JSON above all: it is written as it is. */
enum status print_buf(const struct buf *b)
{
    fwrite(b->p, 1, b->n, stdout);
    putchar('\n');
    return OK;
}

enum status print_fields(struct ctx *ctx, const struct field *table, const void *in)
{
    struct json_out w = json_in(&ctx->arena, PRINT_MAX);
    fields_write(&w, table, in);
    return print_buf(w.b);
}

str counted(struct arena *a, int64_t n, const char *one, const char *more)
{
    return str_printf(a, "%lld %s", (long long)n, n == 1 ? one : more);
}

str date_of(struct arena *a, int64_t ms)
{
    return ms ? time_write(a, ms, "%Y-%m-%d") : S("-");
}

str host_called(struct arena *a, str listen)
{
    static const char *const any[] = {"0.0.0.0:", "[::]:", "*:", ":", NULL};
    for (const char *const *one = any; *one; one++)
        if (str_starts(listen, str_of(*one)))
            return str_printf(a, "127.0.0.1:" S_FMT,
                              S_ARG(str_sub(listen, strlen(*one), listen.n)));
    return listen;
}

str curl_target(struct arena *a, str listen)
{
    if (str_starts(listen, S("unix:")))
        return str_printf(a, "--unix-socket " S_FMT " http://localhost",
                          S_ARG(str_sub(listen, S("unix:").n, listen.n)));
    size_t scheme = str_starts(listen, S("http://")) ? S("http://").n : 0;
    return str_printf(a, "http://" S_FMT, S_ARG(host_called(a, str_sub(listen, scheme, listen.n))));
}

const char *style_code(enum style style)
{
    static const char *const codes[] = {"\033[0m", "\033[1m", "\033[2m", "\033[32m"};
    static int has_colours = -1; /* decided once: a pager may follow */
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (has_colours < 0)
        has_colours =
            isatty(STDOUT_FILENO) && !(none && *none) && terminal && strcmp(terminal, "dumb") != 0;
    return has_colours ? codes[style] : "";
}

static pid_t pager;

static void wait_for_pager(void)
{
    fflush(stdout);
    close(STDOUT_FILENO);
    while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Of an earlier write nobody knows why it failed. A reader may leave a pager early. */
enum status print_end(struct ctx *ctx)
{
    errno = 0;
    if ((fflush(stdout) == 0 && !ferror(stdout)) || pager)
        return OK;
    return fail(ctx, STORAGE, "standard output could not be written%s%s", errno ? ": " : "",
                errno ? strerror(errno) : "");
}

/* The pager handles Ctrl-C. One left early closes the pipe, and writing goes on in vain. */
static int spawn_reader(const char *const *argv, int in)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    setenv("LESS", "FRX", 0); /* leave at once what fits on the screen; keep colours and the text */
    int rc = posix_spawnp(&pager, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (rc != 0)
        return rc;
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    return 0;
}

/* At the end the program waits for the pager. Nothing happens where no one reads at a terminal,
 * PAGER is empty, or less is missing. */
void print_by_pages(void)
{
    const char *program = getenv("PAGER");
    const char *const by_name[] = {"less", NULL}, *const by_shell[] = {"sh", "-c", program, NULL};
    int ends[2];
    if (pager || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || (program && !*program) ||
        pipe2(ends, O_CLOEXEC) != 0)
        return;
    style_code(STYLE_END); /* colours are decided while standard output is the terminal */
    fflush(stdout);
    if (spawn_reader(program ? by_shell : by_name, ends[0]) == 0) {
        dup2(ends[1], STDOUT_FILENO);
        atexit(wait_for_pager);
    }
    close(ends[0]);
    close(ends[1]);
}
