/* people.h - a part of the store's face: who registered, credentials, a user's sessions. */
#pragma once

#include "core/memory.h"

struct store;

/* --- those who registered --- */

/* By id ("" is nobody's), or by e-mail address, ASCII case folded. NOT_FOUND without a note. */
MUST_USE enum status store_user(struct ctx *ctx, struct store *s, str id, struct user *out);
MUST_USE enum status store_user_by_email(struct ctx *ctx, struct store *s, str email,
                                         struct user *out);
/* Those who left a model key, by id. */
MUST_USE enum status store_sealed_users(struct ctx *ctx, struct store *s, struct user **out,
                                        size_t *n);
/*
 * Makes the user, or (may_change) changes the one with that id, but for created; with the token in
 * the same transaction, or NULL. CONFLICT: the id must not be changed and is there, or a pool or a
 * token of that name is; or the address is another's.
 */
MUST_USE enum status store_put_user(struct ctx *ctx, struct store *s, const struct user *u,
                                    bool may_change, const struct token *token);

/* --- credentials --- */

MUST_USE enum status store_put_token(struct ctx *ctx, struct store *s, const struct token *t);
/* By SHA-256 hex. NOT_FOUND also when revoked or expired. */
MUST_USE enum status store_find_token(struct ctx *ctx, struct store *s, str hash,
                                      struct token *out);
/* A user's, newest first; user "" lists everyone's. */
MUST_USE enum status store_tokens(struct ctx *ctx, struct store *s, str user, struct token **out,
                                  size_t *n);
MUST_USE enum status store_revoke_token(struct ctx *ctx, struct store *s, str user, str id);
/* True when a token was ever made that is not open: then requests must show one. Cheap. */
MUST_USE enum status store_has_tokens(struct ctx *ctx, struct store *s, bool *out);
/* It was shown at that time: written later with others, nobody waits. TOO_BUSY when the queue is
 * full. */
MUST_USE enum status store_token_used(struct ctx *ctx, struct store *s, str id, int64_t at);

/* --- sessions --- */

struct session_filter {
    struct pool_ref pool; /* space "": in every space of the user */
    str contains;         /* in the title, letters of any case; "" for any */
    size_t offset, limit;
};
/* Last spoken in first. total counts all that match; NULL: nobody asks. */
MUST_USE enum status store_sessions(struct ctx *ctx, struct store *s,
                                    const struct session_filter *f, struct session **out, size_t *n,
                                    int64_t *total);
/* By id; with space "" in any space of the user. NOT_FOUND without a note. */
MUST_USE enum status store_session(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                   struct session *out);
/* An empty one, and its pool when that is missing. CONFLICT when the id is there. */
MUST_USE enum status store_put_session(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                       const struct session *session);
/* With space "" in any space of the user. NOT_FOUND and CONFLICT (change->was) without a note. */
MUST_USE enum status store_change_session(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                          str id, const struct session_change *change,
                                          struct session *out);
