/* route.h - the table of all surfaces' routes, and the search for a path's row. */
#pragma once

#include "http/http.h"
#include "http/wire/meter.h"

enum { SEGMENTS_MAX = 16 }; /* of a path */

#define PATH_RULE "the path must be percent-encoded UTF-8 without NUL"

struct route_row {
    const struct surface *surface;
    const struct route *route;
    str segments[SEGMENTS_MAX];
    size_t n;
    struct allowance allowance; /* of an open route */
};

struct router {
    struct route_row *rows;
    size_t n;
};

/* The result for one path. route is NULL when no row serves the path; code is then 404 or 405. */
struct match {
    const struct surface *surface;
    const struct route *route;
    struct allowance *allowance; /* the row's, when anyone may ask */
    str params[ROUTE_PARAMS_MAX];
    char allow[128]; /* without a route: the methods of the path, as Allow lists them, or "" */
};

struct router router_new(const struct surface *const *surfaces);
void router_free(struct router *r);
/* raw is the path as it came; params are decoded into the arena. BAD_INPUT for a broken escape:
 * then surface is there too, to word it. */
MUST_USE enum status router_find(struct ctx *ctx, const struct router *r, str method, str raw,
                                 struct match *out);
