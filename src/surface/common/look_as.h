/* look_as.h - an owner looks at another user's memory: a choice that is noted. */
#pragma once

#include "surface/surface.h"

/* Names the user whose memory is looked at. */
#define LOOK_AS_HEADER "X-Memory-Look-As"

/* Makes who->pool that user's for this request, and notes it in the log. FORBIDDEN for everybody
 * but owners, and for requests that could change something; NOT_FOUND when there is no such
 * user. */
MUST_USE enum status look_as(struct ctx *ctx, struct app *app, const struct request *in,
                             struct identity *who);
