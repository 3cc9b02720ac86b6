/* chat_fields.c - a chat completion and the lists of models as /openapi.json describes them. */
#include "surface/proxy/chat_fields.h"

/*
 * The members are those of OpenAI's API that its clients use; a model's server may know more, and
 * all of them are passed on. rememberd itself reads model, messages, stream, tools and what names
 * a person or a space.
 */

static const struct field chat_message_fields[] = {
    NEEDED("role", "system, developer, user, assistant or tool"),
    ANY("content", "a text, or a list of parts"),
    TEXT("name", "who speaks"),
    ANY("tool_calls", "of an assistant"),
    TEXT("tool_call_id", "of a tool's result"),
    {0},
};

const struct field completion_in_fields[] = {
    NEEDED("model", "a model of the default upstream, or UPSTREAM/MODEL"),
    {.name = "messages", .type = FIELD_JSON, .required = true, .inside = chat_message_fields},
    {.name = "stream", .type = FIELD_BOOL, .help = "answer with events"},
    ANY("stream_options", "include_usage"),
    {.name = "temperature", .type = FIELD_NUM},
    {.name = "top_p", .type = FIELD_NUM},
    {.name = "n", .type = FIELD_INT},
    {.name = "max_tokens", .type = FIELD_INT},
    {.name = "max_completion_tokens", .type = FIELD_INT},
    ANY("stop", "a text, or up to four"),
    {.name = "seed", .type = FIELD_INT},
    ANY("tools", "functions that the model may call"),
    ANY("tool_choice", "which"),
    ANY("response_format", "text, JSON, or a JSON Schema"),
    TEXT("reasoning_effort", "how long a model thinks"),
    OPENAI_PERSON_ROWS,
    SPACE_ROW,
    {0},
};

static const struct field said_fields[] = {
    TEXT("role", "assistant"),
    ANY("content", "a text, or null beside tool_calls"),
    {.name = "tool_calls", .type = FIELD_JSON, .empty = EMPTY_OUT},
    {0},
};
static const struct field choice_fields[] = {
    {.name = "index", .type = FIELD_INT},
    {.name = "message", .type = FIELD_OBJECT, .inside = said_fields},
    {.name = "finish_reason", .type = FIELD_STR, .empty = EMPTY_NULL},
    {0},
};
static const struct field usage_fields[] = {
    {.name = "prompt_tokens", .type = FIELD_INT},
    {.name = "completion_tokens", .type = FIELD_INT},
    {.name = "total_tokens", .type = FIELD_INT},
    {0},
};
const struct field completion_out_fields[] = {
    TEXT("id", "of the answer"),
    TEXT("object", "chat.completion"),
    {.name = "created", .type = FIELD_INT, .help = "seconds since 1970"},
    TEXT("model", "the model that answered"),
    {.name = "choices", .type = FIELD_JSON, .inside = choice_fields},
    {.name = "usage", .type = FIELD_OBJECT, .inside = usage_fields, .empty = EMPTY_OUT},
    {0},
};

static const char *const chat_scopes[] = {"space", "session", NULL};
#define CHAT_HEADER_ROWS                                                                           \
    SWITCH_ROWS,                                                                                   \
        {.name = "X-Memory-Scope",                                                                 \
         .type = FIELD_STR,                                                                        \
         .one_of = chat_scopes,                                                                    \
         .help = "what is recalled: the space, or only this conversation"},                        \
        TEXT("X-Session-Id", "the conversation"),                                                  \
        TEXT(AGENT_HEADER, "an agent, whose space is used")
const struct field chat_header_fields[] = {CHAT_HEADER_ROWS, {0}};
const struct field completion_header_fields[] = {
    CHAT_HEADER_ROWS,
    {.name = "X-Memory-Tools",
     .type = FIELD_SWITCH,
     .one_of = on_off_names,
     .help = "let the model search the memory itself"},
    {.name = "X-Session-History",
     .type = FIELD_SWITCH,
     .one_of = on_off_names,
     .help = "the server keeps the conversation; the request has only new messages"},
    {0},
};
const struct field completion_shown_fields[] = {
    TEXT("X-Rememberd-Receipt", "id of the record of what was recalled: /v1/receipts/{id}"),
    TEXT("X-OmniRoute-Session-Id", "the conversation"),
    TEXT("X-Memory", "why there is no memory, or which background request of the client this is"),
    {0},
};

const struct field model_fields[] = {
    TEXT("id", "the model's name"),
    TEXT("object", "model"),
    {.name = "created", .type = FIELD_INT},
    TEXT("owned_by", "who offers it"),
    TEXT("type", "model: this member and the next ones are of Anthropic's API"),
    TEXT("display_name", "for people"),
    TEXT("created_at", "when it was made"),
    {0},
};
const struct field models_out_fields[] = {
    TEXT("object", "list"),
    {.name = "data", .type = FIELD_JSON, .inside = model_fields},
    {.name = "has_more", .type = FIELD_BOOL, .help = "of Anthropic's API"},
    TEXT("first_id", "of this list"),
    TEXT("last_id", "of this list"),
    {0},
};
