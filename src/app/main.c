/* main.c - the program rememberd: all commands. */
#include "app/command.h"

int main(int argc, char **argv)
{
    return app_run(argc, argv, command_tables);
}
