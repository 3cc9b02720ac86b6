/* command.h - a command and its function, and the table of all commands in commands.c. */
#pragma once

#include "app/options.h"

/* What a flag does in one command alone. */
struct own_help {
    const char *row, *help;
};

enum { OWN_HELP_MAX = 2 };

typedef enum status command_function(struct ctx *ctx, const struct options *o);

struct command {
    const char *name, *usage;    /* usage without the program's name */
    const char *help;            /* one sentence without its full stop */
    const char *example;         /* a whole command line without the program's name */
    const char *flags;           /* names of options_table that it takes, between spaces */
    size_t words_min, words_max; /* behind the command's name */
    /* check: what counting words cannot check; a failure is a wrong usage. May be NULL. */
    command_function *check, *run;
    bool is_server;            /* logs as the settings say; the other commands log warnings only */
    const char *without_space; /* what no --space means; NULL: the space default */
    bool always_ok; /* who runs it takes a failure for an order: the exit status is always 0 */
    bool is_long;   /* its text is read page by page at a terminal */
    struct own_help own_help[OWN_HELP_MAX];
};

/* Flags of a command that works in one space of one user. */
#define POOL " user space json "

/* Of the product, ended by an all-zero row. */
extern const struct command commands[];
/* These, and those of satellites: NULL-ended. */
extern const struct command *const command_tables[];

/* What main does, for a program with the commands of these tables. Returns its exit status. */
int app_run(int argc, char **argv, const struct command *const *tables);

#define COMMAND(name, ...) command_function command_##name;
#define CHECKED(name, ...) command_function command_##name, command_##name##_check;
#define DASHED(name, ...) command_function command_##name;
#include "app/commands.def"
#undef COMMAND
#undef CHECKED
#undef DASHED
