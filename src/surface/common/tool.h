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
    struct pool_ref pool;         /* the caller's own; auth_pool and auth_key_pool pick another */
    /* out */
    void *out;       /* the struct of tool.gives, all zero at first */
    str text;        /* what a model reads; "" for out as JSON */
    bool is_refused; /* the text says why nothing was done */
};

struct tool {
    const char *name, *title, *help;
    const char *group; /* by which a client may ask for it; NULL: by its name alone */
    /* A failure becomes the result of the call, so that the model can try again. */
    enum status (*run)(struct tool_call *c);
    const struct field *takes;
    size_t takes_size;
    const struct field *gives;
    size_t gives_size;
    bool reads;    /* changes nothing */
    bool destroys; /* what it deletes cannot be restored */
    bool repeats;  /* idempotent; one that reads is anyway */
};

/* What a tool gives, by its table's name without _fields. */
#define RESULT(T) .gives = T##_fields, .gives_size = sizeof(struct T)
