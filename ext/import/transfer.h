/* transfer.h - the parts of a copy of a space, put in unchanged. */
#pragma once

#include "core/session.h"
#include "store/store.h"

struct engine;

/* NULL-ended, in the order of enum bar_kind and enum bar_reason. */
extern const char *const transfer_bar_kinds[], *const transfer_bar_reasons[];

/* --- each call is all or nothing, and a second one with the same changes nothing --- */

/* Nothing is estimated, barred or distilled: they stay what they were. A memory that is there by
 * its id stays, unless this one was changed later. *added counts new ones. */
MUST_USE enum status engine_transfer_memories(struct ctx *ctx, struct engine *e,
                                              struct pool_ref pool, struct memory *v, size_t n,
                                              int64_t *added);
/* FORBIDDEN as quota_check of those that are not there, and of what others have more. */
MUST_USE enum status engine_transfer_quota(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                           const struct memory *v, size_t n);
/* Makes the session when it is missing, and adds the messages that it lacks to its end. *sessions
 * and *messages count new ones. */
MUST_USE enum status engine_transfer_session(struct ctx *ctx, struct engine *e,
                                             struct pool_ref pool, const struct session *session,
                                             struct message *v, size_t n, int64_t *sessions,
                                             int64_t *messages);
MUST_USE enum status engine_transfer_put_bars(struct ctx *ctx, struct engine *e,
                                              struct pool_ref pool, const struct bar *v, size_t n,
                                              bool dry_run, int64_t *added);

/* Which rows were erased here, out[i]: they are left out. With again none is, and those that were
 * erased count so no more. Adds to *erased. */
MUST_USE enum status import_erased(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                   const struct erased_ask *v, size_t n, bool again, bool *out,
                                   int64_t *erased);
