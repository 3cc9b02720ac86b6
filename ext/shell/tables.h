/* tables.h - commands, words and flags as completion and the manual page need them. */
#pragma once

#include "app/command.h"

/* A row of options_table or settings_table as a flag: its name has dashes ("--budget-tokens"), its
 * help is plain. */
struct field flag_of_row(struct arena *a, const struct field *f);

/* The flags of one command; with_settings: and all settings, under every name. One without a name
 * ends them. */
const struct field *flags_of(struct arena *a, const struct command *c, bool with_settings);
/* The words that may follow the command, such as "check" behind config: with spaces between. */
str command_words(struct arena *a, const struct command *c);
/* The first sentence of a help, without its full stop and without what is in brackets. */
str first_sentence(str help);
