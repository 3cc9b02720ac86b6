/* scope.c - from mem0's user, agent, app and run to a person, a space and a session, and back. */
#include "ext/dialects/mem0/mem0.h"
#include "http/http.h"
#include "surface/common/person.h"

/*
 * user_id is a person behind the credential, as in X-Memory-User. agent_id and app_id name a space,
 * run_id a session (docs/decisions/024). mem0's clients name a memory by its id alone, so
 * an id is looked for in everyone whom the credential may speak for.
 */

const char *const mem0_entities[] = {"user", "agent", "app", "run", NULL};

FIELDS(mem0_ids, MEM0_IDS);

enum status mem0_needs_ids(struct ctx *ctx, const struct mem0_ids *ids)
{
    if (SOME(i, ENTITY_COUNT, ids->of[i].n > 0))
        return OK;
    return fail(ctx, BAD_INPUT, "name at least one of user_id, agent_id, app_id and run_id");
}

/* --- who --- */

/* A copy of the headers with one value changed: the rules are those of every door. */
static void put_bearer(struct ctx *ctx, struct request *in)
{
    struct header *v = NEW_N(&ctx->arena, struct header, in->n_headers + 1);
    for (size_t i = 0; i < in->n_headers; i++) {
        str value = str_trim(in->headers[i].value), scheme = str_cut(&value, ' ');
        v[i] = in->headers[i];
        if (str_eq_nocase(v[i].name, S("Authorization")) && str_eq_nocase(scheme, S("Token")))
            v[i].value = str_printf(&ctx->arena, "Bearer " S_FMT, S_ARG(str_trim(value)));
    }
    in->headers = v;
}

enum status mem0_admit(struct ctx *ctx, struct app *app, enum route_access needs,
                       struct request *in)
{
    put_bearer(ctx, in);
    TRY(auth_request(ctx, app, needs, in));
    in->who.credential = S(""); /* it is mem0's key, which no model server knows */
    return OK;
}

/* The name by which a credential for one person or user alone may name itself. */
static str own_name(struct ctx *ctx, const struct identity *who)
{
    str user = who->own.user;
    if (who->acts_for.n)
        return S("");
    size_t behind = str_behind_last(user, '/');
    str name = behind ? person_name(&ctx->arena, str_sub(user, 0, behind - 1), user) : S("");
    return name.n ? name : user;
}

enum status mem0_who(struct ctx *ctx, const struct request *in, str user_id, struct mem0_who *out)
{
    const struct identity *who = &in->who;
    *out = (struct mem0_who){*who, own_name(ctx, who)};
    if (!str_eq(who->pool.user, who->own.user)) {
        /* The person that a header names, or the user that an owner looks at. */
        str name = person_name(&ctx->arena, who->own.user, who->pool.user);
        out->user_id = name.n ? name : who->pool.user;
    }
    if (!user_id.n)
        return OK;
    if (str_is(user_id, "*"))
        return fail_field(ctx, "user_id", "must name the user: * stands for none");
    TRY(person_named(ctx, S("user_id"), user_id, &out->id));
    out->user_id = user_id;
    return OK;
}

static enum status people_of(struct ctx *ctx, struct app *app, const struct identity *who,
                             str memory, struct strs *out)
{
    str list = who->acts_for;
    *out = (struct strs){0};
    if (!str_eq(who->pool.user, who->own.user))
        return OK;
    if (str_is(list, ACTS_FOR_ANY))
        return engine_people(ctx, app->engine, who->own.user, memory, out);
    out->v = NEW_N(&ctx->arena, str, list.n + 1);
    while (list.n)
        out->v[out->n++] = str_trim(str_cut(&list, ','));
    return OK;
}

enum status mem0_everyone(struct ctx *ctx, struct app *app, const struct request *in, str memory,
                          struct mem0_who **out, size_t *n)
{
    struct strs people;
    TRY(people_of(ctx, app, &in->who, memory, &people));
    struct mem0_who *v = NEW_N(&ctx->arena, struct mem0_who, people.n + 1);
    TRY(mem0_who(ctx, in, S(""), &v[0]));
    for (size_t i = 0; i < people.n; i++) { /* a chat may name "*", which a request here may not */
        v[i + 1] = (struct mem0_who){in->who, people.v[i]};
        v[i + 1].id.pool.user = person_user(&ctx->arena, in->who.own.user, people.v[i]);
        v[i + 1].id.is_person = true;
    }
    *out = v;
    *n = people.n + 1;
    return OK;
}

/* --- where --- */

/* One part of a space's name. Escaped is what parts it from the other, and white space at its ends,
 * which names of spaces do not have. */
static void add_part(struct buf *b, str part)
{
    for (size_t i = 0; i < part.n; i++) {
        bool is_blank = (i == 0 || i + 1 == part.n) && (unsigned char)part.p[i] <= ' ';
        if (is_blank || part.p[i] == '/' || part.p[i] == '%')
            buf_printf(b, "%%%02X", (unsigned char)part.p[i]);
        else
            buf_byte(b, part.p[i]);
    }
}

/*
 * AGENT, AGENT/APP or /APP; without both the request's own space. An agent that is called like that
 * one has its first byte escaped, so that it is never the space without an agent.
 */
static str space_of(struct arena *a, str own, str agent, str app)
{
    if (!agent.n && !app.n)
        return own;
    struct buf b = buf_make(a, 3 * (agent.n + app.n) + 4);
    add_part(&b, agent);
    if (app.n)
        buf_byte(&b, '/');
    add_part(&b, app);
    str name = buf_str(&b);
    return str_eq(name, own) ? str_printf(a, "%%%02X" S_FMT, (unsigned char)name.p[0],
                                          S_ARG(str_sub(name, 1, name.n)))
                             : name;
}

static str part_of(struct arena *a, str raw)
{
    str part;
    return percent_decode(a, raw, false, &part) ? part : raw;
}

struct mem0_ids mem0_ids_of(struct ctx *ctx, const struct mem0_who *who, str space, str session)
{
    struct mem0_ids ids = {.user_id = who->user_id, .run_id = session};
    if (str_eq(space, who->id.pool.space))
        return ids;
    ids.agent_id = part_of(&ctx->arena, str_cut(&space, '/'));
    ids.app_id = part_of(&ctx->arena, space);
    return ids;
}

enum status mem0_pool(struct ctx *ctx, struct app *app, const struct mem0_who *who,
                      const struct mem0_ids *ids, struct pool_ref *out)
{
    str own = who->id.pool.space;
    str space = space_of(&ctx->arena, own, ids->agent_id, ids->app_id);
    if (str_eq(space, own)) {
        *out = who->id.pool;
        return OK;
    }
    return auth_pool(ctx, app, &who->id, space, ids->agent_id.n ? "agent_id" : "app_id", out);
}

enum status mem0_pools(struct ctx *ctx, struct app *app, const struct mem0_who *who,
                       const struct mem0_ids *ids, struct pools *out)
{
    struct pools all;
    TRY(auth_pools(ctx, app, &who->id, &all));
    struct pool_ref *v = NEW_N(&ctx->arena, struct pool_ref, all.n);
    *out = (struct pools){v, 0};
    for (size_t i = 0; i < all.n; i++) {
        struct mem0_ids of = mem0_ids_of(ctx, who, all.v[i].space, S(""));
        bool fits = (!ids->agent_id.n || str_eq(ids->agent_id, of.agent_id)) &&
                    (!ids->app_id.n || str_eq(ids->app_id, of.app_id));
        if (fits)
            v[out->n++] = all.v[i];
    }
    return OK;
}

/* --- by id --- */

/* Whether it is anywhere is one look-up; whether the caller reaches the space takes more. */
enum status mem0_find(struct ctx *ctx, struct app *app, const struct request *in, str id,
                      struct mem0_found *out)
{
    struct mem0_who *all;
    size_t n;
    enum status s = NOT_FOUND;
    TRY(mem0_everyone(ctx, app, in, id, &all, &n));
    for (size_t i = 0; auth_tries_next(ctx, s, i, n); i++) {
        const struct pool_ref anywhere = {all[i].id.pool.user, S("")};
        out->who = all[i];
        s = engine_get(ctx, app->engine, anywhere, id, &out->memory);
        if (s == OK)
            s = auth_find_memory(ctx, app, &all[i].id, id, &out->memory);
    }
    TRY(s);
    out->pool = (struct pool_ref){out->who.id.pool.user, out->memory.space};
    assert(out->pool.space.n);
    return OK;
}
