/* sessions.h - a user's sessions: listed, found, made, changed. */
#pragma once

#include "core/session.h"

struct store;

/* Last spoken in first. total counts all matches; it may be NULL. */
MUST_USE enum status store_sessions(struct ctx *ctx, struct store *s,
                                    const struct session_filter *f, struct session **out, size_t *n,
                                    int64_t *total);
/* By id; with space "" in any space of the user. NOT_FOUND without a note. */
MUST_USE enum status store_session(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                   struct session *out);
/* Makes an empty session, and its pool when missing. CONFLICT when the id exists. */
MUST_USE enum status store_put_session(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                       const struct session *session);
/* With space "" in any space of the user. NOT_FOUND and CONFLICT (change->was) without a note. */
MUST_USE enum status store_change_session(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                          str id, const struct session_change *change,
                                          struct session *out);
