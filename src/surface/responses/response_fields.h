/* response_fields.h - a response and its answer as /openapi.json describes them. */
#pragma once

#include "base/fields.h"

/* The body belongs to OpenAI's API and is passed on: only described, never checked here. */
extern const struct field response_in_fields[], response_out_fields[];
/* Headers that are read here. Those of the answer are a chat completion's. */
extern const struct field response_header_fields[];
