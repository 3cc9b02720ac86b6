/* entities.c - mem0's users, agents, apps and runs: listed, and erased with all they hold. */
#include "ext/dialects/mem0/read.h"

#include <math.h>

#include "surface/common/list_page.h"

/*
 * There is no table of entities: a user is a person, an agent and an app are parts of a space's
 * name, a run is a session. One that holds nothing is not listed. Erasing one erases the memories
 * and conversations, for everyone whom the credential may speak for.
 */

SHAPE(entity, (STR, id, .help = "the name"), (STR, name),
      (ENUM_OF, type, enum mem0_entity, .one_of = mem0_entities),
      (TIME, created_at, .required = true), (TIME, updated_at, .required = true),
      (NUM, total_memories, .empty = EMPTY_NULL, .help = "null: those of a run are not counted"));

struct entity_page {
    struct mem0_page page;
    int64_t totals[ENTITY_COUNT];
};
const struct field mem0_entity_page_fields[] = {
    FIELD_ROWS(mem0_page, MEM0_PAGE(entity_fields))
        FIELD_ROWS(entity_page, (AS_INT, totals[ENTITY_USER], "total_users"),
                   (AS_INT, totals[ENTITY_AGENT], "total_agents"),
                   (AS_INT, totals[ENTITY_APP], "total_apps"),
                   (AS_INT, totals[ENTITY_RUN], "total_runs")){0}};

struct entities {
    struct ctx *ctx;
    struct app *app;
    struct entity *v;
    size_t n, cap;
    struct entity_page shown;
};

static void add_entity(struct entities *e, enum mem0_entity type, str name, struct entity one)
{
    if (!name.n)
        return;
    one.id = one.name = name;
    one.type = type;
    ARENA_ADD(&e->ctx->arena, e->v, e->n, e->cap) = one;
}

/* --- what there is --- */

static enum status add_spaces(struct entities *e, const struct mem0_who *who, struct pools reached)
{
    struct pool_info *v;
    struct entity user = {0};
    size_t n;
    TRY(engine_spaces(e->ctx, e->app->engine, who->id.pool.user, &v, &n));
    for (size_t i = 0; i < n; i++) {
        bool is_reached = SOME(k, reached.n, str_eq(reached.v[k].space, v[i].pool.space));
        if (!is_reached || !(v[i].memories || v[i].sessions))
            continue;
        struct mem0_ids ids = mem0_ids_of(e->ctx, who, v[i].pool.space, S(""));
        const struct entity one = {.created_at = v[i].created,
                                   .updated_at = v[i].created,
                                   .total_memories = (double)v[i].memories};
        add_entity(e, ENTITY_AGENT, ids.agent_id, one);
        add_entity(e, ENTITY_APP, ids.app_id, one);
        user.total_memories += (double)v[i].memories;
        user.created_at =
            user.created_at && user.created_at < v[i].created ? user.created_at : v[i].created;
    }
    user.updated_at = user.created_at;
    if (user.created_at)
        add_entity(e, ENTITY_USER, who->user_id, user);
    return OK;
}

static enum status add_runs(struct entities *e, struct pools reached)
{
    enum { MOST = 100000 };
    const struct session_filter all = {.limit = MOST};
    struct sessions_out found;
    TRY(engine_sessions_page(e->ctx, e->app->engine, reached, &all, &found));
    for (size_t i = 0; i < found.n; i++)
        add_entity(e, ENTITY_RUN, found.v[i].id,
                   (struct entity){.created_at = found.v[i].created,
                                   .updated_at = found.v[i].updated,
                                   .total_memories = NAN});
    return OK;
}

ORDER(by_name, struct entity, UP(type) ?: BY_TEXT(name));

/* An agent of several users, and a run in several spaces, is one entity. */
static void join_same(struct entities *e)
{
    size_t kept = 0;
    SORT(e->v, e->n, by_name);
    for (size_t i = 0; i < e->n; i++) {
        struct entity *last = kept ? &e->v[kept - 1] : NULL, *one = &e->v[i];
        if (!last || by_name(last, one)) {
            e->v[kept++] = *one;
            e->shown.totals[one->type]++;
            continue;
        }
        last->total_memories += one->total_memories;
        last->created_at = last->created_at < one->created_at ? last->created_at : one->created_at;
        last->updated_at = last->updated_at > one->updated_at ? last->updated_at : one->updated_at;
    }
    e->n = kept;
}

static enum status gather_entities(struct entities *e, const struct request *in)
{
    struct mem0_who *all;
    size_t n;
    TRY(mem0_everyone(e->ctx, e->app, in, S(""), &all, &n));
    for (size_t i = 0; i < n; i++) {
        struct pools reached;
        TRY(mem0_pools(e->ctx, e->app, &all[i], &(struct mem0_ids){0}, &reached));
        TRY(add_spaces(e, &all[i], reached));
        TRY(add_runs(e, reached));
    }
    join_same(e);
    return OK;
}

/* --- listing --- */

HANDLER(mem0_entity_list)
{
    struct entities e = {.ctx = ctx, .app = app};
    struct mem0_page_in page = *(const struct mem0_page_in *)in->in;
    TRY(gather_entities(&e, in));
    size_t from = (size_t)((page.page ? page.page - 1 : 0) * page.page_size);
    from = from < e.n ? from : e.n;
    size_t n = e.n - from < (size_t)page.page_size ? e.n - from : (size_t)page.page_size;
    struct mem0_page *shape = &e.shown.page;
    shape->count = (int64_t)e.n;
    mem0_page_links(ctx, in, &page, shape);
    return list_reply(ctx, mem0_entity_page_fields, &e.shown, e.v + from, n, sizeof *e.v, out);
}

/* --- erasing --- */

/* The memories and conversations of these ids: a run alone, or whole spaces. */
static enum status erase_ids(struct ctx *ctx, struct app *app, const struct mem0_who *who,
                             const struct mem0_ids *ids)
{
    struct pools pools;
    TRY(mem0_pools(ctx, app, who, ids, &pools));
    for (size_t i = 0; i < pools.n; i++) {
        const struct forget what = {.pool = pools.v[i],
                                    .session = ids->run_id,
                                    .everything = !ids->run_id.n};
        TRY(soft_or(ctx, engine_forget(ctx, app->engine, &what, NULL), NOT_FOUND));
    }
    return OK;
}

HANDLER(mem0_erase_all)
{
    const struct mem0_ids *ids = in->in;
    struct mem0_who who;
    TRY(mem0_needs_ids(ctx, ids));
    TRY(mem0_who(ctx, in, ids->user_id, &who));
    TRY(erase_ids(ctx, app, &who, ids));
    return mem0_say(out, S("All relevant memories deleted"));
}

/* The same answer where there was none: mem0's client lists entities and erases one after the
 * other, of which each may hold what others hold. */
HANDLER(mem0_erase_entity)
{
    int type = name_index(mem0_entities, in->params[0], -1);
    struct mem0_ids ids = {0};
    struct mem0_who *all = NEW(&ctx->arena, struct mem0_who);
    size_t n = 1;
    if (type < 0)
        return fail_field(ctx, "type", "must be one of: user, agent, app, run");
    ids.of[type] = in->params[1];
    bool is_one =
        type == ENTITY_USER && !str_is(ids.user_id, "*"); /* listed, but not to be named */
    TRY(is_one ? mem0_who(ctx, in, ids.user_id, all)
               : mem0_everyone(ctx, app, in, S(""), &all, &n));
    for (size_t i = 0; i < n; i++)
        if (is_one || type != ENTITY_USER || str_eq(all[i].user_id, ids.user_id))
            TRY(erase_ids(ctx, app, &all[i], &ids));
    return mem0_say(out, S("Entity deleted successfully!"));
}
