/* history.c - texts of a memory, from the first to the last: created, edited, replaced. */
#include "surface/rest/history.h"

#include <assert.h>

#include "surface/common/auth.h"
#include "surface/common/list_page.h"
#include "surface/common/memory_json.h"

/* One thing that happened. before has the members that an edit changed, as they were. */
struct change_event {
    str event, id, content, by;
    int64_t at;
    const struct json *before;
};
static FIELDS_OF(
    change_event, event, (TIME, at, .help = "when"),
    (STR, event,
     .help = "created, edited, superseded (a new value under its key), merged (with one that says "
             "the same), compacted (into a summary), or archived (closed)"),
    (STR, id, .help = "of the memory"),
    (STR, content, .empty = EMPTY_OUT, .help = "what it says; where it was created"),
    (JSON, before, .empty = EMPTY_OUT, .help = "members as they were; of an edit"),
    (STR, by, .empty = EMPTY_OUT, .help = "id of the memory that took its place"));

const struct field history_out_fields[] = {
    LIST_ITEMS(event_fields, "oldest first"),
    LIST_TOTAL,
    {0},
};

struct events {
    struct change_event *v;
    size_t n;
};

static const struct memory *find_item(const struct history_item *v, size_t n, str id)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(v[i].memory.id, id))
            return &v[i].memory;
    return NULL;
}

static str why_closed(const struct memory *m, const struct memory *by)
{
    if (!m->superseded_by.n)
        return S("closed");
    if (by && by->layer == LAYER_SUMMARY && m->layer != LAYER_SUMMARY)
        return S("compacted");
    return by && m->key.n && str_eq(m->key, by->key) ? S("superseded") : S("merged");
}

/* The text at first is that of the first revision which has one. */
static enum status first_content(struct ctx *ctx, const struct history_item *item, str *out)
{
    *out = item->memory.content;
    for (size_t i = 0; i < item->n; i++) {
        struct json *old;
        TRY(json_parse(ctx, item->v[i].old, &old));
        if (json_get(old, "content")) {
            *out = json_string(json_get(old, "content"));
            return OK;
        }
    }
    return OK;
}

static enum status add_events(struct ctx *ctx, const struct history_item *all, size_t n, size_t at,
                              struct events *out)
{
    assert(at < n);
    const struct history_item *item = &all[at];
    const struct memory *m = &item->memory;
    struct change_event *created = &out->v[out->n++];
    *created = (struct change_event){.event = S("created"), .id = m->id, .at = m->created};
    TRY(first_content(ctx, item, &created->content));
    for (size_t i = 0; i < item->n; i++) {
        struct json *old;
        TRY(json_parse(ctx, item->v[i].old, &old));
        out->v[out->n++] = (struct change_event){.event = S("edited"),
                                                 .id = m->id,
                                                 .at = item->v[i].at,
                                                 .before = old};
    }
    if (m->valid_to)
        out->v[out->n++] =
            (struct change_event){.event = why_closed(m, find_item(all, n, m->superseded_by)),
                                  .id = m->id,
                                  .at = m->valid_to,
                                  .by = m->superseded_by};
    return OK;
}

/* Stable: of one time, what was noted first comes first. */
static void sort_events(struct events *e)
{
    for (size_t i = 1; i < e->n; i++) {
        struct change_event one = e->v[i];
        size_t k = i;
        for (; k && e->v[k - 1].at > one.at; k--)
            e->v[k] = e->v[k - 1];
        e->v[k] = one;
    }
}

enum status memory_history(struct ctx *ctx, struct app *app, const struct request *in,
                           struct reply *out)
{
    struct history_item *v;
    struct memory m;
    struct events events = {0};
    struct list_page shape = {0};
    size_t n, most = 0;
    TRY(auth_find_memory(ctx, app, &in->who, in->params[0], &m));
    TRY(engine_history(ctx, app->engine, (struct pool_ref){in->who.pool.user, m.space},
                       in->params[0], &v, &n));
    for (size_t i = 0; i < n; i++)
        most += v[i].n + 2;
    events.v = NEW_N(&ctx->arena, struct change_event, most + 1);
    for (size_t i = 0; i < n; i++)
        TRY(add_events(ctx, v, n, i, &events));
    assert(events.n <= most);
    sort_events(&events);
    TRY(json_list(ctx, event_fields, events.v, events.n, sizeof *events.v, &shape.items));
    shape.total = (int64_t)events.n;
    return reply_fields(out, history_out_fields, &shape);
}
