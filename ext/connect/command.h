/* command.h - the functions of the commands connect and hook. */
#pragma once

#include "app/command.h"

enum status command_connect_check(struct ctx *ctx, const struct options *o);
enum status command_connect(struct ctx *ctx, const struct options *o);
enum status command_hook(struct ctx *ctx, const struct options *o);

extern const struct command connect_commands[];
