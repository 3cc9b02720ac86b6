/* checks.c - inputs, looked at before anything is done with them. */
#include "store/sql/records/checks.h"

enum status pool_check(struct ctx *ctx, struct pool_ref pool)
{
    return pool.user.n && pool.space.n ? OK
                                       : fail(ctx, BAD_INPUT, "a pool needs a user and a space");
}

enum status pool_check_reach(struct ctx *ctx, struct pool_ref pool)
{
    return pool.user.n || !pool.space.n ? OK : fail(ctx, BAD_INPUT, "a space needs a user");
}

enum status type_check(struct ctx *ctx, str type)
{
    if (type.n && name_index(type_names, type, -1) < 0)
        return fail_field(ctx, "type", "must be factual, episodic, procedural or semantic");
    return OK;
}
