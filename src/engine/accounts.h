/* accounts.h - a part of the engine's face: users and their tokens. */
#pragma once

#include "core/account.h"
#include "core/certificate.h"

struct engine;

/* --- users who register --- */

/* Where a model key that a user leaves here is sealed with, 32 bytes; kept as a copy. Before the
 * first call of the others; without it no key can be left. */
void engine_take_seal(struct engine *e, const uint8_t *key);

struct registration {
    struct user user; /* id is a UUID, email an address; sealed_key and key_preview are not read */
    bool sets_key;
    str key;            /* of the model server; "" clears it */
    struct token token; /* of the first one: the name ("" is "Initial Token"), parent and end */
    bool may_change;    /* the caller has proved to be this user, or to be an admin */
};
/* Makes the user, or changes the one that is there (what is "" stays as it is), and a token in the
 * space DEFAULT_SPACE; *secret is its text, "ctx_…". CONFLICT when the id or the address is there
 * and may_change is not set: the same words for both. BAD_INPUT names the field. */
MUST_USE enum status engine_register(struct ctx *ctx, struct engine *e,
                                     const struct registration *r, str *secret);
/* NOT_FOUND without a note: nobody has registered or left a key. email is "" of a key alone. */
MUST_USE enum status engine_user(struct ctx *ctx, struct engine *e, str id, struct user *out);
/* Whether a text may be a key for a model's server, in a header; BAD_INPUT names the field. */
MUST_USE enum status engine_check_model_key(struct ctx *ctx, const char *field, str key);
/* Seals and keeps the key, "" clears it; a user who has not registered is made (LOCAL_USER). Shows
 * of it: at most the first three and the last six characters, and never more than half. */
MUST_USE enum status engine_put_model_key(struct ctx *ctx, struct engine *e, str user, str key,
                                          struct user *out);
/* The key; "" when there is none. STORAGE in words when it cannot be opened (another seal). */
MUST_USE enum status engine_model_key(struct ctx *ctx, struct engine *e, str user, str *out);
/* How many of the keys that were left cannot be opened with the seal that there is, or none. */
MUST_USE enum status engine_lost_keys(struct ctx *ctx, struct engine *e, size_t *out);

/* Makes a token for a user and space; *secret is its text, shown once. t->prefix is what it shall
 * begin with ("ctx_"; "" is "rk_"), and afterwards what is shown of it. */
MUST_USE enum status engine_make_token(struct ctx *ctx, struct engine *e, struct token *t,
                                       str *secret);
/* The token's row, and it counts as used from that address. NO_AUTH when it is revoked or expired,
 * and *out is its row all the same, or when it is not known, and *out is all zero. */
MUST_USE enum status engine_token(struct ctx *ctx, struct engine *e, str secret, str address,
                                  struct token *out);
/* Of a server that begins: those that were shown to any server a moment ago let chats through while
 * the store is away. */
MUST_USE enum status engine_know_tokens(struct ctx *ctx, struct engine *e);
/* Whether a text looks like a token of this server, so that it is never passed on. */
bool engine_is_token(str secret);
/* A user's, or with "" everyone's, newest first, revoked ones too. */
MUST_USE enum status engine_tokens(struct ctx *ctx, struct engine *e, str user, struct token **out,
                                   size_t *n);
/* A user's token by its id, revoked or not; NOT_FOUND without a note. */
MUST_USE enum status engine_token_named(struct ctx *ctx, struct engine *e, str user, str id,
                                        struct token *out);
/* NOT_FOUND without a note, also when it is revoked already or another user's. */
MUST_USE enum status engine_revoke_token(struct ctx *ctx, struct engine *e, str user, str id);

/* --- how much one user may have --- */

/* 0: unlimited. */
struct quota {
    int64_t memories, messages, bytes, spaces, tokens;
};
struct quota engine_quota(const struct engine *e, str user);

/* --- browsers --- */

enum { SIGN_IN_MS = 12 * 3600 * 1000 };
/* A secret for a browser that shows this token, good until that time (unix ms), which is no later
 * than the token's end. NO_AUTH and *token as engine_token. */
MUST_USE enum status engine_sign_in(struct ctx *ctx, struct engine *e, str text, str address,
                                    struct token *token, str *secret, int64_t *until);
/* The token whose rights the browser has; NO_AUTH when signed out, or it is no longer valid. */
MUST_USE enum status engine_signed_in(struct ctx *ctx, struct engine *e, str secret,
                                      struct token *out, int64_t *until);
MUST_USE enum status engine_sign_out(struct ctx *ctx, struct engine *e, str secret);

/* --- everyone who has something here --- */

/* A page of them by id; *total counts all that match. */
MUST_USE enum status engine_accounts(struct ctx *ctx, struct engine *e,
                                     const struct account_filter *f, struct account **out,
                                     size_t *n, int64_t *total);
/* NOT_FOUND without a note. */
MUST_USE enum status engine_account(struct ctx *ctx, struct engine *e, str id, struct account *out);

/* The names of the people behind a user's keys who have something here, by name; with the id of a
 * memory only those who have that. */
MUST_USE enum status engine_people(struct ctx *ctx, struct engine *e, str owner, str memory,
                                   struct strs *out);

/* NOT_FOUND without a note. FORBIDDEN names role: nobody else is an owner. Who is an owner no
 * longer loses the tokens of others that its own made, or they would keep what it lost; *revoked
 * counts them. */
MUST_USE enum status engine_set_role(struct ctx *ctx, struct engine *e, str user, enum role role,
                                     int64_t *revoked);

struct erase_account {
    str id;
    bool with_people;       /* and those behind its keys: OWNER/PERSON */
    bool dry_run;           /* only the checks, and the number of people */
    int64_t people, erased; /* set: how many people; how many memories and messages */
    str erasure;            /* set: id of the certificate of what the user itself had, or "" */
};
/* Erases what a user or person owns: memories, conversations and receipts in all spaces, the
 * registration, the tokens. LOCAL_USER keeps its role and tokens. FORBIDDEN: it is the last
 * owner. CONFLICT: it has people and with_people is not set. NOT_FOUND without a note. Someone who
 * has people is erased after them, so a call that fails can be repeated. */
MUST_USE enum status engine_erase_account(struct ctx *ctx, struct engine *e,
                                          struct erase_account *what);

/* Past erasures, as store_erasures. */
MUST_USE enum status engine_erasures(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                     int64_t before, size_t limit, struct certificate **out,
                                     size_t *n, int64_t *total);
/* As store_erasure, signed with the key in the data folder. */
MUST_USE enum status engine_certificate(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                        str user, str id, struct certificate *out);

/* Whether requests must show a token: one was made that is not open (those that begin with "ctx_"
 * are). Another process's first token is seen after TOKEN_LOOK_MS. */
enum { TOKEN_LOOK_MS = 50 };
MUST_USE enum status engine_needs_token(struct ctx *ctx, struct engine *e, bool *out);
