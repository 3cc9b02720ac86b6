/* mirror.h - Qdrant as the second tier: whether it is asked, what it finds, how it is. */
#pragma once

#include "embed/embed.h"
#include "engine/engine.h"

/* Whether a search is to ask it: it is chosen, or left to us and well as far as is known. */
bool mirror_is_used(struct engine *e);

/*
 * The memories of a pool (and of a session, or "") that are nearest to a text, best first; what has
 * expired is left out, what the store knows better is the caller's to see. *by is the text's
 * vector. Fails within two seconds, and at once for a while after a failure or while many memories
 * are not there yet; ctx->why says why.
 */
MUST_USE enum status mirror_search(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                   str session, str text, size_t limit, struct embedding *by,
                                   struct engine_hit **out, size_t *n);

/* Fills out->qdrant. probe: asks the server. */
void mirror_status(struct ctx *ctx, struct engine *e, bool probe, struct engine_status *out);
