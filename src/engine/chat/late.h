/* late.h - turns that were said while the store could not be reached: noted, and kept later. */
#pragma once

#include "engine/chat/turn.h"

/* What the store could not do now. */
static inline bool late_may_help(enum status s)
{
    return s == STORAGE || s == TOO_BUSY || s == TIMED_OUT;
}

/* Whether the turn must be kept later: the store was away when it began, or others of its pool
 * wait. Then, or when the store cannot keep it at the end, late_note notes it. */
bool late_is_due(struct engine *e, const struct turn *t);
MUST_USE enum status late_note(struct ctx *ctx, struct engine *e, struct turn *t, str answer);
