/* tool.c - which space a tool works in. */
#include "surface/common/tool.h"

#include <assert.h>

enum status tool_space(struct tool_call *c, str space)
{
    assert(c->who && c->pool.user.n);
    if (!space.n)
        return OK;
    TRY(auth_space(c->ctx, c->app, c->who, space, "space"));
    c->pool.space = space;
    return OK;
}

enum status tool_key(struct tool_call *c, str id)
{
    return auth_key_space(c->ctx, c->app, c->who, id, &c->pool.space);
}
