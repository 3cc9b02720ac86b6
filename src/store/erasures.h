/* erasures.h - keyed hashes of erased rows, so that an older copy does not bring them back. */
#pragma once

#include "core/certificate.h"
#include "core/memory.h"
#include "core/session.h"

struct store;

/*
 * Whoever erases leaves a row without content: hashes of ids, and of what would identify the same
 * text under another id. The rows are in the database, and so in every backup from then on, and in
 * a file beside it (store_settings.erasures), which outlives a database that is replaced by an
 * older one. Who opens a database that lacks rows of the file erases again what these name.
 *
 * A new statement is never refused: only who brings in a copy asks here.
 */

/* One row of a copy: exactly one of the three. */
struct erased_ask {
    const struct memory *memory;
    const struct message *message; /* with its session */
    const struct session *session;
    int64_t created; /* unix ms; 0: nobody knows, so it counts as older than any erasure */
};
/* Whether each was erased here, and is not there. What was made after the erasure was not. */
MUST_USE enum status store_was_erased(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                      const struct erased_ask *v, size_t n, bool *out);
/* Brings them back on purpose: from now on they do not count as erased. */
MUST_USE enum status store_bring_again(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                       const struct erased_ask *v, size_t n);

/* A certificate of each call that erased, newest first, without state and hashes; `before` is the
 * place of the last one of the page before, or 0. pool is the one whose erasures are listed; with
 * user "" all are. *total counts all pages. */
MUST_USE enum status store_erasures(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                    int64_t before, size_t limit, struct certificate **out,
                                    size_t *n, int64_t *total);
/* One of them, not signed yet. The key of its hashes is given when it is the one of `user`.
 * NOT_FOUND also when it is not the pool's. */
MUST_USE enum status store_erasure(struct ctx *ctx, struct store *s, struct pool_ref pool, str user,
                                   str id, struct certificate *out);
