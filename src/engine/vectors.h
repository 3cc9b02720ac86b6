/* vectors.h - what is chosen to make vectors, and the set of them in force. */
#pragma once

#include "engine/engine_int.h"

/* The source of vectors as it is chosen now. */
struct chosen {
    enum embed_source source;
    str signature; /* of its vectors; "" without a source */
    str maker;     /* the signature without the length, which may not be known yet */
};
struct chosen chosen_of(struct ctx *ctx, struct engine *e);
/* "static:table:256" is made by "static:table:". */
str maker_of(str signature);
/* Why none is chosen, in words. */
str no_source(struct ctx *ctx, struct engine *e);

/* The set that the chosen source fills is in force and its model is loaded; anew: one without any
 * vectors yet. */
MUST_USE enum status vectors_ready(struct ctx *ctx, struct engine *e, const struct chosen *c,
                                   bool anew, struct vector_set *out);
