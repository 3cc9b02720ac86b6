/* accounts.h - users and their tokens. */
#pragma once

#include "core/account.h"

struct store;

/* --- users --- */

/* By id (no user has ""), or by e-mail address, ASCII case folded. NOT_FOUND without a note. */
MUST_USE enum status store_user(struct ctx *ctx, struct store *s, str id, struct user *out);
MUST_USE enum status store_user_by_email(struct ctx *ctx, struct store *s, str email,
                                         struct user *out);
/* Users who left a model key, by id. */
MUST_USE enum status store_sealed_users(struct ctx *ctx, struct store *s, struct user **out,
                                        size_t *n);
/*
 * Makes the user, or (may_change) changes all but `created` of the one with that id; the token, or
 * NULL, is added in the same transaction. CONFLICT: the address is another user's; or, without
 * may_change, a user, pool or token of that name exists.
 */
MUST_USE enum status store_put_user(struct ctx *ctx, struct store *s, const struct user *u,
                                    bool may_change, const struct token *token);

/* Everyone who has something, by id; *total counts all that match, after and limit aside. */
MUST_USE enum status store_accounts(struct ctx *ctx, struct store *s,
                                    const struct account_filter *f, struct account **out, size_t *n,
                                    int64_t *total);
/* NOT_FOUND without a note. FORBIDDEN: nobody else is an owner. Who is an owner no longer loses the
 * tokens of others that its own made; *revoked counts them. */
MUST_USE enum status store_set_role(struct ctx *ctx, struct store *s, str user, enum role role,
                                    int64_t *revoked);
/* Removes a registration and the tokens; what is in the user's spaces is forgotten first. A token
 * that others must show one because of remains, revoked and without a name or an owner. */
MUST_USE enum status store_erase_account(struct ctx *ctx, struct store *s, str user);

/* --- tokens --- */

/* NO_AUTH: its parent is revoked. */
MUST_USE enum status store_put_token(struct ctx *ctx, struct store *s, const struct token *t);
/* By SHA-256 hex. NOT_FOUND also when revoked or expired: *out is then that token, or all zero. */
MUST_USE enum status store_find_token(struct ctx *ctx, struct store *s, str hash,
                                      struct token *out);
/* A user's, newest first; user "" lists everyone's. */
MUST_USE enum status store_tokens(struct ctx *ctx, struct store *s, str user, struct token **out,
                                  size_t *n);
/* Those of all users that were shown since then and are not revoked, the last ones first. */
MUST_USE enum status store_used_tokens(struct ctx *ctx, struct store *s, int64_t since, size_t most,
                                       struct token **out, size_t *n);
/* With all tokens that it made, and that those made: *made counts them. */
MUST_USE enum status store_revoke_token(struct ctx *ctx, struct store *s, str user, str id,
                                        int64_t *made);
/* True when a token that is not open was ever made: then requests must show one. Cheap. */
MUST_USE enum status store_has_tokens(struct ctx *ctx, struct store *s, bool *out);
/* Notes when a token was shown, and from which address; written later, together with other writes.
 * TOO_BUSY when the queue is full. */
MUST_USE enum status store_token_used(struct ctx *ctx, struct store *s, str id, int64_t at,
                                      str address);

/* --- what a model's server keeps for users --- */

/* Whose these are from now on, until that time (unix ms) or, with 0, for good. Written later.
 * TOO_BUSY when the queue is full. */
MUST_USE enum status store_note_owners(struct ctx *ctx, struct store *s, const str *names, size_t n,
                                       str owner, int64_t until);
/* "" when nobody was noted. What was noted just now may need store_settle. */
MUST_USE enum status store_owner(struct ctx *ctx, struct store *s, str name, str *out);
