/* pending.h - turns that wait to be distilled, as the writer's transaction changes them. */
#pragma once

#include "store/sql/db/lookup.h"

/* A session waits until due, and other waiting sessions of the pool are due now. */
MUST_USE enum status session_waits(struct ctx *ctx, struct db *db, struct session_ref session,
                                   int64_t due, int64_t now);
/* Nobody else gets the session, by its number, before then. */
MUST_USE enum status session_claim(struct ctx *ctx, struct db *db, int64_t session, int64_t until);
/* Frees the claims of processes that have ended. */
MUST_USE enum status claims_free(struct ctx *ctx, struct db *db);
/* These have become memories. CONFLICT when one of them waits no longer. */
MUST_USE enum status signals_distilled(struct ctx *ctx, struct db *db, struct session_ref session,
                                       const int64_t *no, size_t n);
MUST_USE enum status signals_erase(struct ctx *ctx, struct db *db, struct session_ref session);
/* A session has lost a message: its signals get new numbers, so that nothing made of the old ones
 * can be written. With all, everything that the user said in it waits again. */
MUST_USE enum status signals_renew(struct ctx *ctx, struct db *db, struct session_ref session,
                                   bool all);
/* After an undo: signals of messages that are gone go, and the session waits if one is left. */
MUST_USE enum status signals_follow(struct ctx *ctx, struct db *db, struct session_ref session);
