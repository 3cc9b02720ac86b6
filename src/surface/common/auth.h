/* auth.h - who asks: from a credential to a user and a space. */
#pragma once

#include "surface/surface.h"

/* Names a space of the caller's user by any text, and asks for memory by Osaurus's rules. */
#define AGENT_HEADER "X-Osaurus-Agent-Id"

/*
 * Finds out who asks. On loopback, as long as no token was ever made, everyone is LOCAL_USER and
 * may do everything; afterwards a bearer token decides.
 */
enum status auth_request(struct ctx *ctx, struct app *app, enum route_access needs,
                         struct request *in);
/* The same, and X-Osaurus-Agent-Id picks a space of that user, one that auth_space allows. */
enum status auth_agent_request(struct ctx *ctx, struct app *app, enum route_access needs,
                               struct request *in);

/* The bearer token of a request, whatever its route needs; NO_AUTH when it is missing or unknown.
 */
enum status auth_token(struct ctx *ctx, struct app *app, const struct request *in,
                       struct token *out);
/* Whether a header's value contains something that looks like a token of this server. */
bool auth_shows_token(str value);

/*
 * The space that an OmniRoute key's id names: that of the caller's own token, or for an admin that
 * of any token of its user, or a space of its user by name. As long as no token was ever made, any
 * text names a space, which the first write makes. Every other id is FORBIDDEN, whether it belongs
 * to someone else or to nobody. Without an id *out does not change.
 */
enum status auth_key_space(struct ctx *ctx, struct app *app, const struct identity *who, str id,
                           str *out);

/*
 * Whether the caller may use a space of its user: its own, and each that is not the own space of
 * another token of that user; an admin may use all. auth_space looks up the tokens, and its
 * FORBIDDEN names the field that asked for the space.
 */
bool auth_reaches(const struct identity *who, const struct token *tokens, size_t n, str space);
enum status auth_space(struct ctx *ctx, struct app *app, const struct identity *who, str space,
                       const char *field);
