/* tool_calls.h - the tool calls in a model's answer: which are of search_memory, what is left. */
#pragma once

#include "base/json.h"

struct model_call {
    str id;
    int64_t index; /* as the stream numbers them */
    bool is_ours;
    struct buf arguments;
    str extra; /* members of this model server alone, as JSON after a comma; or "" */
};

/* The calls of one answer, collected whole or delta by delta. */
struct tool_calls {
    struct arena *arena;
    struct model_call *v;
    size_t n, cap, ours;
    struct buf text, thought; /* content and reasoning_content of the answer */
    str message;              /* the whole message as it came; "" of a stream */
};

struct tool_calls tool_calls_none(struct arena *a);

/* The delta of a chunk. */
void tool_calls_add_delta(struct tool_calls *c, const struct json *delta);
/* The message of a whole answer, which must live as long as the calls. */
void tool_calls_set_message(struct tool_calls *c, const struct json *message);

/* There are calls, and none of them is the client's. */
bool tool_calls_are_ours(const struct tool_calls *c);

/* The list of a delta or message without our calls, the others renumbered from 0. */
str tool_calls_of_client(struct arena *a, const struct tool_calls *c, const struct json *list);

/* The assistant's message, for the conversation that is sent back. */
void tool_calls_write_message(const struct tool_calls *c, struct json_out *w);
