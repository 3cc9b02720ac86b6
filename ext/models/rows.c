/* rows.c - the command for models. */
#include "ext/models/command.h"

const struct command model_commands[] = {
    {"model", "model list | model pull NAME [--from DIR] | model check NAME | model remove NAME",
     "List, download, check and remove the models of this machine", "model pull potion-base-8M",
     " json from ", 1, 2, command_model_check, command_model, false},
    {0},
};
