/* qdrant_sync.h - Qdrant beside the store: whether it is asked, what it finds, its status. */
#pragma once

#include "embed/embed.h"
#include "engine/engine.h"

/* Whether a search asks Qdrant: the setting vector_store chooses it, or is auto while Qdrant is
 * enabled and its circuit closed. */
bool mirror_is_used(struct engine *e);

/* The memories of a pool (and of a session, or "") that are nearest to a text, best first, without
 * expired ones. The caller checks them against the store, which Qdrant follows with a delay. *by is
 * the text's vector. Fails within two seconds; at once while the circuit is open, or while many
 * memories wait to be copied there. */
MUST_USE enum status mirror_search(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                   str session, str text, size_t limit, struct embedding *by,
                                   struct qdrant_hit **out, size_t *n);

/* The same for an administrator: asks although the circuit may be open, copies nothing first. */
MUST_USE enum status mirror_search_now(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                       str query, size_t limit, struct qdrant_hit **out, size_t *n);

/* Fills out->qdrant. probe: asks the server. */
void mirror_status(struct ctx *ctx, struct engine *e, bool probe, struct engine_status *out);
