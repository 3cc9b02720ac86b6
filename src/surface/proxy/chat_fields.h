/* chat_fields.h - a chat completion and the lists of models as /openapi.json describes them. */
#pragma once

#include "base/fields.h"
#include "surface/common/auth.h"
#include "surface/common/switches.h"

/* Members of a model's API: a text, or anything. */
#define TEXT(NAME, HELP)                                                                           \
    {                                                                                              \
        .name = NAME, .type = FIELD_STR, .help = HELP                                              \
    }
#define ANY(NAME, HELP)                                                                            \
    {                                                                                              \
        .name = NAME, .type = FIELD_JSON, .help = HELP                                             \
    }
/* What every chat's body begins and ends with, and the headers of every chat. */
#define MODEL_ROW(HELP)                                                                            \
    {                                                                                              \
        .name = "model", .type = FIELD_STR, .required = true, .help = HELP                         \
    }
#define OPENAI_PERSON_ROWS                                                                         \
    TEXT("user", "the person who speaks, who has a memory of their own"),                          \
        TEXT("safety_identifier", "the same; user wins"),                                          \
        ANY("metadata", "user_id names the person in the same way")
#define SPACE_ROW TEXT(SPACE_MEMBER, "the space to use, as in X-Memory-Space; it is not forwarded")
#define CHAT_HEADER_ROWS                                                                           \
    SWITCH_ROWS,                                                                                   \
        {.name = "X-Memory-Scope",                                                                 \
         .type = FIELD_STR,                                                                        \
         .one_of = chat_scopes,                                                                    \
         .help = "what is recalled: the space, or only this conversation"},                        \
        TEXT("X-Session-Id", "the conversation"),                                                  \
        TEXT(AGENT_HEADER, "an agent, whose space is used")
extern const char *const chat_scopes[];

/* The body belongs to OpenAI's API and is passed on: only described, never checked here. */
extern const struct field completion_in_fields[], completion_out_fields[];
/* Headers that the proxy reads, and those that it adds to an answer. */
extern const struct field completion_header_fields[], completion_shown_fields[];
extern const struct field model_fields[], models_out_fields[];
