/* osaurus.h - what Osaurus's endpoints share: which agent is meant, how a failure reads. */
#pragma once

#include "surface/dialect.h"

enum { AGENT_MAX = 200 };

/* An agent is a space of the caller's user. *out is the pool of one that the caller reaches;
 * without a name every space for an admin, else the caller's own. */
enum status agent_pool(struct ctx *ctx, struct app *app, const struct request *in, str agent,
                       struct pool_ref *out);
/* Those that the caller reaches, by name. */
enum status agents_of(struct ctx *ctx, struct app *app, const struct request *in,
                      struct agent **out, size_t *n);

/* FORBIDDEN, told as memory_disabled, while memory is switched off. */
enum status needs_memory(struct ctx *ctx, struct app *app);

void word_osaurus_error(struct ctx *ctx, enum status s, const struct request *in,
                        struct reply *out);
