/* help.h - the text of --help: the list of commands, and the options of one command. */
#pragma once

#include "app/command.h"

void help_print_commands(struct ctx *ctx, const struct command *all);
/* all: of a server every setting, not only the common ones. */
void help_print_command(struct ctx *ctx, const struct command *c, bool all);

/* Whether a command takes the flag of a row of options_table. */
bool help_takes(const struct command *c, const char *row);
