/* transfer.h - a space, taken out and put in unchanged. */
#pragma once

#include "core/memory.h"
#include "core/session.h"

struct engine;

/* What recall may not give again, as hashes: see store/bars.h. */
struct transfer_bar {
    unsigned kind, reason; /* of the names below */
    int64_t at;
    uint64_t message;
    const uint64_t *terms;
    size_t n;
};
extern const char *const transfer_bar_kinds[], *const transfer_bar_reasons[];

/* --- out --- */

/* The ids of a space's sessions, by when they began. */
MUST_USE enum status engine_transfer_sessions(struct ctx *ctx, struct engine *e,
                                              struct pool_ref pool, struct strs *out);
/* A session's messages from a position on. */
MUST_USE enum status engine_transfer_messages(struct ctx *ctx, struct engine *e,
                                              struct pool_ref pool, str session, int64_t from,
                                              size_t limit, struct message **out, size_t *n);
MUST_USE enum status engine_transfer_bars(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                          struct transfer_bar **out, size_t *n);

/* --- in: each call is all or nothing, and a second one with the same changes nothing --- */

/* Nothing is estimated, barred or distilled: they stay what they were. A memory that is there by
 * its id stays, unless this one was changed later. *added counts new ones. */
MUST_USE enum status engine_transfer_memories(struct ctx *ctx, struct engine *e,
                                              struct pool_ref pool, struct memory *v, size_t n,
                                              int64_t *added);
/* FORBIDDEN as quota_check of those that are not there, and of what others have more. */
MUST_USE enum status engine_transfer_quota(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                           const struct memory *v, size_t n);
/* Makes the session when it is missing, and adds the messages that it lacks to its end. */
MUST_USE enum status engine_transfer_session(struct ctx *ctx, struct engine *e,
                                             struct pool_ref pool, const struct session *session,
                                             struct message *v, size_t n, int64_t *added);
MUST_USE enum status engine_transfer_put_bars(struct ctx *ctx, struct engine *e,
                                              struct pool_ref pool, const struct transfer_bar *v,
                                              size_t n, bool dry_run, int64_t *added);
