/* completion.c - the command completion: commands, their words and flags for a shell. */
#include "app/print.h"
#include "ext/shell/command.h"
#include "ext/shell/tables.h"

static const struct field *flags_with_settings(struct arena *a, const struct command *c)
{
    return flags_of(a, c, c->is_server || !strcmp(c->name, "config"));
}

/* In single quotes; also: a character that needs a backslash there. */
static void add_quoted(struct buf *b, str text, char also)
{
    buf_byte(b, '\'');
    for (size_t i = 0; i < text.n; i++) {
        if (also && text.p[i] == also)
            buf_byte(b, '\\');
        buf_add(b, text.p[i] == '\'' ? S("'\\''") : str_sub(text, i, i + 1));
    }
    buf_byte(b, '\'');
}

static void add_choices(struct buf *b, const struct field *f)
{
    for (const char *const *one = f->one_of; one && *one; one++)
        buf_printf(b, "%s%s", one == f->one_of ? "" : " ", *one);
}

/* --- bash and zsh: cases by the word before --- */

static void add_bash_command(struct buf *b, const struct command *c)
{
    str words = command_words(b->arena, c);
    buf_printf(b, "    %s) words='" S_FMT "' flags='", c->name, S_ARG(words));
    for (const struct field *f = flags_with_settings(b->arena, c); f->name; f++)
        buf_printf(b, " %s", f->name);
    buf_add(b, S("' ;;\n"));
}

/* Of the server, which has all. */
static const struct field *all_flags(struct arena *a, const struct command *c)
{
    while (!c->is_server)
        c++;
    return flags_of(a, c, true);
}

static void write_bash(struct buf *b, const struct command *all)
{
    buf_add(b, S("# bash completion of rememberd; load it with:\n"
                 "#   source <(rememberd completion bash)\n"
                 "_rememberd() {\n"
                 "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "  local words= flags=\n"
                 "  COMPREPLY=()\n"
                 "  case $before in\n"));
    for (const struct field *f = all_flags(b->arena, all); f->name; f++) {
        bool is_path = f->unit && (!strcmp(f->unit, "FILE") || !strcmp(f->unit, "DIR"));
        if (!f->one_of && !is_path)
            continue;
        buf_printf(b, "    %s) ", f->name);
        if (f->one_of) {
            buf_add(b, S("COMPREPLY=($(compgen -W '"));
            add_choices(b, f);
            buf_add(b, S("' -- \"$word\")); "));
        }
        buf_add(b, S("return ;;\n")); /* "-o default" completes paths, also with spaces */
    }
    buf_add(b, S("  esac\n  case ${COMP_WORDS[1]} in\n"));
    for (const struct command *c = all; c->name; c++)
        add_bash_command(b, c);
    buf_add(b, S("  esac\n"
                 "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    words='"));
    for (const struct command *c = all; c->name; c++)
        buf_printf(b, " %s", c->name);
    buf_add(b, S("' flags='--help --version'\n"
                 "  elif [ \"$COMP_CWORD\" -ne 2 ]; then\n    words=\n  fi\n"
                 "  if [[ $word == -* ]]; then words=$flags; fi\n"
                 "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                 "}\n"
                 "complete -o default -F _rememberd rememberd\n"));
}

static void add_zsh_command(struct buf *b, const struct command *c)
{
    buf_printf(b, "    %s) after=(" S_FMT ") flags=(\n", c->name,
               S_ARG(command_words(b->arena, c)));
    for (const struct field *f = flags_with_settings(b->arena, c); f->name; f++) {
        buf_printf(b, "      %s:", f->name);
        add_quoted(b, first_sentence(str_of(f->help)), '\0');
        buf_byte(b, '\n');
    }
    buf_add(b, S("    ) ;;\n"));
}

static void write_zsh(struct buf *b, const struct command *all)
{
    buf_add(b, S("#compdef rememberd\n"
                 "# zsh completion of rememberd; load it with:\n"
                 "#   source <(rememberd completion zsh)\n"
                 "_rememberd() {\n"
                 "  local -a commands flags after\n"
                 "  commands=(\n"));
    for (const struct command *c = all; c->name; c++) {
        str help = first_sentence(str_of(c->help));
        buf_add(b, S("    "));
        add_quoted(b, str_printf(b->arena, "%s:" S_FMT, c->name, S_ARG(help)), '\0');
        buf_byte(b, '\n');
    }
    buf_add(b, S("  )\n"
                 "  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
                 "  case ${words[CURRENT-1]} in\n"));
    for (const struct field *f = all_flags(b->arena, all); f->name; f++) {
        if (!f->one_of)
            continue;
        buf_printf(b, "    %s) compadd ", f->name);
        add_choices(b, f);
        buf_add(b, S("; return ;;\n"));
    }
    buf_add(b, S("  esac\n  case ${words[2]} in\n"));
    for (const struct command *c = all; c->name; c++)
        add_zsh_command(b, c);
    buf_add(b, S("  esac\n"
                 "  (( CURRENT == 3 && $#after )) && compadd -a after\n"
                 "  _describe flag flags || _files\n"
                 "}\n"
                 "compdef _rememberd rememberd\n"));
}

/* --- fish: a line for each flag --- */

static void add_fish_flag(struct buf *b, const struct command *c, const struct field *f)
{
    buf_printf(b, "complete -c rememberd -n '__fish_seen_subcommand_from %s' -l %s", c->name,
               f->name + 2);
    if (f->one_of) {
        buf_add(b, S(" -x -a '"));
        add_choices(b, f);
        buf_byte(b, '\'');
    } else if (f->type != FIELD_BOOL) {
        buf_add(b, S(" -r"));
    }
    buf_add(b, S(" -d "));
    add_quoted(b, first_sentence(str_of(f->help)), '\\');
    buf_byte(b, '\n');
}

static void add_fish_command(struct buf *b, const struct command *c)
{
    str words = command_words(b->arena, c);
    buf_printf(b, "complete -c rememberd -f -n __fish_use_subcommand -a %s -d ", c->name);
    add_quoted(b, first_sentence(str_of(c->help)), '\\');
    buf_byte(b, '\n');
    if (words.n)
        buf_printf(b,
                   "complete -c rememberd -f -n '__fish_seen_subcommand_from %s' -a '" S_FMT "'\n",
                   c->name, S_ARG(words));
    for (const struct field *f = flags_with_settings(b->arena, c); f->name; f++)
        add_fish_flag(b, c, f);
}

static void write_fish(struct buf *b, const struct command *all)
{
    buf_add(b, S("# fish completion of rememberd; load it with:\n"
                 "#   rememberd completion fish | source\n"));
    for (const struct command *c = all; c->name; c++)
        add_fish_command(b, c);
}

/* --- the command --- */

static const char *const shells[] = {"bash", "zsh", "fish", NULL};
static void (*const writers[])(struct buf *b, const struct command *all) = {write_bash, write_zsh,
                                                                            write_fish};

enum status command_completion_check(struct ctx *ctx, const struct options *o)
{
    return name_one_of(ctx, "", shells, o->words.v[1]);
}

enum status command_completion(struct ctx *ctx, const struct options *o)
{
    struct buf b = buf_make(&ctx->arena, PRINT_MAX);
    writers[name_index(shells, o->words.v[1], 0)](&b, o->commands);
    fwrite(b.p, 1, b.n, stdout);
    return OK;
}
