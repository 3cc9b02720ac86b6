/* run.c - reads the command line, runs the command, and prints why it failed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/audit.h"

#include "core/suggest.h"

#include "app/help.h"
#include "app/instance.h"
#include "app/key/key.h"
#include "app/print.h"
#include "surface/surface.h"

/* A command returns a status; its words are printed here and nowhere else, so a command never
 * prints its own failure. Wrong usage is found before anything is opened. */

enum { EXIT_OK, EXIT_FAILED, EXIT_USAGE };

/* Those of all tables, ended by an all-zero row. */
static const struct command *all_commands(struct arena *a, const struct command *const *tables)
{
    struct command *v = NULL;
    size_t n = 0, cap = 0;
    for (const struct command *const *table = tables; *table; table++)
        for (const struct command *c = *table; c->name; c++)
            ARENA_ADD(a, v, n, cap) = *c;
    ARENA_ADD(a, v, n, cap) = (struct command){0};
    return v;
}

static const struct command *command_of(const struct command *all, str name)
{
    for (const struct command *c = all; c->name; c++)
        if (str_is(name, c->name))
            return c;
    return NULL;
}

/* --- running --- */

enum status command_version(UNUSED struct ctx *ctx, const struct options *o)
{
    puts(o->json ? "{\"version\":\"" REMEMBERD_VERSION "\"}" : "rememberd " REMEMBERD_VERSION);
    return OK;
}

/* "rememberd COMMAND: FIELD: WHY" on standard error, as one line that a script can log. c is NULL
 * when no command is known. */
static int print_failure(const struct ctx *ctx, const struct command *c, int code)
{
    fprintf(stderr, "rememberd%s%s: %s%s%s\n", c ? " " : "", c ? c->name : "", ctx->field,
            ctx->field[0] ? ": " : "", ctx->why[0] ? ctx->why : status_name(ctx->failed));
    return c && c->always_ok ? EXIT_OK : code;
}

/* Flags of other commands are refused, and by serve misspelt variables, so that no setting is
 * silently ignored. */
static enum status check_usage(struct ctx *ctx, const struct command *c, const struct options *o)
{
    size_t n = o->words.n - 1;
    for (size_t i = 0; i < o->given.n; i++)
        if (!help_takes(c, o->given.v[i].p))
            return fail(ctx, BAD_INPUT, "does not take %s; see rememberd %s --help",
                        options_flag(&ctx->arena, o->given.v[i].p), c->name);
    if (n < c->words_min || n > c->words_max)
        return fail(ctx, BAD_INPUT, "usage: rememberd %s", c->usage);
    if (c->is_server && o->settings.complaint.n)
        return fail(ctx, BAD_INPUT, S_FMT, S_ARG(o->settings.complaint));
    return c->check ? c->check(ctx, o) : OK;
}

/* A typing error gets the nearest command as a suggestion, never its effect. */
static int refuse_command(const struct command *all, str name)
{
    struct suggestion near = {.typed = name};
    for (const struct command *c = all; c->name; c++)
        suggest_name(&near, c->name);
    fprintf(stderr, "rememberd: unknown command '" S_FMT "'; ", S_ARG(name));
    if (near.best)
        fprintf(stderr, "did you mean '%s'? See rememberd --help\n", near.best);
    else
        fputs("see rememberd --help\n", stderr);
    return EXIT_USAGE;
}

/* Of a command, or without one of all. */
static int print_help(struct ctx *ctx, const struct options *o, const struct command *c)
{
    print_by_pages();
    if (c)
        help_print_command(ctx, c, o->help_all);
    else
        help_print_commands(ctx, o->commands);
    return EXIT_OK;
}

/* Without a folder there is nothing to write about. */
static void setup_audit(struct ctx *ctx, const struct command *c, const struct options *o)
{
    struct instance instance;
    const char *by = str_printf(&ctx->arena, "command line, uid %u", (unsigned)getuid()).p;
    if (soft(ctx, instance_place(ctx, &o->settings, &instance)))
        audit_setup(&(struct audit_place){.folder = str_c(&ctx->arena, instance.folder),
                                          .to = str_c(&ctx->arena, o->settings.audit_to),
                                          .by = c->is_server ? "server" : by});
}

/* "help" alone is --help, "help COMMAND" is COMMAND --help. Only serve logs as its settings say.
 * Other commands talk to a person or a script: warnings go to standard error, and everything else
 * would be noise. */
static int run_command(struct ctx *ctx, const struct options *o)
{
    assert(o->words.n);
    bool is_help = str_is(o->words.v[0], "help"), is_named = !is_help || o->words.n > 1;
    const struct command *c = is_named ? command_of(o->commands, o->words.v[is_help]) : NULL;
    if (is_named && !c)
        return refuse_command(o->commands, o->words.v[is_help]);
    if (is_help || o->help || o->help_all)
        return print_help(ctx, o, c);
    if (check_usage(ctx, c, o) != OK)
        return print_failure(ctx, c, EXIT_USAGE);
    enum log_level level = o->settings.log_level;
    log_setup(c->is_server || level < LOG_WARN ? level : LOG_WARN,
              o->settings.log_format == LOG_JSON);
    for (size_t i = 0; i < o->settings.notes.n; i++)
        log_event(LOG_WARN, "settings.note", "note=\"" S_FMT "\"", S_ARG(o->settings.notes.v[i]));
    http_allow_addresses(o->settings.allow_addresses);
    setup_audit(ctx, c, o);
    if (c->is_long && !o->json)
        print_by_pages();
    enum status s = c->run(ctx, o);
    audit_end();
    return s == OK ? EXIT_OK : print_failure(ctx, c, EXIT_FAILED);
}

/* Routes and schema come from the same tables as the server, so they cannot be out of date. */
static int print_tables(struct ctx *ctx, const struct options *o)
{
    struct buf b = buf_make(&ctx->arena, PRINT_MAX);
    (o->routes ? surface_routes : surface_openapi)(surfaces, &b);
    fwrite(b.p, 1, b.n, stdout);
    return EXIT_OK;
}

/* A file that is opened where standard output is closed would get what is printed. Instead reading
 * finds the end, and writing fails. */
static bool fill_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) /* children have it, too */
            return false;
    return true;
}

static int run_line(struct ctx *ctx, const struct options *o)
{
    if (o->version)
        return command_version(ctx, o) == OK ? EXIT_OK : EXIT_FAILED;
    if (o->routes || o->schema)
        return print_tables(ctx, o);
    if (o->words.n)
        return run_command(ctx, o);
    print_help(ctx, o, NULL);
    return o->help ? EXIT_OK : EXIT_USAGE;
}

/* The mask comes first, so that every file is private. Without SIGXFSZ a file at its limit of size
 * (ulimit -f) is a write that fails, as on a full disk. Keys leave the environment before anything
 * else can read or pass it on. */
int app_run(int argc, char **argv, const struct command *const *tables)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    struct options o;
    umask(077);
    signal(SIGXFSZ, SIG_IGN);
    if (!fill_standard_files()) {
        fprintf(stderr, "rememberd: standard input, output or error is shut, and /dev/null: %s\n",
                strerror(errno));
        return EXIT_FAILED;
    }
    if (sodium_init() < 0) {
        fprintf(stderr, "rememberd: the system has no source of random numbers\n");
        return EXIT_FAILED;
    }
    key_take_environment();
    const struct command *all = all_commands(&ctx.arena, tables);
    if (options_read(&ctx, argc - 1, argv + 1, &o) != OK) {
        /* The command is still the first word. Only one that must not fail is named, as the failure
         * is one of all commands. */
        const struct command *c = argc > 1 ? command_of(all, str_of(argv[1])) : NULL;
        return print_failure(&ctx, c && c->always_ok ? c : NULL, EXIT_USAGE);
    }
    o.commands = all;
    int code = run_line(&ctx, &o);
    if (code != EXIT_OK || print_end(&ctx) == OK)
        return code;
    return print_failure(&ctx, o.words.n ? command_of(all, o.words.v[0]) : NULL, EXIT_FAILED);
}
