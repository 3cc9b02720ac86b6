/* tables.h - commands, words and flags as completion and the manual page need them. */
#pragma once

#include "app/command.h"

/* A flag with its dashes, and what it takes. */
struct shell_flag {
    str flag; /* "--budget-tokens" */
    str help; /* plain */
    const char *unit;
    const char *const *one_of; /* NULL: any value */
    bool is_switch;            /* takes no value */
};

/* Of a row of options_table or settings_table. */
struct shell_flag flag_of_row(struct arena *a, const struct field *f);

/* The flags of one command; with_settings: and all settings, under every name. One without a flag
 * ends them. */
const struct shell_flag *flags_of(struct arena *a, const struct command *c, bool with_settings);
/* The words that may follow the command, such as "check" behind config: with spaces between. */
str command_words(struct arena *a, const struct command *c);
/* The first sentence of a help, without its full stop and without what is in brackets. */
str first_sentence(str help);
