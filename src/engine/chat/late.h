/* late.h - turns that were said while the store could not be reached: noted, and kept later. */
#pragma once

#include "engine/chat/turn.h"

/* Whether the turn must be kept later: the store was away when it began, or others of its pool
 * wait. Then, or when the store is found away at the end, late_note notes it. */
bool late_is_due(struct engine *e, const struct turn *t);
MUST_USE enum status late_note(struct ctx *ctx, struct engine *e, struct turn *t, str answer);
