/* stores.c - memories of other memory servers: mem0, OpenMemory, the MCP reference server. */
#include "core/settings.h"
#include "ext/import/foreign.h"
#include "ext/import/importer.h"
#include "ext/import/items.h"

/* The source's metadata with these members of the record, by their first names. */
static str metadata_with(struct foreign *f, const struct json *record,
                         const char *const (*members)[2])
{
    const struct json *own = json_get(record, "metadata");
    struct json_out w = json_in(&f->ctx->arena, SIZE_MAX);
    json_open(&w, '{');
    for (const struct json *m = own && own->type == JSON_OBJECT ? own->first : NULL; m; m = m->next)
        json_member_raw(&w, str_c(&f->ctx->arena, json_name(m)), m->source);
    for (; (*members)[0]; members++) {
        const char *name = (*members)[0];
        const struct json *v = json_get(record, name) ?: json_get(record, (*members)[1]);
        if (v && v->type != JSON_NULL && !json_get(own, name))
            json_member_raw(&w, name, v->source);
    }
    json_close(&w, '}');
    return buf_str(w.b);
}

/* Names in an array of strings; others are passed over. */
static struct strs names_in(struct arena *a, const struct json *list)
{
    struct strs out = {NEW_N(a, str, (list ? list->n : 0) + 1), 0};
    for (const struct json *v = list && list->type == JSON_ARRAY ? list->first : NULL; v;
         v = v->next)
        if (json_string(v).n)
            out.v[out.n++] = json_string(v);
    return out;
}

/* --- mem0 --- */

/* Its client for JavaScript names members in its own way, so each has two names. */
struct mem0 {
    str id, memory;
    const struct json *categories, *created_at, *updated_at, *expiration_date;
};
static FIELDS_OF(mem0, mem0, (STR, id), (STR, memory, .required = true, .min = 1),
                 (JSON, categories), (JSON, created_at), (AS_JSON, created_at, "createdAt"),
                 (JSON, updated_at), (AS_JSON, updated_at, "updatedAt"), (JSON, expiration_date),
                 (AS_JSON, expiration_date, "expirationDate"));

enum status mem0_memory(struct foreign *f, const struct json *record)
{
    static const char *const members[][2] = {{"user_id", "userId"},
                                             {"agent_id", "agentId"},
                                             {"app_id", "appId"},
                                             {"run_id", "runId"},
                                             {NULL}};
    struct mem0 in;
    TRY(fields_read(f->ctx, mem0_fields, record, false, &in));
    struct memory m = {.id = in.id,
                       .content = in.memory,
                       .tags = names_in(&f->ctx->arena, in.categories),
                       .metadata = metadata_with(f, record, members)};
    TRY(foreign_time(f->ctx, in.created_at, "created_at", &m.created));
    TRY(foreign_time(f->ctx, in.updated_at, "updated_at", &m.updated));
    TRY(foreign_time(f->ctx, in.expiration_date, "expiration_date", &m.expires));
    return foreign_memory(f, &m);
}

/* --- OpenMemory --- */

static const char *const states[] = {"active", "archived", "paused", "deleted", NULL};
SHAPE(openmemory, (STR, id, .required = true, .min = 1), (STR, content, .required = true, .min = 1),
      (STR, state, .required = true, .one_of = states), (JSON, categories), (JSON, category_ids),
      (JSON, created_at), (JSON, updated_at), (JSON, archived_at));

/* The file has the categories once, and each memory their ids. They may stand behind all memories,
 * so they are looked for once. */
static enum status category_names(struct foreign *f, const struct json *ids, struct strs *out)
{
    *out = (struct strs){NULL, 0};
    if (!ids || ids->type != JSON_ARRAY || !ids->n)
        return OK;
    if (!f->state.categories) {
        struct ctx *run = f->run->ctx;
        struct json *all;
        str list = items_member(f->text, S("categories"));
        if (!soft(run, json_parse(run, list.n ? list : S("[]"), &all)))
            all = NEW(&run->arena, struct json); /* without a source: broken */
        f->state.categories = all;
    }
    if (!f->state.categories->source.n)
        return fail_field(f->ctx, "categories", "of the file are not valid JSON");
    out->v = NEW_N(&f->ctx->arena, str, ids->n);
    for (const struct json *id = ids->first; id; id = id->next)
        for (const struct json *c = f->state.categories->first; c && out->n < ids->n; c = c->next)
            if (json_string(id).n && str_eq(text_in(c, "id"), json_string(id)))
                out->v[out->n++] = text_in(c, "name");
    return OK;
}

/* What was archived stays so: closed. Paused and deleted memories are left out. */
enum status openmemory_memory(struct foreign *f, const struct json *record)
{
    static const char *const members[][2] = {{"app", "app"}, {"app_id", "app_id"}, {NULL}};
    struct openmemory in;
    int64_t archived;
    TRY(fields_read(f->ctx, openmemory_fields, record, false, &in));
    struct memory m = {.id = in.id,
                       .content = in.content,
                       .tags = names_in(&f->ctx->arena, in.categories),
                       .metadata = metadata_with(f, record, members)};
    TRY(foreign_time(f->ctx, in.created_at, "created_at", &m.created));
    TRY(foreign_time(f->ctx, in.updated_at, "updated_at", &m.updated));
    TRY(foreign_time(f->ctx, in.archived_at, "archived_at", &archived));
    if (!m.tags.n)
        TRY(category_names(f, in.category_ids, &m.tags));
    if (str_is(in.state, "archived"))
        m.valid_to = archived ? archived : m.updated ? m.updated : m.created ? m.created : 1;
    bool is_kept = str_is(in.state, "active") || str_is(in.state, "archived");
    return is_kept ? foreign_memory(f, &m) : foreign_skip(f);
}

/* --- the MCP reference server: a graph of entities and relations --- */

SHAPE(entity, (STR, name, .required = true, .min = 1), (STR, entityType), (STRS, observations));
SHAPE(relation, (STR, from, .required = true, .min = 1), (STR, to, .required = true, .min = 1),
      (STR, relationType, .required = true, .min = 1));

/* Each observation is a memory that says of whom it is. */
static enum status give_entity(struct foreign *f, const struct json *record)
{
    struct entity e;
    TRY(fields_read(f->ctx, entity_fields, record, false, &e));
    for (size_t i = 0; i < e.observations.n; i++) {
        struct memory m = {.category = S("entity"), .tags = {&e.entityType, e.entityType.n > 0}};
        m.content =
            str_printf(&f->ctx->arena, S_FMT ": " S_FMT, S_ARG(e.name), S_ARG(e.observations.v[i]));
        TRY(foreign_memory(f, &m));
    }
    return OK;
}

/* "works_at" becomes words, so that a question finds it. */
enum status graph_line(struct foreign *f, const struct json *record)
{
    str type = text_in(record, "type");
    if (str_is(type, "entity"))
        return give_entity(f, record);
    if (!str_is(type, "relation"))
        return fail_field(f->ctx, "type", "must be entity or relation");
    struct relation r;
    TRY(fields_read(f->ctx, relation_fields, record, false, &r));
    struct memory m = {.category = S("relationship")};
    str verb = name_respelt(&f->ctx->arena, r.relationType, '_', ' ');
    m.content = str_printf(&f->ctx->arena, S_FMT " " S_FMT " " S_FMT, S_ARG(r.from), S_ARG(verb),
                           S_ARG(r.to));
    return foreign_memory(f, &m);
}
