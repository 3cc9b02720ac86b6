/* late.h - turns that were said while the store could not be reached: noted, and kept later. */
#pragma once

#include "engine/chat/turn.h"

/* The members of turn_in that a line has as flags. */
#define LATE_FLAGS(X) X(stand_in) X(brings_all) X(has_tools) X(is_durable) X(goes_on)

/* Whether the turn must be kept later: the store was away when it began, or others of its pool
 * wait. Then, or when the store is found away at the end, late_note notes it. */
bool late_is_due(struct engine *e, const struct turn *t);
MUST_USE enum status late_note(struct ctx *ctx, struct engine *e, struct turn *t, str answer);
