/* tool.c - the space that a tool works in. */
#include "surface/common/tool.h"

/*
 * Three members by which a tool's caller may name a space: a name (tool_space), a name or nothing
 * for what is found by id (tool_caller), and the id of a key (tool_key). All go through the rule of
 * reach in auth.c.
 */

enum status tool_space(struct tool_call *c, str space)
{
    assert(c->who && c->pool.user.n);
    return auth_pool(c->ctx, c->app, c->who, space, "space", &c->pool);
}

enum status tool_caller(struct tool_call *c, str space, struct identity *who)
{
    *who = *c->who;
    return auth_name_space(c->ctx, c->app, who, space, "space");
}

enum status tool_key(struct tool_call *c, str id)
{
    return auth_key_pool(c->ctx, c->app, c->who, id, &c->pool);
}
