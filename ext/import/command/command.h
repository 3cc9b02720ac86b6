/* command.h - the functions of the commands. */
#pragma once

#include "app/command.h"

enum status command_ingest(struct ctx *ctx, const struct options *o);
enum status command_import_check(struct ctx *ctx, const struct options *o);
enum status command_import(struct ctx *ctx, const struct options *o);
enum status command_export_check(struct ctx *ctx, const struct options *o);
enum status command_export(struct ctx *ctx, const struct options *o);

extern const struct command import_commands[];
