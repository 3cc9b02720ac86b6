/* command.h - the functions of the commands that people type at a terminal. */
#pragma once

#include "app/command.h"

enum status shell_url_check(struct ctx *ctx, const struct options *o);
enum status command_status(struct ctx *ctx, const struct options *o);
enum status command_logs(struct ctx *ctx, const struct options *o);
enum status command_chat(struct ctx *ctx, const struct options *o);
enum status command_completion_check(struct ctx *ctx, const struct options *o);
enum status command_completion(struct ctx *ctx, const struct options *o);
enum status command_man(struct ctx *ctx, const struct options *o);

extern const struct command shell_commands[];
