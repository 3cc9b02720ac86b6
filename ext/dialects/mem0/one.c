/* one.c - one memory of mem0's API: shown, changed, erased, and what it said before. */
#include "base/id.h"
#include "ext/dialects/mem0/mem0.h"
#include "surface/common/memory_json.h"

HANDLER(mem0_get)
{
    struct mem0_found found;
    TRY(mem0_find(ctx, app, in, in->params[0], &found));
    return mem0_show(ctx, &found, out);
}

/* --- change --- */

FIELDS(mem0_change_in, (STR, text, .max = 65536, .help = "what it says from now on"),
       (RAW, metadata, .help = "an object; null: none"),
       (STR, expiration_date, .help = "the last day on which it counts; null: no end"),
       (JSON, timestamp, .help = "is refused: a memory keeps its time"));

/* A member that is named is set, and null takes its value away. */
enum status mem0_change(struct ctx *ctx, struct app *app, const struct request *in, str id,
                        const struct mem0_change_in *c, const struct json *json,
                        struct mem0_found *out)
{
    struct change to = {.to = {.content = c->text, .metadata = c->metadata}, .keeps_old = true};
    if (c->timestamp && c->timestamp->type != JSON_NULL)
        return fail_field(ctx, "timestamp", "cannot be changed");
    if (c->text.n && !str_trim(c->text).n)
        return fail_field(ctx, "text", "must not be blank");
    to.what = (c->text.n ? CHANGE_CONTENT : 0) |
              (json_get(json, "metadata") ? CHANGE_METADATA : 0) |
              (json_get(json, "expiration_date") ? CHANGE_EXPIRES : 0);
    if (!to.what)
        return fail(ctx, BAD_INPUT, "name text, metadata or expiration_date");
    TRY(mem0_expires(ctx, c->expiration_date, &to.to.expires));
    TRY(mem0_find(ctx, app, in, id, out));
    to.pool = out->pool;
    to.id = out->memory.id;
    return engine_change(ctx, app->engine, &to, &out->memory);
}

/* --- erase --- */

FIELDS(mem0_erase_in, (BOOL, delete_linked, .help = "also those that it has replaced"));

/* What it replaced, and what that replaced: everything in front of it in its chain. */
static enum status erase_older(struct ctx *ctx, struct app *app, const struct mem0_found *of)
{
    struct history_item *v;
    size_t n, kept = 0;
    TRY(engine_history(ctx, app->engine, of->pool, of->memory.id, &v, &n));
    str *ids = NEW_N(&ctx->arena, str, n + 1);
    for (; kept < n && !str_eq(v[kept].memory.id, of->memory.id); kept++)
        ids[kept] = v[kept].memory.id;
    const struct forget what = {.pool = of->pool, .ids = ids, .n_ids = kept};
    return kept ? soft_or(ctx, engine_forget(ctx, app->engine, &what, NULL), NOT_FOUND) : OK;
}

HANDLER(mem0_erase)
{
    struct mem0_found found;
    TRY(mem0_find(ctx, app, in, in->params[0], &found));
    if (((const struct mem0_erase_in *)in->in)->delete_linked)
        TRY(erase_older(ctx, app, &found));
    const struct forget what = {.pool = found.pool, .id = found.memory.id};
    TRY(engine_forget(ctx, app->engine, &what, NULL));
    return mem0_say(out, S("Memory deleted successfully!"));
}

/* --- history --- */

struct past {
    str id, memory_id, old_memory, new_memory, event, user_id;
    int64_t created_at, updated_at;
    bool is_deleted;
};
FIELDS_OF(past, mem0_history, (STR, id), (STR, memory_id), (STR, old_memory, .empty = EMPTY_NULL),
          (STR, new_memory, .empty = EMPTY_NULL), (STR, event, .help = "ADD, UPDATE or DELETE"),
          (STR, user_id, .empty = EMPTY_NULL), (TIME, created_at, .required = true),
          (TIME, updated_at, .required = true),
          (BOOL, is_deleted, .help = "it is superseded by another one"));

static void add_past(struct ctx *ctx, const struct mem0_found *of, struct past *v, size_t *n,
                     struct past one)
{
    one.id = ID_OF(&ctx->arena, of->memory.id, str_printf(&ctx->arena, "%zu", *n));
    one.memory_id = of->memory.id;
    one.user_id = of->who.user_id;
    one.created_at = of->memory.created;
    one.is_deleted = of->memory.valid_to != 0;
    v[(*n)++] = one;
}

/* A revision holds what was before it: so each text is known once the next revision was read. */
static enum status write_past(struct ctx *ctx, const struct mem0_found *of,
                              const struct history_item *item, const struct json **out)
{
    struct past *v = NEW_N(&ctx->arena, struct past, item->n + 2);
    size_t n = 0;
    int64_t at = of->memory.created;
    str before = S("");
    for (size_t i = 0; i <= item->n; i++) {
        struct json *old = NULL;
        str now = item->memory.content;
        if (i < item->n) {
            TRY(json_parse(ctx, item->v[i].old, &old));
            if (!json_get(old, "content"))
                continue;
            now = json_string(json_get(old, "content"));
        }
        add_past(ctx, of, v, &n,
                 (struct past){.old_memory = before,
                               .new_memory = now,
                               .event = n ? S("UPDATE") : S("ADD"),
                               .updated_at = at});
        before = now;
        at = i < item->n ? item->v[i].at : at;
    }
    if (of->memory.valid_to)
        add_past(ctx, of, v, &n,
                 (struct past){.old_memory = before,
                               .event = S("DELETE"),
                               .updated_at = of->memory.valid_to});
    return json_list(ctx, mem0_history_fields, v, n, sizeof *v, out);
}

/* Of this memory alone, as mem0 shows it; GET /v1/memories/{id}/history has the whole chain. */
HANDLER(mem0_history)
{
    struct mem0_found found;
    struct history_item *v;
    const struct json *list = NULL;
    size_t n;
    TRY(mem0_find(ctx, app, in, in->params[0], &found));
    TRY(engine_history(ctx, app->engine, found.pool, found.memory.id, &v, &n));
    for (size_t i = 0; i < n; i++)
        if (str_eq(v[i].memory.id, found.memory.id))
            TRY(write_past(ctx, &found, &v[i], &list));
    assert(list);
    buf_add(&out->body, list->source);
    return OK;
}
