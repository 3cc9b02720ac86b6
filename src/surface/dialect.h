/* dialect.h - what the dialects share: who asks, how a failure is worded, the list of them. */
#pragma once

#include "surface/surface.h"

extern const struct surface surface_openai;
extern const struct surface surface_memories;
extern const struct surface surface_mcp;
extern const struct surface surface_omniroute_memory;
extern const struct surface surface_omniroute_engine;
extern const struct surface surface_omniroute_settings;
extern const struct surface surface_osaurus;
extern const struct surface surface_osaurus_memory;
extern const struct surface surface_cortex_users;
extern const struct surface surface_cortex_sessions;
extern const struct surface surface_cortex_profile;
extern const struct surface surface_cortex_memory;
extern const struct surface surface_cortex_chat;
extern const struct surface surface_cortex_a2a;
extern const struct surface surface_rag;
extern const struct surface surface_admin;

/* Names a space of the caller's user by any text, and asks for memory by Osaurus's rules. */
#define AGENT_HEADER "X-Osaurus-Agent-Id"

/*
 * Who asks. On loopback, as long as no token was ever made, everyone is LOCAL_USER and may do
 * everything; afterwards a bearer token decides. X-Osaurus-Agent-Id picks a space of that user, one
 * that reach_space allows.
 */
enum status admit(struct ctx *ctx, struct app *app, enum route_access needs, struct request *in);
/* The same without that header: the credential alone decides. */
enum status admit_own(struct ctx *ctx, struct app *app, enum route_access needs,
                      struct request *in);

/* The bearer token of a request, whatever its route needs; NO_AUTH when there is none, or it is not
 * known. */
enum status token_of(struct ctx *ctx, struct app *app, const struct request *in, struct token *out);
/* Whether a header's value shows something that looks like a token of this server. */
bool holds_token(str value);

/*
 * The space that an OmniRoute key's id names: that of the caller's own token, or for an admin that
 * of any token of its user, or a space of its user by name. As long as no token was ever made, any
 * name is that of a space, which the first write makes. Every other one is FORBIDDEN, whether it is
 * someone else's or nobody's. Without an id *out stays as it is.
 */
enum status space_of_key(struct ctx *ctx, struct app *app, const struct identity *who, str id,
                         str *out);

/*
 * Whether a space of its user is the caller's to use: its own, and each that is not the own space
 * of another token of that user; an admin's are all. reach_space asks for the tokens itself, and
 * names the field with which it was asked for when it is FORBIDDEN.
 */
bool reaches_space(const struct identity *who, const struct token *tokens, size_t n, str space);
enum status reach_space(struct ctx *ctx, struct app *app, const struct identity *who, str space,
                        const char *field);

/* {"error": {message, type, param, code}}, as OpenAI's clients expect it. */
void word_openai_error(struct ctx *ctx, enum status s, const struct request *in, struct reply *out);
