/* ask.h - asks at a terminal before everything of a space or a user is erased. */
#pragma once

#include "app/options.h"
#include "engine/engine.h"

/* What there is to erase. */
struct erasure {
    int64_t memories; /* closed ones, too */
    int64_t messages, sessions;
};

/* For the check of a command: BAD_INPUT where neither --yes is given nor anybody can be asked. */
MUST_USE enum status ask_is_possible(struct ctx *ctx, const struct options *o);
/* Adds what a space holds, or with the space "" what all spaces of the user hold. */
MUST_USE enum status erasure_add(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                 struct erasure *sum);
/* "This erases WHAT, for good: 1 memory, …". BAD_INPUT unless the answer is yes. */
MUST_USE enum status ask_to_erase(struct ctx *ctx, str what, const struct erasure *sum);
