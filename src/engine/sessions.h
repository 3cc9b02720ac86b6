/* sessions.h - a part of the engine's face: conversations as they are kept. */
#pragma once

#include "core/session.h"

struct engine;

/* An empty one; s->id "" makes a UUID. Fills *s as it was kept. */
MUST_USE enum status engine_make_session(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                         struct session *s);
/* By id; with space "" in any space of the user. NOT_FOUND without a note. */
MUST_USE enum status engine_session(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                                    struct session *out);
/* Metadata is merged member by member, null removes one (JSON Merge Patch, RFC 7396). */
MUST_USE enum status engine_change_session(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                           str id, const struct session_change *change,
                                           struct session *out);
/* All of its messages in order. */
MUST_USE enum status engine_session_messages(struct ctx *ctx, struct engine *e,
                                             struct pool_ref pool, str session,
                                             struct message **out, size_t *n);
