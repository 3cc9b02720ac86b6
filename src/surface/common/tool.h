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

struct tool {
    const char *name, *title, *help;
    const char *group; /* by which a client may ask for it; NULL: by its name alone */
    /* A failure becomes the result of the call, so that the model can try again. */
    enum status (*run)(struct tool_call *c);
    const struct field *takes;
    size_t takes_size;
    const struct field *gives;
    bool reads;    /* changes nothing */
    bool destroys; /* what it deletes cannot be restored */
    bool repeats;  /* idempotent */
};

/*
 * Three members by which a tool's caller may name a space, all by the rule of reach in auth.h: a
 * name, for which pool is then that space of the caller's user; a name or nothing, for what is
 * found by id; and the id of a key (auth_key_pool).
 */
MUST_USE static inline enum status tool_space(struct tool_call *c, str space)
{
    assert(c->who && c->pool.user.n);
    return auth_pool(c->ctx, c->app, c->who, space, "space", &c->pool);
}

MUST_USE static inline enum status tool_caller(struct tool_call *c, str space, struct identity *who)
{
    *who = *c->who;
    return auth_name_space(c->ctx, c->app, who, space, "space");
}

MUST_USE static inline enum status tool_key(struct tool_call *c, str id)
{
    return auth_key_pool(c->ctx, c->app, c->who, id, &c->pool);
}
