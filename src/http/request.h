/* request.h - reading a request by its route's table. */
#pragma once

#include "http/http.h"

/* The body, or the query of GET, HEAD and DELETE without one, into r->in and r->json. */
MUST_USE enum status request_read(struct ctx *ctx, const struct route *route, struct request *r);
