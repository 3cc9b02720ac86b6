/* rounds.h - a model that calls search_memory is answered here and asked again. */
#pragma once

#include "surface/splice.h"
#include "surface/surface.h"

/*
 * Puts our tool into the body's list. False, and nothing is changed, when the client has one of
 * that name, wants several answers at once, or speaks the older dialect of functions.
 */
bool rounds_offer(struct ctx *ctx, struct splice *body, const struct json *root);

/* What is asked again: the body with our tool in it, and how often. */
struct rounds_in {
    const struct splice *body;
    const struct json *root, *messages; /* of the client's body */
    struct turn *turn;                  /* whose pool is searched, whose receipt tells of it */
    int64_t max;
};
/* All of it must live as long as the relay, which may have its tap already. */
void rounds_on(struct ctx *ctx, struct relay *relay, const struct rounds_in *in);
