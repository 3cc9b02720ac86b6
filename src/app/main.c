/* main.c - where the process begins: finds the command, runs it, says why it failed. */
#include <sodium.h>
#include <sys/stat.h>

#include "base/log.h"

#include "app/commands.h"
#include "app/key.h"
#include "surface/surface.h"

enum { EXIT_OK, EXIT_FAILED, EXIT_USAGE, PRINT_MAX = 4 << 20 };

static const struct command *command_of(str name)
{
    for (const struct command *c = commands; c->name; c++)
        if (str_is(name, c->name))
            return c;
    return NULL;
}

/* --- help --- */

/* As it is typed: --new-key-file. */
static const char *flag_of(struct arena *a, str name)
{
    char *flag = arena_alloc(a, name.n + 1);
    for (size_t i = 0; i < name.n; i++)
        flag[i] = (char)(name.p[i] == '_' ? '-' : name.p[i]);
    return flag;
}

static void print_flag(struct arena *a, const struct field *f)
{
    printf("  --%-20s %s\n", flag_of(a, str_of(f->name)), f->help ? f->help : "");
}

static bool takes(const struct command *c, const char *flag)
{
    char word[64];
    snprintf(word, sizeof word, " %s ", flag);
    return strstr(c->flags, word) != NULL;
}

static void help_of(struct arena *a, const struct command *c)
{
    printf("usage: rememberd %s\n\n%s\n\n", c->usage, c->help);
    for (const struct field *f = options_table; f->name; f++)
        if (takes(c, f->name))
            print_flag(a, f);
    if (!c->is_server) {
        puts("  --data                 folder of the database\n"
             "  --key-file             file with the key of an encrypted database\n\n"
             "'rememberd serve --help' lists the settings, which every command takes.");
        return;
    }
    puts("\nSettings (each is also a variable REMEMBERD_NAME and a member of the file --config;\n"
         "--print-settings shows the values):");
    for (const struct field *f = settings_table; f->name; f++)
        print_flag(a, f);
}

static void help(void)
{
    puts("rememberd - a memory for applications that talk to a language model\n\n"
         "usage: rememberd COMMAND [FLAGS]\n");
    for (const struct command *c = commands; c->name; c++)
        printf("  %-8s %s\n", c->name, c->help);
    puts("\n  rememberd COMMAND --help    how a command is used\n"
         "  rememberd --version         the version\n"
         "  rememberd --routes          every route of the server\n"
         "  rememberd --schema          the API as an OpenAPI document");
}

/* --- running --- */

static int refuse(const struct ctx *ctx, const char *command, int code)
{
    fprintf(stderr, "rememberd%s%s: %s%s%s\n", *command ? " " : "", command, ctx->field,
            ctx->field[0] ? ": " : "", ctx->why[0] ? ctx->why : status_name(ctx->failed));
    return code;
}

/* Flags of other commands are refused, so that a wish is never silently ignored. */
static enum status check(struct ctx *ctx, const struct command *c, const struct options *o)
{
    size_t n = o->words.n - 1;
    for (size_t i = 0; i < o->given.n; i++)
        if (!takes(c, o->given.v[i].p))
            return fail(ctx, BAD_INPUT, "does not take --%s; see rememberd %s --help",
                        flag_of(&ctx->arena, o->given.v[i]), c->name);
    if (n < c->words_min || n > c->words_max)
        return fail(ctx, BAD_INPUT, "usage: rememberd %s", c->usage);
    return c->check ? c->check(ctx, o) : OK;
}

static int run(struct ctx *ctx, const struct options *o)
{
    const struct command *c = command_of(o->words.v[0]);
    if (str_is(o->words.v[0], "help")) {
        help();
        return EXIT_OK;
    }
    if (!c) {
        fprintf(stderr, "rememberd: unknown command '" S_FMT "'; see rememberd --help\n",
                S_ARG(o->words.v[0]));
        return EXIT_USAGE;
    }
    if (o->help) {
        help_of(&ctx->arena, c);
        return EXIT_OK;
    }
    if (check(ctx, c, o) != OK)
        return refuse(ctx, c->name, EXIT_USAGE);
    const char *const levels[] = {"error", "warn", "info", "debug", NULL};
    int level = name_index(levels, o->settings.log_level, LOG_INFO);
    log_setup((enum log_level)(c->is_server || level < LOG_WARN ? level : LOG_WARN),
              str_is(o->settings.log_format, "json"));
    return c->run(ctx, o) == OK ? EXIT_OK : refuse(ctx, c->name, EXIT_FAILED);
}

static int print_tables(struct ctx *ctx, const struct options *o)
{
    struct buf b = buf_make(&ctx->arena, PRINT_MAX);
    if (o->routes)
        surface_routes(&b);
    else
        surface_openapi(&b);
    fwrite(b.p, 1, b.n, stdout);
    return EXIT_OK;
}

int main(int argc, char **argv)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    struct options o;
    umask(077);
    if (sodium_init() < 0) {
        fprintf(stderr, "rememberd: there is no source of randomness\n");
        return EXIT_FAILED;
    }
    key_take_environment();
    if (options_read(&ctx, argc - 1, argv + 1, &o) != OK)
        return refuse(&ctx, "", EXIT_USAGE);
    if (o.version) {
        puts("rememberd " REMEMBERD_VERSION);
        return EXIT_OK;
    }
    if (o.routes || o.schema)
        return print_tables(&ctx, &o);
    if (!o.words.n) {
        help();
        return o.help ? EXIT_OK : EXIT_USAGE;
    }
    return run(&ctx, &o);
}
