/* spool.h - lines that wait on this machine's disk until the store can be reached. */
#pragma once

#include "base/ctx.h"
#include "core/memory.h"

struct spool;

/* A file of one process. TOO_BUSY: another one has it. */
MUST_USE enum status spool_open(struct ctx *ctx, const char *path, struct spool **out);
void spool_close(struct spool **s); /* that of NULL is fine */

/* Adds a line about the pool behind all others; it is on the disk when this returns. TOO_BUSY: the
 * spool is full. */
MUST_USE enum status spool_add(struct ctx *ctx, struct spool *s, struct pool_ref pool, str line);
/* The first line, which stays until spool_drop; false: there is none. One thread at a time. */
MUST_USE enum status spool_first(struct ctx *ctx, struct spool *s, str *line, bool *any);
void spool_drop(struct spool *s);
/* Moves all lines of another one behind its own. */
MUST_USE enum status spool_take(struct ctx *ctx, struct spool *s, struct spool *from);

/* Whether a line of the pool waits. Of two pools one may be taken for the other. NULL is fine. */
bool spool_holds(struct spool *s, struct pool_ref pool);
/* Waits, at most so long, until none does. */
void spool_wait(struct spool *s, struct pool_ref pool, int64_t ms);
int64_t spool_lines(struct spool *s);
