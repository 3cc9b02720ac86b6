/* embed_queue.h - the chosen source of vectors, and the set of vectors in use. */
#pragma once

#include "engine/state/state.h"

/* The source of vectors as it is chosen now. */
struct chosen {
    enum embed_source source; /* EMBED_NONE: there is none */
    str signature;            /* of its vectors; "" without a source */
    str maker;                /* the signature without the length, which may not be known yet */
};
struct chosen chosen_of(struct ctx *ctx, struct engine *e);
/* "static:table:256" is made by "static:table:". */
str maker_of(str signature);
/* Why no source is chosen, in words. */
str no_source(struct ctx *ctx, struct engine *e);

/* Makes the set of the chosen source the one in use, loads its model; anew: with an empty set. */
MUST_USE enum status vectors_ready(struct ctx *ctx, struct engine *e, const struct chosen *c,
                                   bool anew, struct vector_set *out);

/* A question as a vector, in the ctx's arena. */
struct question_vector {
    const float *v; /* or NULL */
    size_t dimensions;
    struct token_vectors tokens; /* of the encoder */
    str signature;               /* of the chosen source, or "" */
    str without;                 /* why there is no vector, else "" */
};
/* Never fails. With a deadline another server is given half of what is left, and no model is waited
 * for but the encoder, where the pool has vectors. A source whose circuit is open is not asked. */
void vectors_of_question(struct ctx *ctx, struct engine *e, struct pool_ref pool, str text,
                         struct question_vector *out);

/* Before a search outside chats: makes some of the missing vectors of the pool, so that new texts
 * are found. At most max texts, one batch, and half of the time left; a failure is reported by
 * engine_status. */
void vectors_catch_up(struct ctx *ctx, struct engine *e, struct pool_ref pool, size_t max);
