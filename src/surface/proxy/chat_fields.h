/* chat_fields.h - a chat completion and the lists of models as /openapi.json describes them. */
#pragma once

#include "base/fields.h"

/* The body belongs to OpenAI's API and is passed on: only described, never checked here. */
extern const struct field completion_in_fields[], completion_out_fields[];
/* Headers that the proxy reads, and those that it adds to an answer. */
extern const struct field completion_header_fields[], completion_shown_fields[];
extern const struct field model_fields[], models_out_fields[];
