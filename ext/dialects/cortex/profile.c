/* profile.c - Cortex's profiles: facts of a user, name by name. */
#include "ext/dialects/cortex/common.h"
#include "ext/profile/user_profile.h"

/*
 * A profile is a set of named facts about a user in one app. PATCH sets the facts that it names and
 * removes those that are null, all or nothing. POST …/extract reads facts out of text, data or a
 * form and merges them; X-Facts-By says who found them: the core model, or rules and why not the
 * model.
 */

/* --- shapes --- */

SHAPE(app_in, (STR, app_id, .help = "one of your apps; default: default"));

SHAPE(patch_in,
      (JSON, facts, .required = true,
       .help = "an object: each member sets a fact of that name, null removes it for good"),
      (STR, app_id, .help = "one of your apps, here or in the query"));

SHAPE(profile_out, (STR, user_id), (STR, app_id), (JSON, facts, .help = "facts by name"),
      (TIME, updated_at, .help = "when the newest fact was set; null: no facts"));

/* The three may come together; each is read in its own way. */
SHAPE(extract_in, (STR, text, .help = "text in the first person"),
      (JSON, data, .help = "an object; nested members are flattened"),
      (STR, raw, .help = "anything else: pairs, JSON as text, a form"));

/* Reads the query of a POST, because the route's table describes the body. */
SHAPE(extract_query, (STR, app_id, .help = "one of your apps; default: default"),
      (BOOL, store, .otherwise = true, .help = "whether the facts are merged into the profile"));

SHAPE(extract_out, (JSON, facts, .help = "by name, each a text"));

/* --- handlers --- */

/* Every change answers the whole profile, so that a client need not ask again. */
static enum status show_profile(struct ctx *ctx, struct pool_ref pool, const struct profile *p,
                                struct reply *out)
{
    struct json_out w = json_in(&ctx->arena, 64 << 20);
    struct json facts = {.type = JSON_OBJECT};
    json_open(&w, '{');
    for (size_t i = 0; i < p->n; i++)
        json_member_raw(&w, str_c(&ctx->arena, p->v[i].name), p->v[i].value->source);
    json_close(&w, '}');
    facts.source = buf_str(w.b);
    return reply_fields(out, profile_out_fields,
                        &(struct profile_out){pool.user, pool.space, &facts, p->updated});
}

static HANDLER(get_profile)
{
    const struct app_in *a = in->in;
    struct pool_ref pool;
    struct profile p;
    TRY(auth_pool(ctx, app, &in->who, a->app_id, "app_id", &pool));
    TRY(engine_profile(ctx, app->engine, pool, &p));
    return show_profile(ctx, pool, &p, out);
}

static HANDLER(patch_profile)
{
    const struct patch_in *change = in->in;
    struct pool_ref pool;
    struct profile p;
    TRY(cortex_pool(ctx, app, in, change->app_id, &pool));
    TRY(engine_change_profile(ctx, app->engine, pool, change->facts, &p));
    return show_profile(ctx, pool, &p, out);
}

static HANDLER(forget_fact)
{
    const struct app_in *a = in->in;
    struct pool_ref pool;
    TRY(auth_pool(ctx, app, &in->who, a->app_id, "app_id", &pool));
    TRY(engine_forget_profile(ctx, app->engine, pool));
    out->code = 204;
    return OK;
}

static bool is_given(const struct request *in, const char *name)
{
    const struct json *v = json_get(in->json, name);
    return v && v->type != JSON_NULL;
}

static HANDLER(extract_facts)
{
    const struct extract_in *from = in->in;
    struct extract_query query;
    struct pool_ref pool;
    struct json *facts;
    str by;
    TRY(request_query_read(ctx, in, extract_query_fields, &query));
    if (from->data && from->data->type != JSON_OBJECT)
        return fail_field(ctx, "data", "must be an object");
    if (!is_given(in, "text") && !is_given(in, "raw") && !from->data)
        return fail_field(ctx, "text", "or data or raw is required: what to read");
    TRY(auth_pool(ctx, app, &in->who, query.app_id, "app_id", &pool));
    struct profile_source source = {from->text, from->raw, from->data, query.store};
    TRY(engine_read_profile(ctx, app->engine, pool, &source, &facts, &by));
    reply_header(out, "X-Facts-By", by);
    return reply_fields(out, extract_out_fields, &(struct extract_out){facts});
}

#define PROFILE "/v1/users/me/profile"

static const struct route routes[] = {
    {ROUTE("GET", PROFILE, get_profile), READS(app_in), ANSWERS(profile_out),
     .help = "your profile in an app"},
    {ROUTE("PATCH", PROFILE, patch_profile), READS(patch_in), ASKS(app_in), ANSWERS(profile_out),
     .help = "set facts of your profile, or remove them with null; all or nothing"},
    {ROUTE("DELETE", PROFILE, forget_fact), .words.code = 204, READS(app_in),
     .help = "delete your profile in an app"},
    {ROUTE("POST", PROFILE "/extract", extract_facts), READS(extract_in), ASKS(extract_query),
     ANSWERS(extract_out),
     .help = "extract facts from text, data or raw input and merge them into your profile"},
    {0},
};

const struct surface surface_cortex_profile = CORTEX_SURFACE(routes);
