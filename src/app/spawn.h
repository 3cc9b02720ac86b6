/* spawn.h - another program, asked one thing. */
#pragma once

#include "base/ctx.h"

/*
 * Runs argv[0] as the shell would find it, gives it the input, and takes what it says on standard
 * output: at most cap bytes, *n of them. UPSTREAM: it is not there, failed, or took longer than ms,
 * when it is killed. Nothing of input or output is noted or kept.
 */
MUST_USE enum status spawn_ask(struct ctx *ctx, const char *const *argv, str input, int64_t ms,
                               char *out, size_t cap, size_t *n);
