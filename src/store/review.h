/* review.h - memories held back because they instruct a model, until somebody decides. */
#pragma once

#include "core/memory.h"

struct store;

enum review_state {
    REVIEW_HELD,     /* waits for a decision, and is given to no chat */
    REVIEW_ALLOWED,  /* may be given */
    REVIEW_FORGOTTEN /* is erased from the list */
};

/* Names a message or memory and keeps nothing of its text, so erasing that erases this. */
struct held_item {
    str id; /* of the message or memory; "" when it was not held */
    bool is_memory;
    int64_t version; /* of a memory: when its content was changed last; a decision is for that */
    enum review_state state;
    int64_t first, last; /* when it was held back, unix ms */
    int64_t times;
};

/* Notes that it was held back now, once more; the state stays, unless the version is another.
 * Nobody waits; TOO_BUSY when the queue is full. */
MUST_USE enum status store_hold(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                const struct held_item *held, int64_t now);
/* Its id is "" when it is not on the list. */
MUST_USE enum status store_held(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                struct held_item *out);
/* The pool's, newest first. */
MUST_USE enum status store_held_list(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                     enum review_state state, struct held_item **out, size_t *n);
/* NOT_FOUND when it is not on the list. */
MUST_USE enum status store_decide(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                  enum review_state state, int64_t version);
