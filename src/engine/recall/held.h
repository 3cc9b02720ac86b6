/* held.h - the last look at a line before a chat is given it: what instructs a model is held back.
 */
#pragma once

#include "engine/recall/given.h"
#include "engine/state/state.h"

/* As given_line, for a message or memory of the pool. What is held back is listed for review
 * (engine/review.h), and given when somebody has allowed it. Without notes it is not listed: no
 * chat was to be given it. */
struct given held_line(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                       const struct recalled *r, bool notes);

/* Which of its sentences instruct a model: one a line; "" when it has none. */
str held_text(struct arena *a, str text, bool is_user);
/* Whether a text counts as the user's own. */
bool held_is_users(const struct recalled *r);
