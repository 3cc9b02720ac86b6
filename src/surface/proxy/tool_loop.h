/* tool_loop.h - the tool loop: calls of search_memory are run here and the model is asked again. */
#pragma once

#include "surface/proxy/splice.h"
#include "surface/surface.h"

/*
 * Adds our tool to the body's list. False, and nothing is changed, when the client has a tool of
 * that name, wants several answers at once, or uses the older "functions".
 */
bool tool_loop_offer(struct ctx *ctx, struct splice *body, const struct json *root);

/* The request that is sent again, longer by each round. */
struct tool_loop_in {
    const struct splice *body;          /* with our tool in it */
    const struct json *root, *messages; /* of the client's body */
    struct pool_ref pool;               /* that is searched */
    struct turn *turn;                  /* its receipt lists what the searches found */
    int64_t max;                        /* rounds */
};
/* Adds the filter. All of *in must live as long as the relay. */
void tool_loop_add(struct ctx *ctx, struct relay *relay, const struct tool_loop_in *in);
