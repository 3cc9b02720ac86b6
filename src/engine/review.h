/* review.h - a part of the engine's face: what recall holds back because it instructs a model. */
#pragma once

#include "core/memory.h"
#include "store/review.h"

struct engine;

/* A message or memory with sentences that read as instructions to a model. */
struct review {
    str id, kind; /* of the message or memory; "message" or "memory" */
    str text;     /* the sentences, one a line */
    str role;     /* of a message: who said it; of a memory "" */
    str origin, space, session;
    int64_t created;            /* when it was said or learnt, unix ms */
    int64_t first, last, times; /* when and how often a chat was not given it */
    str state, why;
};
extern const char *const review_states[];    /* held, allowed */
extern const char *const review_decisions[]; /* hold, allow, forget: as enum review_state */

/* Those of one pool, held back last first. total counts all. */
MUST_USE enum status engine_review(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                   enum review_state state, size_t offset, size_t limit,
                                   struct review **out, size_t *n, int64_t *total);
/* Allowed: chats may be given it, until the memory is changed. Forgotten: a memory is erased; the
 * sentences of a message are barred, and it stays in its conversation. *barred counts the
 * statements that recall no longer gives. NOT_FOUND when the pool has nothing with this id on its
 * list. */
MUST_USE enum status engine_decide(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                                   enum review_state to, int64_t *barred);
