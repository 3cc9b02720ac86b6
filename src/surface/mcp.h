/* mcp.h - what the parts of the MCP surface know of each other: a tool and a call of it. */
#pragma once

#include "surface/dialect.h"

/* One call of a tool. */
struct tool_call {
    struct ctx *ctx;
    struct app *app;
    const struct identity *who;
    const struct json *arguments; /* an object */
    const void *in;               /* the struct of tool.takes, read and checked */
    struct pool_ref pool;         /* the caller's own; tool_space and tool_key pick another */
    /* out */
    const void *out; /* a struct of tool.gives */
    str text;        /* what a model reads; "" for out as JSON */
};

/* A failure is told to the model as the call's result, so that it can do better. */
typedef enum status tool_run(struct tool_call *c);

struct tool {
    const char *name, *title, *help;
    tool_run *run;
    const struct field *takes;
    size_t takes_size;
    const struct field *gives;
    bool reads;    /* changes nothing */
    bool destroys; /* what it changes is gone */
    bool repeats;  /* twice is as once */
};

/* Both end with an all-zero row. */
extern const struct tool memory_tools[], omniroute_tools[];

/* The space that an argument names, of the caller's user. A token's own space is open to that token
 * and to admins. */
MUST_USE enum status tool_space(struct tool_call *c, str space);
/* The space of the key that an argument names, as space_of_key has it. */
MUST_USE enum status tool_key(struct tool_call *c, str id);
