/* rows.c - the command that runs acceptance tests against a server. */
#include "ext/verify/command.h"

const struct command verify_commands[] = {
    {"verify", "verify URL [ADAPTER]",
     "Run acceptance tests against a memory server, this one or another whose API a file "
     "describes, and print a table",
     "verify http://127.0.0.1:7077", " json ", 1, 2, NULL, command_verify},
    {0},
};
