/* rows.c - the commands that set up clients and speak for them. */
#include "ext/connect/command.h"

const struct command connect_commands[] = {
    {"connect", "connect [NAME [--remove] [--yes] [--url URL] [--space NAME]]",
     "Write the entry for this server into the settings of another program, after showing it, or "
     "take it out again; without a name list the programs",
     "connect claude-code", " url space remove yes ", 0, 1, command_connect_check, command_connect,
     false, "the token's own space for tools, and the project's for hooks"},
    {"hook", "hook [--url URL] [--space NAME]",
     "Pass the hook event of a coding agent from standard input to the server, and print its "
     "answer",
     "hook --url http://127.0.0.1:7077", " url space ", 0, 0, NULL, command_hook, false,
     "the space of the project, beside the user's own", true},
    {0},
};
