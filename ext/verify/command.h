/* command.h - the function of the command verify, and the variables it reads. */
#pragma once

#include "app/command.h"

#define TOKEN_VARIABLE "REMEMBERD_TOKEN"
#define OTHER_VARIABLE "REMEMBERD_OTHER_TOKEN"

enum status command_verify(struct ctx *ctx, const struct options *o);
