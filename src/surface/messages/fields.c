/* fields.c - Anthropic's Messages API as /openapi.json describes it. */
#include "surface/messages/fields.h"

#include "engine/chat.h"
#include "surface/proxy/chat_fields.h"

/*
 * The members are those that clients use; a model's server may know more, and all of them are
 * passed on. rememberd itself reads model, messages, system, stream, max_tokens, tools, and what
 * names a person or a space.
 */

static const struct field said_fields[] = {
    {.name = "role", .type = FIELD_STR, .required = true, .help = "user, assistant or system"},
    ANY("content", "a text, or a list of blocks"),
    {0},
};

/* What both bodies begin with. */
#define CONVERSATION                                                                               \
    MODEL_ROW("a model of the upstream for this API, or UPSTREAM/MODEL"),                          \
        {.name = "messages", .type = FIELD_JSON, .required = true, .inside = said_fields},         \
        ANY("system", "a text, or a list of text blocks"),                                         \
        ANY("tools", "that the model may call"), ANY("tool_choice", "which"),                      \
    {                                                                                              \
        .name = "thinking", .type = FIELD_JSON, .help = "whether and how long the model thinks"    \
    }

const struct field message_in_fields[] = {
    CONVERSATION,
    {.name = "max_tokens", .type = FIELD_INT, .help = "0 and 1 are for programs: without memory"},
    {.name = "stream", .type = FIELD_BOOL, .help = "answer with events"},
    ANY("stop_sequences", "texts at which the model stops"),
    ANY("output_config", "effort, and the form of the answer"),
    ANY("cache_control", "an automatic cache mark"),
    ANY("metadata", "user_id names the person"),
    SPACE_ROW,
    {0},
};

static const struct field block_fields[] = {
    TEXT("type", "text, thinking, tool_use and others"),
    {.name = "text", .type = FIELD_STR, .empty = EMPTY_OUT, .help = "of a text block"},
    {0},
};
static const struct field usage_fields[] = {
    {.name = "input_tokens", .type = FIELD_INT},
    {.name = "output_tokens", .type = FIELD_INT},
    {0},
};
const struct field message_out_fields[] = {
    TEXT("id", "of the answer"),
    TEXT("type", "message"),
    TEXT("role", "assistant"),
    TEXT("model", "the model that answered"),
    {.name = "content", .type = FIELD_JSON, .inside = block_fields},
    {.name = "stop_reason", .type = FIELD_STR, .empty = EMPTY_NULL},
    {.name = "stop_sequence", .type = FIELD_STR, .empty = EMPTY_NULL},
    {.name = "usage", .type = FIELD_OBJECT, .inside = usage_fields},
    {0},
};

const struct field counted_in_fields[] = {CONVERSATION, {0}};
const struct field counted_out_fields[] = {{.name = "input_tokens", .type = FIELD_INT}, {0}};

const struct field message_header_fields[] = {
    CHAT_HEADER_ROWS,
    {0},
};
