/* help.c - lays out help from the tables of commands, options and settings, in 100 columns. */
#include "app/help.h"

#include <assert.h>

#include "base/utf8.h"

#include "core/memory.h"

/*
 * Names, values, defaults and sentences come from the tables that also read the flags; only the
 * four options of the overview are written here. So the help of serve lists every setting, by
 * group, and cannot miss a new one. The layout is a left column and wrapped text beside it.
 */

/* The columns are where the texts begin; what is too long for its column has its text on the next
 * line. */
enum {
    WIDTH = 100,
    FLAG_COLUMN = 34,
    COMMAND_COLUMN = 15,
    OPTION_COLUMN = 18,
    PRINT_MAX = 1 << 18
};

/* One word at the column *at, or at the beginning of a new line when it would not fit. */
static void add_word(struct buf *b, str word, size_t column, size_t *at)
{
    size_t width = utf8_length(word);
    assert(column < WIDTH && *at >= column);
    if (*at > column && *at + 1 + width > WIDTH) {
        buf_printf(b, "\n%*s", (int)column, "");
        *at = column;
    } else if (*at > column) {
        buf_byte(b, ' ');
        ++*at;
    }
    buf_add(b, word);
    *at += width;
}

/* Text from the column on, wrapped between words. last is not broken: a default is read as one. */
static void add_wrapped(struct buf *b, str text, str last, size_t column)
{
    size_t at = column;
    while (text.n)
        add_word(b, str_cut(&text, ' '), column, &at);
    if (last.n)
        add_word(b, last, column, &at);
    buf_byte(b, '\n');
}

/* A left column and a text beside it, or below it when the left one is too long. */
static void add_pair(struct buf *b, str left, str text, str last, size_t column)
{
    size_t width = 2 + utf8_length(left);
    buf_printf(b, "  " S_FMT, S_ARG(left));
    if (width + 1 > column)
        buf_printf(b, "\n%*s", (int)column, "");
    else
        buf_printf(b, "%*s", (int)(column - width), "");
    add_wrapped(b, text, last, column);
}

/* --- one row --- */

/* " on|off", " MS", or nothing for a flag without a value. */
static str value_of(struct arena *a, const struct field *f)
{
    str list = {0};
    if (f->unit)
        return str_printf(a, " %s", f->unit);
    for (const char *const *name = f->one_of; name && *name; name++)
        list = str_printf(a, S_FMT "%s%s", S_ARG(list), list.n ? "|" : " ", *name);
    if (list.n || f->type == FIELD_BOOL)
        return list;
    return f->type == FIELD_STR || f->type == FIELD_STRS ? S(" TEXT") : S(" N");
}

/* "(default 800)", or nothing; sizes also in MiB or KiB, as people think of them. */
static str default_of(struct arena *a, const struct field *f, const void *defaults)
{
    struct buf b = buf_make(a, 4096);
    bool is_size = f->unit && !strcmp(f->unit, "BYTES");
    int64_t kib = (int64_t)f->otherwise >> 10;
    row_print(&b, f, defaults);
    if (!b.n)
        return S("");
    if (is_size)
        buf_printf(&b, " = %lld %s", (long long)(kib >> 10 ? kib >> 10 : kib),
                   kib >> 10 ? "MiB" : "KiB");
    return str_printf(a, "(default " S_FMT ")", S_ARG(buf_str(&b)));
}

static void add_row(struct ctx *ctx, struct buf *b, const struct field *f, const void *defaults)
{
    struct arena *a = &ctx->arena;
    str left = str_printf(a, "%s" S_FMT, options_flag(a, f->name), S_ARG(value_of(a, f)));
    add_pair(b, left, help_plain(a, f->help), default_of(a, f, defaults), FLAG_COLUMN);
}

/* The help of a row in one command; what no --space means depends on the command, too. */
static void add_option(struct ctx *ctx, struct buf *b, const struct field *row,
                       const struct command *c, const struct options *defaults)
{
    struct field f = *row;
    const char *without = c->without_space ? c->without_space : "the space " DEFAULT_SPACE;
    if (!strcmp(row->name, "space"))
        f.help = str_printf(&ctx->arena, "%s. Without --space: %s", row->help, without).p;
    for (size_t i = 0; i < OWN_HELP_MAX && c->own_help[i].row; i++)
        if (!strcmp(row->name, c->own_help[i].row))
            f.help = c->own_help[i].help;
    add_row(ctx, b, &f, defaults);
}

/* --- settings --- */

static void add_groups(struct ctx *ctx, struct buf *b, const struct settings *defaults)
{
    for (const char *const *group = settings_groups; *group; group++) {
        buf_printf(b, "\n%s\n", *group);
        for (const struct field *f = settings_table; f->name; f++)
            if (settings_is_in(f, *group))
                add_row(ctx, b, f, defaults);
    }
    buf_byte(b, '\n');
    add_wrapped(
        b,
        S("Each setting of these groups is also a variable (--budget-tokens is "
          "REMEMBERD_BUDGET_TOKENS) and a member of the JSON file that --config names "
          "(budget_tokens). A flag wins over a variable, a variable over the file. "
          "A value set through the API wins over all three; --print-settings does not "
          "show it. Some variables of OmniRoute and Cortex, such as DATA_DIR and LLM_BASE_URL, "
          "are read when no other source sets the value."),
        S(""), 0);
}

/* The settings that matter to every command: where the data is, and its key. */
static void add_common_settings(struct ctx *ctx, struct buf *b, const struct settings *defaults)
{
    static const char *const names[] = {"data", "key_file", NULL};
    for (const struct field *f = settings_table; f->name; f++)
        if (str_is_one_of(str_of(f->name), names))
            add_row(ctx, b, f, defaults);
    add_pair(b, S("(all settings)"),
             S("Every command takes all settings; 'rememberd serve --help' lists them"), S(""),
             FLAG_COLUMN);
}

/* --- commands --- */

/* main.c asks the same question to refuse a flag: what help does not list is not taken. */
bool help_takes(const struct command *c, const char *row)
{
    char word[64];
    snprintf(word, sizeof word, " %s ", row);
    return strstr(c->flags, word) != NULL;
}

static void print_whole(const struct buf *b)
{
    assert(!b->full);
    fwrite(b->p, 1, b->n, stdout);
}

/* In the order in which people look: usage, what it does, its options, an example, and what the
 * exit status means. */
void help_print_command(struct ctx *ctx, const struct command *c)
{
    struct buf b = buf_make(&ctx->arena, PRINT_MAX);
    struct options options = {0};
    struct settings settings = {0};
    fields_defaults(options_table, &options);
    settings_defaults(&settings);
    add_wrapped(&b, str_printf(&ctx->arena, "usage: rememberd %s", c->usage), S(""), 0);
    buf_byte(&b, '\n');
    add_wrapped(&b, str_printf(&ctx->arena, "%s.", c->help), S(""), 0);
    buf_add(&b, S("\nOptions\n"));
    for (const struct field *f = options_table; f->name; f++)
        if (help_takes(c, f->name))
            add_option(ctx, &b, f, c, &options);
    if (!c->is_server)
        add_common_settings(ctx, &b, &settings);
    add_pair(&b, S("-h, --help"), S("Print this help"), S(""), FLAG_COLUMN);
    if (c->is_server)
        add_groups(ctx, &b, &settings);
    buf_printf(&b, "\nExample\n  rememberd %s\n\nExit status\n  %s\n", c->example,
               c->always_ok ? "0, whatever happens" : "0 = done, 1 = failed, 2 = wrong usage");
    print_whole(&b);
}

/* The overview: one line for each command. Only these four options work without a command. */
void help_print_commands(const struct command *const *tables)
{
    struct ctx ctx = {0};
    struct buf b = buf_make(&ctx.arena, PRINT_MAX);
    buf_add(&b, S("rememberd - a memory server for applications that use language models\n\n"
                  "usage: rememberd COMMAND [OPTIONS]\n\nCommands\n"));
    for (const struct command *const *table = tables; *table; table++)
        for (const struct command *c = *table; c->name; c++)
            add_pair(&b, str_of(c->name), str_of(c->help), S(""), COMMAND_COLUMN);
    buf_add(&b, S("\nOptions\n"));
    static const char *const rows[][2] = {
        {"-h, --help", "Print this help, or after a command the help of the command"},
        {"-v, --version", "Print the version"},
        {"--routes", "Print every route of the server"},
        {"--schema", "Print the API as an OpenAPI document"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_pair(&b, str_of(rows[i][0]), str_of(rows[i][1]), S(""), OPTION_COLUMN);
    buf_add(&b, S("\nExample\n  rememberd serve\n\nExit status\n"
                  "  0 = done, 1 = failed, 2 = wrong usage\n"));
    print_whole(&b);
    ctx_free(&ctx);
}
