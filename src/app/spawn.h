/* spawn.h - runs another program once, for its output. */
#pragma once

#include "base/ctx.h"

/*
 * Runs argv[0], found through PATH, with the input on standard input, and reads standard output: *n
 * bytes, at most cap. UPSTREAM: the program was not found, failed, or took longer than ms, in which
 * case it is killed. Neither input nor output is logged, as both may be secret.
 */
MUST_USE enum status spawn_ask(struct ctx *ctx, const char *const *argv, str input, int64_t ms,
                               char *out, size_t cap, size_t *n);
