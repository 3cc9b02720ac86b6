/* failures.h - a failure of PostgreSQL as a status and words. */
#pragma once

#include "base/ctx.h"

/* Of a statement, by its code (SQLSTATE). */
enum status failure_of(struct ctx *ctx, const char *state, const char *why);
