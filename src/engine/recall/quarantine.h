/* quarantine.h - Holds back what would instruct a model, as the last look at a line. */
#pragma once

#include "engine/recall/quotable.h"
#include "engine/state/state.h"

/* As quotable_line, for a message or memory of the pool. What is held back is listed for review
 * (engine/review.h), and given when somebody has allowed it. Without notes it is not listed: no
 * chat was to be given it. */
struct quotable quarantine_line(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                const struct recalled *r, bool notes);

/* Which of its sentences instruct a model: one a line; "" when it has none. */
str quarantine_text(struct arena *a, str text, bool is_user);
/* Whether a text counts as the user's own. */
bool quarantine_is_users(const struct recalled *r);
