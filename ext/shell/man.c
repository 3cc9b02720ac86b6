/* man.c - the command man: the manual page in roff, from the tables of commands and settings. */
#include "app/print.h"
#include "ext/shell/command.h"
#include "ext/shell/tables.h"

/* A line of text must not look like a request, and a hyphen of a flag is a minus. */
static void add_text(struct buf *b, str text)
{
    if (text.n && (*text.p == '.' || *text.p == '\''))
        buf_add(b, S("\\&"));
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\\')
            buf_add(b, S("\\e"));
        else if (text.p[i] == '-')
            buf_add(b, S("\\-"));
        else
            buf_byte(b, text.p[i]);
    }
}

static void add_flag(struct buf *b, const struct field *f)
{
    buf_add(b, S(".TP\n\\fB"));
    add_text(b, str_of(f->name));
    buf_add(b, S("\\fR"));
    if (f->unit && !f->one_of) {
        buf_add(b, S(" \\fI"));
        add_text(b, str_of(f->unit));
        buf_add(b, S("\\fR"));
    }
    for (const char *const *one = f->one_of; one && *one; one++) {
        buf_add(b, one == f->one_of ? S(" ") : S("|"));
        add_text(b, str_of(*one));
    }
    buf_byte(b, '\n');
    add_text(b, str_of(f->help));
    buf_add(b, S(".\n"));
}

static void add_command(struct buf *b, const struct command *c)
{
    buf_add(b, S(".SS \"rememberd "));
    add_text(b, str_of(c->name));
    buf_add(b, S("\"\n.B rememberd\n"));
    add_text(b, str_of(c->usage));
    buf_add(b, S("\n.PP\n"));
    add_text(b, str_of(c->help));
    buf_add(b, S(".\n"));
    for (const struct field *f = flags_of(b->arena, c, false); f->name; f++)
        add_flag(b, f);
}

/* The rest of a line behind a heading, in paragraphs. */
static const struct {
    const char *heading, *text;
} closing[] = {
    {"FILES",
     "Settings are read from the first of: the file that --config names, the one of "
     "REMEMBERD_CONFIG, $XDG_CONFIG_HOME/rememberd/rememberd.toml, "
     "/etc/rememberd/rememberd.toml. The database is in the folder that --data names, else "
     "in $XDG_DATA_HOME/rememberd or ~/.local/share/rememberd."},
    {"ENVIRONMENT",
     "Each setting is also a variable: --budget-tokens is REMEMBERD_BUDGET_TOKENS. REMEMBERD_TOKEN "
     "is the access token of commands that ask the running server. NO_COLOR switches colours off."},
    {"EXIT STATUS", "0 = done, 1 = failed, 2 = wrong usage."},
};

static void add_settings(struct buf *b)
{
    for (const char *const *group = settings_groups; *group; group++) {
        buf_printf(b, ".SS %s\n", *group);
        for (const struct field *f = settings_table; f->name; f++) {
            const struct field flag = flag_of_row(b->arena, f);
            if (settings_is_in(f, *group))
                add_flag(b, &flag);
        }
    }
}

enum status command_man(struct ctx *ctx, const struct options *o)
{
    struct buf b = buf_make(&ctx->arena, PRINT_MAX);
    buf_add(&b, S(".TH REMEMBERD 1 \"\" \"rememberd " REMEMBERD_VERSION "\"\n"
                  ".SH NAME\nrememberd \\- memory server for applications that use language "
                  "models\n.SH SYNOPSIS\n.B rememberd\n.I COMMAND\n[\\fIOPTIONS\\fR]\n"
                  ".SH COMMANDS\n"));
    for (const struct command *c = o->commands; c->name; c++)
        add_command(&b, c);
    buf_add(&b, S(".SH SETTINGS\nEvery command takes all settings.\n"));
    add_settings(&b);
    for (size_t i = 0; i < sizeof closing / sizeof *closing; i++) {
        buf_printf(&b, ".SH %s\n", closing[i].heading);
        add_text(&b, str_of(closing[i].text));
        buf_byte(&b, '\n');
    }
    fwrite(b.p, 1, b.n, stdout);
    return OK;
}
