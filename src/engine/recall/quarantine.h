/* quarantine.h - Holds back what would instruct a model, as the last look at a line. */
#pragma once

#include "engine/recall/quotable.h"
#include "engine/state/state.h"

/* The text of a message or memory of the pool without secrets and without what tells a model what
 * to do; "" when nothing is left. What is held back is listed for review (engine/review.h), and
 * given when somebody has allowed it. Without notes it is not listed: no chat was to be given it.
 */
struct quotable quarantine_line(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                const struct recalled *r, bool notes);

/* Leaves out the metadata of a memory, where that tells a model what to do. */
void quarantine_metadata(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                         struct recalled *r, bool notes);

/* The same of all of its text, which loses what is held back: false when nothing is left. */
bool quarantine_leaves(struct ctx *ctx, struct engine *e, struct pool_ref pool, struct recalled *r);

/* What of the text and of the metadata tells a model what to do: one sentence a line. */
str quarantine_text(struct arena *a, const struct recalled *r, str text);
