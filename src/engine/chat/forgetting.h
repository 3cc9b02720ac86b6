/* forgetting.h - what a user asks to be forgotten in the middle of a chat. */
#pragma once

#include "engine/state/state.h"
#include "engine/text/forget_request.h"

struct forgetting {
    struct forget_request asked;
    str done; /* what was done, for the model; "" when nothing was asked, or it was done before */
};

/* Erases the memories that say what was asked, and bars the sentences that do. Never fails: done
 * says so. */
void forgetting_do(struct ctx *ctx, struct engine *e, struct pool_ref pool, struct forgetting *f);

/* The block with a line for done, if the budget has room for it. */
str forgetting_block(struct arena *a, const struct forgetting *f, str block, int64_t budget_tokens);

/* Of what is kept of a turn: requests to forget, answers that repeat what was asked for anywhere in
 * the conversation, and what a later message of the same turn asks to forget, are found only by
 * what else they say. */
void forgetting_leave(struct arena *a, const struct said *said, size_t n_said, struct message *v,
                      size_t n);
