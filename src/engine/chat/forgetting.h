/* forgetting.h - requests to forget in the middle of a chat. */
#pragma once

#include "engine/state/state.h"

/* What the model is told of it, and tells the user; "" where the message asks for nothing so. */
str forgetting_note(str message);

/* The block with a line for the note, if the budget has room for it. */
str forgetting_block(struct arena *a, str block, str note, int64_t budget_tokens);
