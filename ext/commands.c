/* commands.c - the commands of the program: its own, and those of satellites. */
#include "ext_rows.h"

#include "app/command.h"

#define TABLE(name) extern const struct command name[];
#define TABLE_ROW(name) name,
EXT_COMMANDS(TABLE)

const struct command *const command_tables[] = {commands, EXT_COMMANDS(TABLE_ROW) NULL};
