/* tool.h - a tool that a model may call, and a call of it. */
#pragma once

#include "surface/common/auth.h"

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
    bool is_refused; /* the text says why nothing was done */
};

/* A failure becomes the result of the call, so that the model can try again. */
typedef enum status tool_run(struct tool_call *c);

struct tool {
    const char *name, *title, *help;
    const char *group; /* by which a client may ask for it; NULL: by its name alone */
    tool_run *run;
    const struct field *takes;
    size_t takes_size;
    const struct field *gives;
    bool reads;    /* changes nothing */
    bool destroys; /* what it deletes cannot be restored */
    bool repeats;  /* idempotent */
};

/* The space that an argument names, of the caller's user. A token's own space is open to that token
 * and to admins. */
MUST_USE enum status tool_space(struct tool_call *c, str space);
/* The caller as one who names that space, or none, for finding by id. */
MUST_USE enum status tool_caller(struct tool_call *c, str space, struct identity *who);
/* The space of the key that an argument names, by the rules of auth_key_pool. */
MUST_USE enum status tool_key(struct tool_call *c, str id);
