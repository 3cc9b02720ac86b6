/* auth.h - the caller of a request: from a credential to a user and a space. */
#pragma once

#include "surface/surface.h"

/* Names a space of the caller's user by any text, and asks for memory by Osaurus's rules. */
#define AGENT_HEADER "X-Osaurus-Agent-Id"
/* Name a space at every endpoint: a header, and a parameter of the query or member of the body. */
#define SPACE_HEADER "X-Memory-Space"
#define SPACE_MEMBER "space"
enum { SPACE_NAME_MAX = 200 };

/* ctx->detail of a FORBIDDEN that an admin token would not have got. */
enum { AUTH_NEEDS_ADMIN = 1 };

/*
 * Finds out who asks. On loopback, as long as no token was ever made, everyone is LOCAL_USER and
 * may do everything; afterwards a bearer token decides. Headers may name a person (person.h), and
 * a header or the query a space.
 */
enum status auth_request(struct ctx *ctx, struct app *app, enum route_access needs,
                         struct request *in);
/* The same, and X-Osaurus-Agent-Id names a space, too. */
enum status auth_agent_request(struct ctx *ctx, struct app *app, enum route_access needs,
                               struct request *in);
/* The settle of a surface: the space that the body names. */
enum status auth_body(struct ctx *ctx, struct app *app, struct request *in);
#define SURFACE_SETTLES .settle = auth_body, .aside = SPACE_MEMBER
/* The same of a chat's body, which may also name a person. *who is a copy of in->who. */
MUST_USE enum status auth_chat(struct ctx *ctx, struct app *app, const struct request *in,
                               const struct json *body, struct identity *who);
/* Someone on this machine, who may do everything. */
struct identity auth_local(struct pool_ref pool);
/* Whoever shows this token. */
MUST_USE enum status auth_identity(struct ctx *ctx, const struct token *t, struct identity *out);
/* What a token has from the caller that makes it: it is revoked with that one's, ends no later
 * unless an owner made it, may do no more and reaches no farther. made->pool.space is "" for a
 * new one. FORBIDDEN names the field that asks for more. */
MUST_USE enum status auth_inherit(struct ctx *ctx, struct app *app, const struct identity *who,
                                  struct token *made);

/* Whether requests from this machine need a token, too. */
MUST_USE enum status auth_needs_token(struct ctx *ctx, struct app *app, bool *out);
/* The bearer token of a request, whatever its route needs; NO_AUTH when missing or unknown. */
enum status auth_token(struct ctx *ctx, struct app *app, const struct request *in,
                       struct token *out);
/* Reports a credential that was looked up and is wrong, and gives s back. shown: the token that it
 * was, or all zero. */
enum status auth_judge(const struct request *in, const struct token *shown, enum status s);
/* What a signed-in browser shows, or "": in requests of this server's own page alone, so that no
 * other page acts in its user's name. */
#define COOKIE_NAME "rememberd_session"
str auth_cookie(const struct request *in);
/*
 * The client's own key for the model server, as the value of Authorization:
 * X-Upstream-Authorization, or Authorization where no token is needed. "" without one; a token of
 * this server is no key.
 */
str auth_own_key(const struct request *in);
/* Whether the request is one of Anthropic's API: by its path, or the version header that each of
 * them has. */
bool speaks_anthropic(const struct request *in);
/* Whether it is one of Ollama's own API, by its path: its routes are the only ones of a model
 * server under /api. */
bool speaks_ollama(const struct request *in);
/* Whether a request of Anthropic's API brings its own key as x-api-key, which then goes on in place
 * of the server's. At other APIs that header is one like any other. */
bool auth_own_x_key(const struct request *in);
/* Either of the two. */
bool auth_has_own_key(const struct request *in);
/* FORBIDDEN unless the client brings its own key or is an owner: for requests that reach what
 * others have stored at the model server. */
MUST_USE enum status auth_model_server(struct ctx *ctx, const struct request *in);
/* No person, and an admin of a user whose role has the right. auth_may is FORBIDDEN in words for
 * those whom a route with that access does not serve. */
bool auth_has(const struct identity *who, enum right right);
MUST_USE enum status auth_may(struct ctx *ctx, enum route_access needs, const struct identity *who);
/* Whether a header's value contains something that looks like a token of this server. */
bool auth_shows_token(str value);

/*
 * The one rule of reach: a caller may use its own space and each that has a name, and an admin also
 * the own spaces of other tokens. One whose token is bound to spaces reaches these alone. tokens
 * are auth_tokens: those of the caller's user, and of the person it speaks for. auth_space looks
 * them up, and its FORBIDDEN names the field that asked.
 */
bool auth_reaches(const struct identity *who, const struct token *tokens, size_t n, str space);
MUST_USE enum status auth_tokens(struct ctx *ctx, struct app *app, const struct identity *who,
                                 struct token **out, size_t *n);
enum status auth_space(struct ctx *ctx, struct app *app, const struct identity *who, str space,
                       const char *field);
/* The tokens that a caller may list and revoke: those of the user it is, a person's only its own.
 * Only admins see tokens of admins and tokens that have a space of their own. Revoked and expired
 * ones too. */
MUST_USE enum status auth_tokens_seen(struct ctx *ctx, struct app *app, const struct identity *who,
                                      struct token **out, size_t *n);

/* Makes a space that a request names the identity's; "" changes nothing. FORBIDDEN by the rule of
 * reach, BAD_INPUT when the request has named another one. Both name the field. */
MUST_USE enum status auth_name_space(struct ctx *ctx, struct app *app, struct identity *who,
                                     str name, const char *field);
/* The pool of the space that an endpoint's own member names; "" is the request's. */
MUST_USE enum status auth_pool(struct ctx *ctx, struct app *app, const struct identity *who,
                               str name, const char *field, struct pool_ref *out);
/* The same for the id of an OmniRoute key: that of a token of the caller's user, for its space, or
 * a space's name. */
MUST_USE enum status auth_key_pool(struct ctx *ctx, struct app *app, const struct identity *who,
                                   str id, struct pool_ref *out);
/* Whether the caller's own space was made for one token, which then is not to lead to others by
 * itself. */
MUST_USE enum status auth_is_private(struct ctx *ctx, struct app *app, const struct identity *who,
                                     bool *out);
/* The pools in which a caller finds by id: the request's first, and where the request names none,
 * the others of its user that it reaches. */
MUST_USE enum status auth_pools(struct ctx *ctx, struct app *app, const struct identity *who,
                                struct pools *out);
/* Goes through them, beginning with i = 0 and s = NOT_FOUND, until one has it: true for another
 * try, which begins without the note of the one before. Else the first NOT_FOUND would be the words
 * of a later failure. */
bool auth_tries_next(struct ctx *ctx, enum status s, size_t i, size_t n);
/* The status of CALL, which is about POOL: one of them after the other, until one has it. */
#define AUTH_FIND(CTX, APP, WHO, POOL, CALL)                                                       \
    ({                                                                                             \
        struct pools pools_ = {0};                                                                 \
        enum status found_ = auth_pools(CTX, APP, WHO, &pools_) ?: NOT_FOUND;                      \
        for (size_t i_ = 0; auth_tries_next(CTX, found_, i_, pools_.n); i_++) {                    \
            POOL = pools_.v[i_];                                                                   \
            found_ = CALL;                                                                         \
        }                                                                                          \
        found_;                                                                                    \
    })
/* The pools of a list: the request's, or with SPACE_ALL all in reach. */
MUST_USE enum status auth_listed(struct ctx *ctx, struct app *app, const struct identity *who,
                                 struct pools *out);
/* A memory of these. NOT_FOUND is the same for one that is not there and one out of reach. */
MUST_USE enum status auth_find_memory(struct ctx *ctx, struct app *app, const struct identity *who,
                                      str id, struct memory *out);
/* Erases a memory, message or session of these by its id, in the first pool that has it. An id that
 * is no UUID is erased in the request's pool alone, as clients give the same name twice: CONFLICT
 * where another has a memory of that name. An id that nothing has may be the begin of one
 * (engine_whole_id). Sets what->pool. */
MUST_USE enum status auth_forget(struct ctx *ctx, struct app *app, const struct identity *who,
                                 struct forget *what, int64_t *erased);
/* The pool of all spaces, with space "", for a caller that reaches every space of its user and
 * names none; otherwise the request's own. */
MUST_USE enum status auth_spaces(struct ctx *ctx, struct app *app, const struct identity *who,
                                 struct pool_ref *out);
