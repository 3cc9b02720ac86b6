/* request.h - reading a request by its route's table. */
#pragma once

#include "http/http.h"

/* The body, or the query of GET, HEAD and DELETE without one, into r->in and r->json. aside is a
 * member that a strict route without a row for it lets pass, or NULL. */
MUST_USE enum status request_read(struct ctx *ctx, const struct route *route, const char *aside,
                                  struct request *r);

/* The id in logs and X-Request-Id: the loop's random number and a count, in hex; 17 bytes. */
void request_name(char *id, uint64_t base, uint64_t count);

/* The path of a request's target, undecoded: of "/path?query#part" and of "http://host/path?query",
 * whose host is *authority then, else "". *origin_form is the target without host and part. */
str request_path(str target, str *authority, str *origin_form, str *query);
