/* tables.c - commands, words and flags as completion and the manual page need them. */
#include "ext/shell/tables.h"

#include "app/help.h"
#include "core/settings_set.h"

struct field flag_of_row(struct arena *a, const struct field *f)
{
    struct field flag = *f;
    flag.name = options_flag(a, f->name);
    flag.help = str_c(a, help_plain(a, f->help));
    return flag;
}

const struct field *flags_of(struct arena *a, const struct command *c, bool with_settings)
{
    struct field *v = NULL;
    size_t n = 0, cap = 0;
    for (const struct field *f = options_table; f->name; f++)
        if (!strcmp(f->name, "help") || help_takes(c, f->name))
            ARENA_ADD(a, v, n, cap) = flag_of_row(a, f);
    for (const struct field *f = settings_table; f->name; f++)
        if (with_settings || f == &settings_table[SETTING_data] ||
            f == &settings_table[SETTING_config])
            ARENA_ADD(a, v, n, cap) = flag_of_row(a, f);
    for (const struct setting_alias *one = setting_aliases; with_settings && one->name; one++)
        ARENA_ADD(a, v, n, cap) =
            flag_of_row(a,
                        &(struct field){.name = one->name, .help = one->help, .unit = one->unit});
    ARENA_ADD(a, v, n, cap) = (struct field){0};
    return v;
}

/* A usage is "token create | token list | token revoke ID". */
str command_words(struct arena *a, const struct command *c)
{
    str rest = str_of(c->usage), all = S("");
    while (rest.n) {
        size_t end = str_find(rest, S(" | "));
        str form = str_sub(rest, 0, end);
        rest = str_sub(rest, end, rest.n);
        rest = rest.n ? str_sub(rest, strlen(" | "), rest.n) : rest;
        str name = str_cut(&form, ' '), word = str_cut(&form, ' ');
        bool is_word = word.n > 0 && EVERY(i, word.n, word.p[i] >= 'a' && word.p[i] <= 'z');
        if (str_is(name, c->name) && is_word)
            all = str_printf(a, S_FMT "%s" S_FMT, S_ARG(all), all.n ? " " : "", S_ARG(word));
    }
    return all;
}

str first_sentence(str help)
{
    static const char *const ends[] = {". ", " (", ": ", "; ", NULL};
    for (const char *const *end = ends; *end; end++)
        help = str_sub(help, 0, str_find(help, str_of(*end)));
    return help;
}
