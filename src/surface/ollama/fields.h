/* fields.h - Ollama's chat as /openapi.json describes it. */
#pragma once

#include "base/fields.h"

/* The body is passed on: only described, never checked here. */
extern const struct field ollama_chat_in_fields[], ollama_chat_out_fields[];
/* Headers that are read. */
extern const struct field ollama_header_fields[];
