/* rows.c - the commands that set up clients and speak for them. */
#include "ext/connect/command.h"

const struct command connect_commands[] = {
    {"connect", "connect [NAME [--remove] [--yes] [--url URL] [--space NAME]]",
     "Configure another program, such as Claude Code or Cursor, to use this server; shows the "
     "change and asks. Without NAME: list the programs",
     "connect claude-code", " url space remove yes ", 0, 1, command_connect_check, command_connect,
     false, "the token's own space for tools, and the project's for hooks"},
    {"hook", "hook [--url URL] [--space NAME]",
     "Pass a coding agent's hook event from standard input to the server, and print the answer",
     "hook --url http://127.0.0.1:7077", " url space ", 0, 0, NULL, command_hook, false,
     "the space of the project, beside the user's own", true},
    {0},
};
