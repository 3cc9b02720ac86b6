/* embed_queue.h - the chosen source of vectors, and the set of vectors in use. */
#pragma once

#include "engine/state/state.h"

/* The source of vectors as it is chosen now. */
struct chosen {
    enum embed_source source;
    str signature; /* of its vectors; "" without a source */
    str maker;     /* the signature without the length, which may not be known yet */
};
struct chosen chosen_of(struct ctx *ctx, struct engine *e);
/* "static:table:256" is made by "static:table:". */
str maker_of(str signature);
/* Why no source is chosen, in words. */
str no_source(struct ctx *ctx, struct engine *e);

/* Makes the set of the chosen source the one in use, and loads its model; anew: with an empty set.
 */
MUST_USE enum status vectors_ready(struct ctx *ctx, struct engine *e, const struct chosen *c,
                                   bool anew, struct vector_set *out);
