/* forgetting.h - what a user asks to be forgotten in the middle of a chat. */
#pragma once

#include "engine/state/state.h"
#include "engine/text/forget_request.h"

struct forgetting {
    struct forget_request asked;
    str done; /* what was done, for the model; "" when nothing was asked, or it was done before */
};

/* Erases the memories that state what was asked, and bars the sentences that do. Never fails: done
 * says so. */
void forgetting_do(struct ctx *ctx, struct engine *e, struct pool_ref pool, struct forgetting *f);

/* A block that tells done; "" when the budget has no room for it. */
str forgetting_block(struct arena *a, const struct forgetting *f, int64_t budget_tokens);

/* Whether the message, by the chain of the user's last one, is the one that asks. */
bool forgetting_asks(const struct forgetting *f, uint64_t last, const struct message *m);

/* That message and what comes after it, among what is kept of a turn, are found only by what else
 * they say. */
void forgetting_leave(struct arena *a, const struct forgetting *f, uint64_t last, struct message *v,
                      size_t n);
