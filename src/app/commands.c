/* commands.c - the table of commands. */
#include "app/command.h"

/* run.c checks usage by the row and help.c prints it, so a new command is a row of commands.def and
 * a file with its function. Satellites have rows of their own (ext/commands.c). */

const struct command commands[] = {
#define COMMAND(name, usage, help, example, flags, least, most, ...)                               \
    {#name, usage, help, example, flags, least, most, NULL, command_##name, __VA_ARGS__},
#define CHECKED(name, usage, help, example, flags, least, most, ...)                               \
    {#name,          usage,      help, example, flags, least, most, command_##name##_check,        \
     command_##name, __VA_ARGS__},
#define DASHED(name, word, usage, help, example, flags, least, most, ...)                          \
    {word, usage, help, example, flags, least, most, NULL, command_##name, __VA_ARGS__},
#include "app/commands.def"
#undef COMMAND
#undef CHECKED
#undef DASHED
    {0},
};
