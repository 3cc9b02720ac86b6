/* caller.h - which program asks, and what for: a chat of its user's, or something of its own. */
#pragma once

#include "surface/proxy/model_request.h"

/* words are those of the request's last message of the user. */
enum caller caller_of(struct arena *a, const struct request *in, const struct json *root,
                      str words);
