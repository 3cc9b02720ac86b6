/* help.c - lays out help from the tables of commands, options and settings, in 100 columns. */
#include "app/help.h"

#include "base/utf8.h"

#include "core/memory.h"
#include "core/settings_set.h"

/*
 * Names, values, defaults and sentences come from the tables that also read the flags. Written here
 * are the four options of the overview, the groups of commands, and which settings most people
 * want. A command that no group names is listed with the last group, and all settings are listed by
 * --help-all, so that neither list can miss a new one.
 */

/* In the order of the page; names stand between spaces. */
static const struct command_group {
    const char *title, *names;
} command_groups[] = {
    {"Run", " serve status chat mcp connect doctor config logs version "},
    {"Memories", " add search list forget "},
    {"Import and export", " import export ingest backup restore "},
    {"Access", " token user "},
    {"Security", " encrypt decrypt rekey key review audit erasures verify-erasure "},
    {"Maintenance", " consolidate compact reopen reindex model upgrade migrate "},
    {"Advanced", " "}, /* the rest */
};

static const char *const common_settings[] = {"listen",        "upstream",
                                              "upstream_key",  "upstream_dialect",
                                              "data",          "config",
                                              "memory",        "budget_tokens",
                                              "core_model",    "embedding_source",
                                              "require_token", "hosts",
                                              "log_level",     NULL};

/* Where the texts begin; what is too long for its column has its text on the next line. */
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

/* The other names of a setting stand under it. */
static void add_setting(struct ctx *ctx, struct buf *b, const struct field *f,
                        const struct settings *defaults)
{
    struct arena *a = &ctx->arena;
    add_row(ctx, b, f, defaults);
    if (f == &settings_table[SETTING_config])
        add_pair(b, S("-c FILE"), S("The same as --config"), S(""), FLAG_COLUMN);
    for (const struct setting_alias *one = setting_aliases; one->name; one++)
        if (!strcmp(one->setting, f->name))
            add_pair(b, str_printf(a, "%s %s", one->flag, one->unit), help_plain(a, one->help),
                     S(""), FLAG_COLUMN);
}

static void add_common(struct ctx *ctx, struct buf *b, const struct settings *defaults)
{
    buf_add(b, S("\nCommon settings\n"));
    for (const char *const *name = common_settings; *name; name++)
        add_setting(ctx, b, &settings_table[setting_of(str_of(*name))], defaults);
    add_pair(b, S("(all settings)"), S("'rememberd serve --help-all' lists them"), S(""),
             FLAG_COLUMN);
}

static void add_groups(struct ctx *ctx, struct buf *b, const struct settings *defaults)
{
    for (const char *const *group = settings_groups; *group; group++) {
        buf_printf(b, "\n%s\n", *group);
        for (const struct field *f = settings_table; f->name; f++)
            if (settings_is_in(f, *group))
                add_setting(ctx, b, f, defaults);
    }
    buf_byte(b, '\n');
    add_wrapped(
        b,
        S("Each setting of these groups is also a variable (--budget-tokens is "
          "REMEMBERD_BUDGET_TOKENS) and a key of the file that --config names "
          "(budget_tokens = 800). A flag wins over a variable, a variable over the file. "
          "A value set through the API wins over all three; --print-settings does not "
          "show it. Some variables of OmniRoute and Cortex, such as DATA_DIR and LLM_BASE_URL, "
          "are read when no other source sets the value."),
        S(""), 0);
}

/* Where the data is, which matters to every command, and its key where the usage names it. */
static void add_common_settings(struct ctx *ctx, struct buf *b, const struct command *c,
                                const struct settings *defaults)
{
    add_row(ctx, b, &settings_table[SETTING_data], defaults);
    if (strstr(c->usage, "--key-file"))
        add_row(ctx, b, &settings_table[SETTING_key_file], defaults);
    add_pair(b, S("(all settings)"),
             S("Every command takes all settings; 'rememberd serve --help-all' lists them"), S(""),
             FLAG_COLUMN);
}

/* --- commands --- */

static bool is_named(const char *names, const char *name)
{
    char word[64];
    snprintf(word, sizeof word, " %s ", name);
    return strstr(names, word) != NULL;
}

/* run.c asks the same question to refuse a flag: what help does not list is not taken. */
bool help_takes(const struct command *c, const char *row)
{
    return is_named(c->flags, row);
}

static void print_whole(const struct buf *b)
{
    assert(!b->full);
    fwrite(b->p, 1, b->n, stdout);
}

/* In the order in which people look. */
void help_print_command(struct ctx *ctx, const struct command *c, bool all)
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
        add_common_settings(ctx, &b, c, &settings);
    add_pair(&b, S("-h, --help"), S("Print this help"), S(""), FLAG_COLUMN);
    if (c->is_server && all)
        add_groups(ctx, &b, &settings);
    else if (c->is_server)
        add_common(ctx, &b, &settings);
    buf_printf(&b, "\nExample\n  rememberd %s\n\nExit status\n  %s\n", c->example,
               c->always_ok ? "0, whatever happens" : "0 = done, 1 = failed, 2 = wrong usage");
    print_whole(&b);
}

static const struct command_group *group_of(const char *name)
{
    const struct command_group *last =
        command_groups + sizeof command_groups / sizeof *command_groups;
    for (const struct command_group *g = command_groups; g < last; g++)
        if (is_named(g->names, name))
            return g;
    return last - 1;
}

/* In the order of the tables, which is that of a group only by chance: a satellite may lack. */
static void add_commands(struct buf *b, const struct command *all)
{
    for (size_t i = 0; i < sizeof command_groups / sizeof *command_groups; i++) {
        buf_printf(b, "\n%s\n", command_groups[i].title);
        for (const struct command *c = all; c->name; c++)
            if (group_of(c->name) == &command_groups[i])
                add_pair(b, str_of(c->name), str_of(c->help), S(""), COMMAND_COLUMN);
    }
}

/* The overview: one line for each command. Only these four options work without a command. */
void help_print_commands(struct ctx *ctx, const struct command *all)
{
    struct buf b = buf_make(&ctx->arena, PRINT_MAX);
    buf_add(&b, S("rememberd - a memory server for applications that use language models\n\n"
                  "usage: rememberd COMMAND [OPTIONS]\n"));
    add_commands(&b, all);
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
}
