/* change.c - one memory corrected, or many corrected or erased at once: all or nothing. */
#include "surface/rest/change.h"

#include "base/time_text.h"
#include "surface/common/auth.h"
#include "surface/common/memory_json.h"
#include "surface/rest/list.h"

/*
 * PATCH (RFC 5789) by RFC 7396's rule: a member that is named is set, null takes its value away,
 * and what is not named stays; the old text is kept as a revision. Which members were named is read
 * from the JSON, since a table cannot tell null from absent.
 */

FIELDS_OF(memory, change_in, (STR, content, .min = 1, .max = 65536, .help = "what is remembered"),
          (STR, key, .max = 512, .help = "the subject; null: none"),
          (ENUM, type, .otherwise_str = "factual", .one_of = type_names,
           .help = "kind of knowledge"),
          (STR, category, .max = 128, .help = "preference, decision, …; null: none"),
          (STR, session, .max = 256, .is_name = true,
           .help = "the session it belongs to; null: none"),
          (STRS, tags, .help = "free labels; null: none"),
          (RAW, metadata, .help = "an object; null: none"),
          (NUM, importance, .min = 0, .max = 1, .help = "0 to 1"),
          (TIME, expires, .help = "when it expires; null: never"));

static enum status named_members(struct ctx *ctx, const struct json *body, unsigned *what)
{
    static const char *const needed[] = {"content", "type", "importance", NULL};
    for (const char *const *name = needed; *name; name++) {
        const struct json *v = json_get(body, *name);
        if (v && v->type == JSON_NULL)
            return fail_field(ctx, *name, "must have a value");
    }
    *what = change_members(body, true);
    return *what ? OK : fail(ctx, BAD_INPUT, "name at least one member to change");
}

void memory_tag(struct ctx *ctx, const struct memory *m, struct reply *out)
{
    reply_header(out, "ETag", str_printf(&ctx->arena, "\"%lld\"", (long long)m->updated));
}

enum status if_match_read(struct ctx *ctx, const struct request *in, int64_t *out)
{
    str tag = str_trim(request_header(in, "If-Match"));
    *out = 0;
    if (!tag.n || str_is(tag, "*"))
        return OK;
    bool is_quoted = tag.n > 2 && tag.p[0] == '"' && tag.p[tag.n - 1] == '"';
    if (!is_quoted || !str_int(str_sub(tag, 1, tag.n - 1), out) || *out <= 0)
        return fail_field(ctx, "If-Match", "must be the ETag of an answer, in quotes");
    return OK;
}

FIELDS(undo_in, (BOOL, undo, .help = "it can be undone for 10 minutes"));

const struct undo_mark *undo_asked(struct ctx *ctx, bool is_asked, struct undo_mark *mark)
{
    *mark = is_asked ? engine_undo_mark(ctx) : (struct undo_mark){0};
    return is_asked ? mark : NULL;
}

/* In the first space in reach that has the id. */
HANDLER(memory_change)
{
    struct change c = {.id = in->params[0],
                       .to = *(const struct memory *)in->in,
                       .keeps_old = true};
    struct undo_in query;
    struct undo_mark mark;
    struct memory m;
    TRY(named_members(ctx, in->json, &c.what));
    TRY(if_match_read(ctx, in, &c.if_updated));
    TRY(request_query_read(ctx, in, undo_in_fields, &query));
    c.undo = undo_asked(ctx, query.undo, &mark);
    TRY(auth_find_memory(ctx, app, &in->who, c.id, &m));
    c.pool = (struct pool_ref){in->who.pool.user, m.space};
    TRY(engine_change(ctx, app->engine, &c, &m));
    if (c.undo) {
        reply_header(out, UNDO_HEADER, mark.id);
        reply_header(out, UNDO_UNTIL_HEADER,
                     time_utc(&ctx->arena, mark.until, "%Y-%m-%dT%H:%M:%SZ"));
    }
    memory_tag(ctx, &m, out);
    return reply_fields(out, memory_fields, &m);
}

/* --- many at once --- */

/*
 * What a filter selects may be more than one call does (BULK_MAX): it takes the newest, says how
 * many are left, and gives a cursor behind the last one, so that a change goes on where it ended. A
 * deletion needs no cursor. All of it is of one space, and one transaction.
 */
enum { BULK_MAX = 1000 };

static const char *const bulk_actions[] = {"delete", "change", NULL};

FIELDS(bulk_in, (STRS, ids, .help = "these memories, at most 1000"),
       (JSON, filter, .help = "or those that a list with this filter has"),
       (ENUM, action, .required = true, .one_of = bulk_actions, .help = "delete, or change"),
       (JSON, change,
        .help = "what to set: importance, tags, type, category, session, metadata, expires"),
       LIST_CURSOR, (BOOL, dry_run, .help = "count, and change nothing"),
       (BOOL, undo, .help = "it can be undone for 10 minutes"));

struct bulk_out {
    int64_t selected, changed, barred, remaining, until;
    str next, erasure, undo;
};
FIELDS(bulk_out, (INT, selected, .help = "memories that this call means"),
       (INT, changed, .help = "memories and messages erased, or memories changed"),
       (INT, barred, .help = "number of statements in messages that recall no longer gives"),
       (INT, remaining, .help = "memories that the filter selects beyond this call"),
       (STR, next, .empty = EMPTY_NULL, .help = "cursor for those"),
       (STR, erasure, .empty = EMPTY_OUT, .help = "id of its certificate: GET /v1/erasures/{id}"),
       (STR, undo, .empty = EMPTY_OUT, .help = "id for POST /v1/undo/{id}"),
       (AS_TIME, until, "undo_until", .empty = EMPTY_OUT, .help = "until when it can be undone"));

static enum status select_ids(struct ctx *ctx, struct app *app, const struct bulk_in *b,
                              struct pool_ref pool, struct strs *out)
{
    struct memory m;
    out->v = NEW_N(&ctx->arena, str, b->ids.n + 1);
    for (size_t i = 0; i < b->ids.n; i++) {
        bool is_again = strs_have(out, b->ids.v[i]);
        enum status s = is_again ? NOT_FOUND : engine_get(ctx, app->engine, pool, b->ids.v[i], &m);
        if (soft_if(ctx, s, NOT_FOUND))
            continue;
        TRY(s);
        out->v[out->n++] = m.id;
    }
    return OK;
}

static enum status select_filter(struct ctx *ctx, struct app *app, const struct bulk_in *b,
                                 struct pools pool, struct strs *ids, struct bulk_out *out)
{
    struct filter_in filter;
    struct memory_page_in ask = {.sort = SORT_CREATED, .limit = BULK_MAX};
    struct memory_page page;
    for (const struct json *v = b->filter->first; v; v = v->next)
        if (v->type == JSON_NULL) /* it would select everything */
            return fail_field(ctx, str_c(&ctx->arena, json_name(v)), "must have a value");
    TRY(fields_read(ctx, filter_in_fields, b->filter, true, &filter));
    TRY(filter_read(ctx, &filter, pool, &ask.select));
    str of = str_printf(&ctx->arena, "bulk " S_FMT, S_ARG(filter_text(ctx, &filter, pool)));
    TRY(memories_behind(ctx, app, of, b->cursor, &ask, &page, &out->next, &out->remaining));
    ids->v = NEW_N(&ctx->arena, str, page.n + 1);
    for (size_t i = 0; i < page.n; i++)
        ids->v[ids->n++] = page.v[i].id;
    return OK;
}

static enum status check_bulk(struct ctx *ctx, const struct bulk_in *b)
{
    if (!b->ids.n == !b->filter)
        return fail_field(ctx, "ids", "say either ids or a filter");
    if (b->ids.n > BULK_MAX)
        return fail_field(ctx, "ids", "must be at most %d", BULK_MAX);
    if (b->cursor.n && !b->filter)
        return fail_field(ctx, "cursor", "is of a filter");
    if ((b->action == BULK_CHANGE) != (b->change != NULL))
        return fail_field(ctx, "change", "goes with the action change, which needs it");
    return OK;
}

static enum status change_all(struct ctx *ctx, struct app *app, const struct bulk_in *b,
                              struct pool_ref pool, const struct undo_mark *undo, struct strs ids,
                              struct bulk_out *out)
{
    struct change c = {.pool = pool, .keeps_old = true, .undo = undo};
    TRY(fields_read(ctx, change_in_fields, b->change, true, &c.to));
    TRY(named_members(ctx, b->change, &c.what));
    if (c.what & (CHANGE_CONTENT | CHANGE_KEY))
        return fail_field(ctx, "change", "must not set content or key, which are of one memory");
    if (b->dry_run || !ids.n)
        return OK;
    return engine_change_each(ctx, app->engine, &c, ids.v, ids.n, &out->changed);
}

HANDLER(memory_bulk)
{
    const struct bulk_in *b = in->in;
    struct bulk_out shape = {0};
    struct strs ids = {0};
    struct undo_mark mark;
    const struct undo_mark *undo = undo_asked(ctx, b->undo && !b->dry_run, &mark);
    struct pool_ref pool = in->who.pool;
    TRY(check_bulk(ctx, b));
    TRY(b->filter ? select_filter(ctx, app, b, (struct pools){&pool, 1}, &ids, &shape)
                  : select_ids(ctx, app, b, pool, &ids));
    assert(ids.n <= BULK_MAX);
    shape.selected = (int64_t)ids.n;
    if (b->action == BULK_CHANGE) {
        TRY(change_all(ctx, app, b, pool, undo, ids, &shape));
    } else if (!b->dry_run && ids.n) {
        const struct forget what = {.pool = pool,
                                    .ids = ids.v,
                                    .n_ids = ids.n,
                                    .undo = undo,
                                    .barred = &shape.barred,
                                    .erasure = &shape.erasure};
        TRY(engine_forget(ctx, app->engine, &what, &shape.changed));
    }
    if (undo && shape.changed) {
        shape.undo = mark.id;
        shape.until = mark.until;
    }
    return reply_fields(out, bulk_out_fields, &shape);
}
