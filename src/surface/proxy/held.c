/* held.c - ids of what the model server keeps: a client goes on from its own only. */
#include "surface/proxy/held.h"

#include "base/utf8.h"
#include "surface/common/auth.h"

/*
 * With the server's key all users are one account of the model's server, where an id is enough to
 * have the model read out what it names. So a client without a key of its own may only name what it
 * has made itself, as the engine has noted it. Others' ids and unknown ones get the same answer.
 * The body is not changed, so a member that is there twice is refused, and one in another spelling:
 * the model's server might read the other one.
 */

bool held_must_read(const struct app *app, const struct request *in)
{
    return app->settings->n_upstreams > 0 && !auth_has_own_key(in);
}

bool held_is_quick(const struct app *app, const struct request *in)
{
    return !held_must_read(app, in) && model_is_quick(app, in);
}

/* With memory off nobody has asked yet who speaks, and a name that may not be used harms nobody. */
bool held_is_guarded(struct ctx *ctx, struct app *app, const struct request *in,
                     struct model_request *m)
{
    struct identity *who = &m->who;
    if (m->in.mode == MODE_OFF && !soft(ctx, auth_chat(ctx, app, in, m->root, who)))
        *who = in->who;
    m->in.pool = who->pool;
    m->in.notes_owner = m->to.up && !auth_has_own_key(in) && !auth_has(who, MANAGES_PEOPLE);
    return m->in.notes_owner;
}

/* For some servers "\u017F" is an s and the sign of the Kelvin a k. */
bool held_is_named(const struct json *m, const char *name)
{
    str is = json_name(m);
    size_t step;
    for (size_t i = 0; i < is.n; i += step, name++) {
        int32_t c = utf8_at(is, i, &step);
        c = c == 0x17F ? 's' : c == 0x212A ? 'k' : c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
        if (c != *name)
            return false;
    }
    return !*name;
}

enum status held_check_once(struct ctx *ctx, const struct json *object, const char *name)
{
    size_t n = 0;
    for (const struct json *m = object ? object->first : NULL; m; m = m->next)
        n += held_is_named(m, name) ? str_is(json_name(m), name) ? 1 : 2 : 0;
    return n < 2 ? OK : fail_field(ctx, name, "must be there once, and in this spelling");
}

/* null is the same as an absent member. */
enum status held_check(struct ctx *ctx, struct app *app, str user, enum held_kind kind,
                       const char *field, const char *what, const struct json *id)
{
    if (!id || id->type == JSON_NULL)
        return OK;
    if (id->type != JSON_STRING)
        return fail_field(ctx, field, "must be an id");
    enum status s = engine_may_follow(ctx, app->engine, user, kind, json_string(id));
    if (s != NOT_FOUND)
        return s;
    ctx_clear_failure(ctx);
    return fail_note(
        ctx, NOT_FOUND, 0, field,
        "%s '" S_FMT "' not found: with the server's key a request goes on from what its own user "
        "has made here. Send the whole conversation, or your key of the model server in "
        "X-Upstream-Authorization",
        what, S_ARG(json_string(id)));
}
