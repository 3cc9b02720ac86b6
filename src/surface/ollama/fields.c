/* fields.c - Ollama's chat as /openapi.json describes it. */
#include "surface/ollama/fields.h"

#include "engine/chat.h"
#include "surface/proxy/chat_fields.h"

/*
 * The members are those that clients use; Ollama may know more, and all of them are passed on.
 * rememberd itself reads model, messages, stream, tools, options.num_predict, and what names a
 * person, a space or a conversation.
 */

static const struct field said_fields[] = {
    {.name = "role",
     .type = FIELD_STR,
     .required = true,
     .help = "system, user, assistant or tool"},
    TEXT("content", "the text"),
    ANY("images", "in base64, forwarded untouched"),
    ANY("tool_calls", "of an assistant"),
    TEXT("tool_name", "of a tool's result"),
    {0},
};

const struct field ollama_chat_in_fields[] = {
    MODEL_ROW("a model of the upstream for this API, or UPSTREAM/MODEL"),
    {.name = "messages",
     .type = FIELD_JSON,
     .inside = said_fields,
     .help = "the whole conversation; without any, the model is loaded"},
    {.name = "stream", .type = FIELD_BOOL, .help = "false: one answer; else a line for each piece"},
    ANY("format", "json, or a JSON Schema"),
    ANY("options", "of the model, such as num_ctx and temperature"),
    ANY("keep_alive", "how long the model stays loaded"),
    ANY("tools", "functions that the model may call"),
    ANY("think", "whether and how long the model thinks"),
    SPACE_ROW,
    {0},
};

static const struct field answered_fields[] = {
    TEXT("role", "assistant"),
    TEXT("content", "the text, or a piece of it"),
    {.name = "thinking", .type = FIELD_STR, .empty = EMPTY_OUT},
    {.name = "tool_calls", .type = FIELD_JSON, .empty = EMPTY_OUT},
    {0},
};
const struct field ollama_chat_out_fields[] = {
    TEXT("model", "the model that answered"),
    TEXT("created_at", "when"),
    {.name = "message", .type = FIELD_OBJECT, .inside = answered_fields},
    {.name = "done", .type = FIELD_BOOL, .help = "of a stream: whether this is the last line"},
    {.name = "done_reason", .type = FIELD_STR, .empty = EMPTY_OUT},
    {.name = "total_duration", .type = FIELD_INT, .empty = EMPTY_OUT, .help = "ns"},
    {.name = "prompt_eval_count", .type = FIELD_INT, .empty = EMPTY_OUT, .help = "tokens"},
    {.name = "eval_count", .type = FIELD_INT, .empty = EMPTY_OUT, .help = "tokens"},
    {0},
};

const struct field ollama_header_fields[] = {
    CHAT_HEADER_ROWS,
    {0},
};
