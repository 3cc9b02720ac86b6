/* chat_fields.h - a chat completion and the lists of models as /openapi.json describes them. */
#pragma once

#include "base/fields.h"
#include "surface/common/auth.h"
#include "surface/common/switches.h"

/* Members of a model's API: a text, one that is required, or anything. */
#define TEXT(NAME, HELP)                                                                           \
    {                                                                                              \
        .name = NAME, .type = FIELD_STR, .help = HELP                                              \
    }
#define NEEDED(NAME, HELP)                                                                         \
    {                                                                                              \
        .name = NAME, .type = FIELD_STR, .required = true, .help = HELP                            \
    }
#define ANY(NAME, HELP)                                                                            \
    {                                                                                              \
        .name = NAME, .type = FIELD_JSON, .help = HELP                                             \
    }
/* Where a chat's body names a person, and a space. */
#define OPENAI_PERSON_ROWS                                                                         \
    TEXT("user", "the person who speaks, who has a memory of their own"),                          \
        TEXT("safety_identifier", "the same; user wins"),                                          \
        ANY("metadata", "user_id names the person in the same way")
#define SPACE_ROW TEXT(SPACE_MEMBER, "the space to use, as in X-Memory-Space; it is not forwarded")

/* The body belongs to OpenAI's API and is passed on: only described, never checked here. */
extern const struct field completion_in_fields[], completion_out_fields[];
/* Headers that the proxy reads of every chat, those of a completion, and what it adds to answers.
 */
extern const struct field chat_header_fields[], completion_header_fields[];
extern const struct field completion_shown_fields[];
extern const struct field model_fields[], models_out_fields[];
