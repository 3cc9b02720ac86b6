/* people.h - a part of the engine's face: users and credentials, sessions, profiles. */
#pragma once

#include "store/store.h"

struct engine;

/* --- those who register (Cortex) --- */

/* Where a model key that a user leaves here is sealed with, 32 bytes; kept as a copy. Before the
 * first call of the others; without it no key can be left. */
void engine_take_seal(struct engine *e, const uint8_t *key);

struct registration {
    struct user user; /* id is a UUID, email an address; sealed_key and key_preview are not read */
    bool sets_key;
    str key;         /* of the model server; "" clears it */
    str token_name;  /* of the first token; "" is "Initial Token" */
    bool may_change; /* the caller has proved to be this user, or to be an admin */
};
/*
 * Makes the user, or changes the one that is there (what is "" stays as it is), and a token in the
 * space DEFAULT_SPACE; *secret is its text, "ctx_…". CONFLICT when the id or the address is there
 * and may_change is not set: the same words for both. BAD_INPUT names the field.
 */
MUST_USE enum status engine_register(struct ctx *ctx, struct engine *e,
                                     const struct registration *r, str *secret);
/* NOT_FOUND without a note: nobody of that id has registered or left a key. email is "" of one who
 * only left a key. */
MUST_USE enum status engine_user(struct ctx *ctx, struct engine *e, str id, struct user *out);
/* Whether a text may be a key for a model's server, in a header; BAD_INPUT names the field. */
MUST_USE enum status engine_check_model_key(struct ctx *ctx, const char *field, str key);
/* Seals and keeps the key, "" clears it; a user who has not registered is made (LOCAL_USER). Shows
 * of it: at most the first three and the last six characters, and never more than half. */
MUST_USE enum status engine_put_model_key(struct ctx *ctx, struct engine *e, str user, str key,
                                          struct user *out);
/* The key itself; "" when there is none. STORAGE in words when it cannot be opened (another seal).
 */
MUST_USE enum status engine_model_key(struct ctx *ctx, struct engine *e, str user, str *out);
/* How many of the keys that were left cannot be opened with the seal that there is, or with none.
 */
MUST_USE enum status engine_lost_keys(struct ctx *ctx, struct engine *e, size_t *out);

/* Makes a token for a user and space; *secret is its text, shown once. t->prefix is what it shall
 * begin with ("ctx_"; "" is "rk_"), and afterwards what is shown of it. */
MUST_USE enum status engine_make_token(struct ctx *ctx, struct engine *e, struct token *t,
                                       str *secret);
/* The token's row, and it counts as used. NO_AUTH when it is not known, revoked or expired. */
MUST_USE enum status engine_token(struct ctx *ctx, struct engine *e, str secret, struct token *out);
/* Whether a text looks like a token of this server, so that it is never passed on. */
bool engine_is_token(str secret);
/* A user's, newest first, revoked ones too. */
MUST_USE enum status engine_tokens(struct ctx *ctx, struct engine *e, str user, struct token **out,
                                   size_t *n);
/* A user's token by its id, revoked or not; NOT_FOUND without a note. */
MUST_USE enum status engine_token_named(struct ctx *ctx, struct engine *e, str user, str id,
                                        struct token *out);
/* NOT_FOUND without a note, also when it is revoked already or another user's. */
MUST_USE enum status engine_revoke_token(struct ctx *ctx, struct engine *e, str user, str id);
/* Whether requests must show a token: one was made that is not open (those that begin with "ctx_"
 * are). Another process's first token is seen after TOKEN_LOOK_MS. */
enum { TOKEN_LOOK_MS = 50 };
MUST_USE enum status engine_needs_token(struct ctx *ctx, struct engine *e, bool *out);

/* --- sessions --- */

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
MUST_USE enum status engine_sessions(struct ctx *ctx, struct engine *e,
                                     const struct session_filter *f, struct session **out,
                                     size_t *n, int64_t *total);
/* All of its messages in order. */
MUST_USE enum status engine_session_messages(struct ctx *ctx, struct engine *e,
                                             struct pool_ref pool, str session,
                                             struct message **out, size_t *n);

/* --- profiles: what is known of a user, name by name --- */

/*
 * A profile's fact is a memory of the layer identity, category profile, key "profile.NAME" and
 * content "NAME: VALUE", a camelCase NAME in words ("dog name: Olivia") as people ask for it; so it
 * is recalled, listed, exported and forgotten like all others. What was true before remains as
 * history.
 */
enum { PROFILE_NAME_MAX = 64, PROFILE_VALUE_MAX = 1000, PROFILE_MAX = 500 };
struct profile_fact {
    str name;
    const struct json *value; /* as it was given */
};
struct profile {
    struct profile_fact *v; /* by name */
    size_t n;
    int64_t updated; /* unix ms; 0: there is none */
};
MUST_USE enum status engine_profile(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                    struct profile *out);
/* Merges an object into it, all or nothing; null removes a name with its history, for good.
 * BAD_INPUT names what breaks the limits (characters, not bytes). */
MUST_USE enum status engine_change_profile(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                           const struct json *facts, struct profile *out);
MUST_USE enum status engine_forget_profile(struct ctx *ctx, struct engine *e, struct pool_ref pool);

struct profile_source {
    str text, raw;
    const struct json *data; /* an object, or NULL */
    bool keeps; /* merged into the profile of the pool, as far as that has room: origin distilled */
};
/*
 * What they say of the user, as an object of short camelCase names and texts: by the core model
 * where one is set and answers within core_timeout_ms, else by rules (data flattened, "name=value",
 * "my name is"). Never fails for what a model answers: at worst the object is empty. What looks
 * like a password, a key or a card's number is left out. *how: "model"; "pairs" (a model's answer
 * that held no object, but "name: value"); "rules" (no model is set), or "rules:" and why the model
 * had no part in it (unavailable, token_budget, breaker_open, timed_out, upstream, no_auth,
 * bad_input).
 */
MUST_USE enum status engine_read_profile(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                         const struct profile_source *in, struct json **out,
                                         str *how);
