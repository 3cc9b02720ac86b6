/* look_as.c - an owner looks at another user's memory: a choice that is noted. */
#include "surface/common/look_as.h"

#include "base/audit.h"
#include "surface/common/auth.h"

/* Questions that are sent as a body. */
static bool only_reads(const struct request *in)
{
    static const char *const asking[] = {"/v1/preview", "/v1/memories/search", NULL};
    return str_is(in->method, "GET") || str_is(in->method, "HEAD") ||
           (str_is(in->method, "POST") && str_is_one_of(in->path, asking));
}

/* The name of a space that the looked-at user does not name: the usual one. */
enum status look_as(struct ctx *ctx, struct app *app, const struct request *in,
                    struct identity *who)
{
    struct account account;
    str user = str_trim(request_header(in, LOOK_AS_HEADER));
    if (!user.n || str_eq(user, who->pool.user))
        return OK;
    if (!auth_has(who, MANAGES_PEOPLE))
        return fail(ctx, FORBIDDEN, LOOK_AS_HEADER " needs an admin token of an owner");
    if (!only_reads(in))
        return fail(ctx, FORBIDDEN, "another user's memory can only be looked at");
    enum status s = engine_account(ctx, app->engine, user, &account);
    if (s != OK)
        return s == NOT_FOUND
                   ? fail(ctx, NOT_FOUND, "there is no user '%.100s'", str_c(&ctx->arena, user))
                   : s;
    log_event(LOG_INFO, "access.look_as",
              "id=%s operator=" S_FMT " token=" S_FMT " user=\"" S_FMT "\" path=" S_FMT, ctx->id,
              S_ARG(who->own.user), S_ARG(who->token), S_ARG(account.id), S_ARG(in->path));
    audit_note(ctx, "look_as", account.id, "operator=" S_FMT " token=" S_FMT " path=" S_FMT,
               S_ARG(who->own.user), S_ARG(who->token), S_ARG(in->path));
    who->pool = (struct pool_ref){account.id, S(DEFAULT_SPACE)};
    who->is_person = true;
    return OK;
}
