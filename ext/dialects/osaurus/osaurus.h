/* osaurus.h - the common part of Osaurus's endpoints: the agent that is meant, and failures. */
#pragma once

#include "surface/common/error_body.h"

/* An agent is a space of the caller's user. *out is its pool if the caller may use it. Without a
 * name: all spaces for an admin, otherwise the caller's own. */
enum status agent_pool(struct ctx *ctx, struct app *app, const struct request *in, str agent,
                       struct pool_ref *out);
/* The agents that the caller may use, by name. */
enum status agents_of(struct ctx *ctx, struct app *app, const struct request *in,
                      struct pool_sum **out, size_t *n);

/* FORBIDDEN while memory is switched off; the body's code is memory_disabled. */
enum status needs_memory(struct ctx *ctx, struct app *app);

extern const struct error_shape osaurus_errors;
void word_osaurus_error(struct ctx *ctx, enum status s, const struct request *in,
                        struct reply *out);
