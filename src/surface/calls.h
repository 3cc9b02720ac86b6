/* calls.h - the tool calls in a model's answer: which are of search_memory, and what is left. */
#pragma once

#include "base/json.h"

struct tool_wish {
    str id;
    int64_t index; /* as the stream numbers them */
    bool is_ours;
    struct buf arguments;
    str extra; /* members that only this model server knows, as JSON behind a comma; or "" */
};

/* Of one answer, gathered whole or piece by piece. */
struct calls {
    struct arena *arena;
    struct tool_wish *v;
    size_t n, cap, ours;
    struct buf text, thought; /* said beside them: content and reasoning_content */
    str message;              /* the whole message as it came; "" of a stream */
};

struct calls calls_none(struct arena *a);
/* The choices[0] of an answer or chunk, or NULL. */
const struct json *first_choice(const struct json *answer);

/* The delta of a chunk. */
void calls_hear(struct calls *c, const struct json *delta);
/* The message of a whole answer, which must live as long. */
void calls_take(struct calls *c, const struct json *message);

/* There are some, and none is the client's. */
bool calls_are_ours(const struct calls *c);

/* A list of calls that were heard, without ours and with the others counted from 0. */
str calls_of_client(struct arena *a, const struct calls *c, const struct json *list);

/* The assistant's message, for the conversation that is sent back. */
void calls_write_message(const struct calls *c, struct json_out *w);
