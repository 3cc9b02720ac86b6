/* command.h - the functions of the command model. */
#pragma once

#include "app/command.h"

enum status command_model_check(struct ctx *ctx, const struct options *o);
enum status command_model(struct ctx *ctx, const struct options *o);

extern const struct command model_commands[];
