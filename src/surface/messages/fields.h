/* fields.h - Anthropic's Messages API as /openapi.json describes it. */
#pragma once

#include "base/fields.h"

/* The bodies are passed on: only described, never checked here. */
extern const struct field message_in_fields[], message_out_fields[];
extern const struct field counted_in_fields[], counted_out_fields[];
/* Headers that are read. */
extern const struct field message_header_fields[];
