/* response_fields.c - a response and its answer as /openapi.json describes them. */
#include "surface/responses/response_fields.h"

#include "engine/chat.h"
#include "surface/proxy/chat_fields.h"

/*
 * The members that clients use; a model's server may know more, and all of them are passed on.
 * rememberd itself reads model, input, instructions, tools, stream, store, what the response goes
 * on from, and what names a person, a space or a conversation.
 */

const struct field response_in_fields[] = {
    MODEL_ROW("a model of the default upstream, or UPSTREAM/MODEL"),
    {.name = "input",
     .type = FIELD_JSON,
     .required = true,
     .help = "what the user says, or a list of items: messages, calls and their results"},
    TEXT("instructions", "for this response alone"),
    {.name = "stream", .type = FIELD_BOOL, .help = "answer with events"},
    {.name = "store", .type = FIELD_BOOL, .help = "false: the model's server keeps nothing"},
    TEXT("previous_response_id", "the response that this one follows"),
    ANY("conversation", "the conversation that the model's server keeps: its id"),
    {.name = "max_output_tokens", .type = FIELD_INT},
    {.name = "temperature", .type = FIELD_NUM},
    {.name = "top_p", .type = FIELD_NUM},
    ANY("tools", "functions that the model may call"),
    ANY("tool_choice", "which"),
    ANY("text", "the format: text, or a JSON Schema"),
    ANY("reasoning", "how long a model thinks"),
    ANY("include", "what the answer has besides"),
    TEXT("prompt_cache_key", "names the conversation when it is a UUID"),
    OPENAI_PERSON_ROWS,
    SPACE_ROW,
    {0},
};

static const struct field output_item_fields[] = {
    TEXT("type", "message, reasoning, function_call and others"),
    {.name = "id", .type = FIELD_STR, .empty = EMPTY_OUT},
    {.name = "role", .type = FIELD_STR, .empty = EMPTY_OUT, .help = "of a message: assistant"},
    {.name = "status", .type = FIELD_STR, .empty = EMPTY_OUT},
    {.name = "content", .type = FIELD_JSON, .empty = EMPTY_OUT, .help = "of a message: its parts"},
    {0},
};
static const struct field response_usage_fields[] = {
    {.name = "input_tokens", .type = FIELD_INT},
    {.name = "output_tokens", .type = FIELD_INT},
    {.name = "total_tokens", .type = FIELD_INT},
    {0},
};
const struct field response_out_fields[] = {
    TEXT("id", "of the response"),
    TEXT("object", "response"),
    {.name = "created_at", .type = FIELD_INT, .help = "seconds since 1970"},
    TEXT("status", "completed, incomplete, failed, in_progress, queued or cancelled"),
    TEXT("model", "the model that answered"),
    {.name = "output", .type = FIELD_JSON, .inside = output_item_fields},
    {.name = "previous_response_id", .type = FIELD_STR, .empty = EMPTY_NULL},
    {.name = "usage", .type = FIELD_OBJECT, .inside = response_usage_fields, .empty = EMPTY_OUT},
    {0},
};

const struct field response_header_fields[] = {
    CHAT_HEADER_ROWS,
    {0},
};
