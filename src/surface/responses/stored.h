/* stored.h - stored responses to go on from at the model's server: only the user's own. */
#pragma once

#include "surface/surface.h"

/* For a request that is guarded (held.h): NOT_FOUND when previous_response_id, conversation or an
 * item is not the user's, as the field that names it; BAD_INPUT when it could be read in two ways.
 */
MUST_USE enum status stored_check(struct ctx *ctx, struct app *app, str user,
                                  const struct json *root);
