/* hosted.c - mem0's hosted API: the paths of v1, v2 and v3 that its clients call. */
#include "ext/dialects/mem0/read.h"
#include "surface/common/memory_json.h"

/*
 * Every path ends in a slash, which tells /v1/memories/ from rememberd's own /v1/memories. What is
 * found or kept is told at once: nothing is PENDING, so there are no events to ask for.
 */

static const double threshold_v2 = 0.3, threshold_v3 = 0.1;

SHAPE(ping_out, (STR, status, .help = "ok"), (STR, org_id, .empty = EMPTY_NULL),
      (STR, project_id, .empty = EMPTY_NULL),
      (STR, user_email, .empty = EMPTY_NULL,
       .help = "null: there are no organizations, projects and addresses here"));

/* mem0's client asks once, before anything else, whether its key is good. */
static HANDLER(answer_ping)
{
    return reply_fields(out, ping_out_fields, &(struct ping_out){.status = S("ok")});
}

/* --- add --- */

SHAPE(add_out, (STR, status, .help = "SUCCEEDED"), (STR, message, .empty = EMPTY_OUT),
      (JSON, results, .inside = mem0_added_fields));

static HANDLER(add_messages)
{
    const struct mem0_add_in *a = in->in;
    struct add_out shape = {.status = S("SUCCEEDED")};
    TRY(mem0_needs_ids(ctx, &a->ids));
    TRY(mem0_add(ctx, app, in, a, &shape.results, &shape.message));
    return reply_fields(out, add_out_fields, &shape);
}

/* --- list and search --- */

static const struct field asked_fields[] = {MEM0_ASKED_ROWS{0}};
static FIELDS_OF(mem0_page, memory_page, MEM0_PAGE(mem0_memory_fields));

static enum status read_page(struct ctx *ctx, struct app *app, const struct request *in,
                             const struct mem0_asked *asked, const struct mem0_page_in *page,
                             struct mem0_page *out)
{
    int64_t at = page->page ? page->page - 1 : 0;
    TRY(mem0_list(ctx, app, in, asked, FILTER_STRICT, (size_t)(at * page->page_size),
                  (size_t)page->page_size, &out->results, &out->count));
    mem0_page_links(ctx, in, page, out);
    return OK;
}

/* The page of the query, of what the body asks for. */
static enum status read_asked(struct ctx *ctx, struct app *app, const struct request *in,
                              struct mem0_page *out)
{
    struct mem0_page_in page;
    TRY(request_query_read(ctx, in, mem0_page_in_fields, &page));
    return read_page(ctx, app, in, in->in, &page, out);
}

static HANDLER(list_v3)
{
    struct mem0_page shape = {0};
    TRY(read_asked(ctx, app, in, &shape));
    return reply_fields(out, memory_page_fields, &shape);
}

static HANDLER(list_v2)
{
    struct mem0_page shape = {0};
    TRY(read_asked(ctx, app, in, &shape));
    buf_add(&out->body, shape.results->source);
    return OK;
}

struct list_in {
    struct mem0_ids ids;
    struct mem0_page_in page;
};
static const struct field list_in_fields[] = {MEM0_ID_ROWS FIELD_ROWS(
    list_in, (AS_INT, page.page, "page", .min = 1, .max = 1e7, .help = "from 1"),
    (AS_INT, page.page_size, "page_size", .otherwise = 100, .min = 1, .max = 1000)){0}};

static HANDLER(list_v1)
{
    const struct list_in *l = in->in;
    const struct mem0_asked asked = {.ids = l->ids};
    struct mem0_page shape = {0};
    TRY(read_page(ctx, app, in, &asked, &l->page, &shape));
    buf_add(&out->body, shape.results->source);
    return OK;
}

SHAPE(found_list, (JSON, results, .inside = mem0_memory_fields, .help = "the most alike first"));

static HANDLER(search_v3)
{
    struct found_list shape;
    TRY(mem0_search(ctx, app, in, in->in, FILTER_STRICT, threshold_v3, &shape.results));
    return reply_fields(out, found_list_fields, &shape);
}

static HANDLER(search_v2)
{
    const struct json *results;
    TRY(mem0_search(ctx, app, in, in->in, FILTER_STRICT, threshold_v2, &results));
    buf_add(&out->body, results->source);
    return OK;
}

/* --- one --- */

static HANDLER(change_one)
{
    struct mem0_found found;
    TRY(mem0_change(ctx, app, in, in->params[0], in->in, in->json, &found));
    return mem0_show(ctx, &found, out);
}

/* --- batches --- */

struct batch_in {
    const struct json *memories;
};
struct batch_row {
    str memory_id;
    struct mem0_change_in change;
};
static FIELDS_OF(batch_row, change_row, (STR, memory_id, .required = true, .min = 1),
                 (AS_STR, change.text, "text", .max = 65536),
                 (AS_RAW, change.metadata, "metadata"));
static FIELDS_OF(batch_row, erase_row, (STR, memory_id, .required = true, .min = 1));
static FIELDS_OF(batch_in, change_batch,
                 (JSON, memories, .required = true, .inside = change_row_fields,
                  .help = "at most 1000"));
static FIELDS_OF(batch_in, erase_batch,
                 (JSON, memories, .required = true, .inside = erase_row_fields,
                  .help = "at most 1000"));

struct batch {
    struct batch_row *rows;
    struct mem0_found *found;
    size_t n;
};

/* All of them are found, and something to change in each, before the first one is touched. */
static enum status read_batch(struct ctx *ctx, struct app *app, const struct request *in,
                              const struct field *row, struct batch *out)
{
    enum { BATCH_MAX = 1000 };
    const struct json *list = ((const struct batch_in *)in->in)->memories;
    if (list->type != JSON_ARRAY || !list->n || list->n > BATCH_MAX)
        return fail_field(ctx, "memories", "must be a list of 1 to %d", BATCH_MAX);
    *out = (struct batch){NEW_N(&ctx->arena, struct batch_row, list->n),
                          NEW_N(&ctx->arena, struct mem0_found, list->n), 0};
    for (const struct json *one = list->first; one; one = one->next) {
        str text = json_string(json_get(one, "text"));
        TRY(fields_read(ctx, row, one, false, &out->rows[out->n]));
        if (row == change_row_fields && !str_trim(text).n && (text.n || !json_get(one, "metadata")))
            return fail_field(ctx, "memories", "must each have a text or metadata");
        TRY(mem0_find(ctx, app, in, out->rows[out->n].memory_id, &out->found[out->n]));
        out->n++;
    }
    return OK;
}

static HANDLER(change_batch)
{
    struct batch b;
    const struct json *row = ((const struct batch_in *)in->in)->memories->first;
    TRY(read_batch(ctx, app, in, change_row_fields, &b));
    for (size_t i = 0; i < b.n; i++, row = row->next)
        TRY(mem0_change(ctx, app, in, b.rows[i].memory_id, &b.rows[i].change, row, &b.found[i]));
    return mem0_say(out, str_printf(&ctx->arena, "Successfully updated %zu memories", b.n));
}

/* One that is named twice, or went with another one, is gone already. */
static HANDLER(erase_batch)
{
    struct batch b;
    TRY(read_batch(ctx, app, in, erase_row_fields, &b));
    for (size_t i = 0; i < b.n; i++) {
        const struct forget what = {.pool = b.found[i].pool, .id = b.found[i].memory.id};
        TRY(soft_or(ctx, engine_forget(ctx, app->engine, &what, NULL), NOT_FOUND));
    }
    return mem0_say(out, str_printf(&ctx->arena, "Successfully deleted %zu memories", b.n));
}

/* --- what is not served --- */

/* These would otherwise be passed on to the model server, as most paths of /v1 are. */
static HANDLER(not_served)
{
    return fail(ctx, UNSUPPORTED, S_FMT " is not served by rememberd: see docs/from-mem0.md",
                S_ARG(in->path));
}

#define LISTS(T) ANSWERS(T), .words.is_list = true
static const struct route routes[] = {
    {ROUTE("GET", "/v1/ping/", answer_ping), ANSWERS(ping_out), .help = "whether the key is good"},
    {ROUTE("POST", "/v3/memories/add/", add_messages), READS(mem0_add_in), ANSWERS(add_out),
     .help = "memories from messages"},
    {ROUTE("POST", "/v1/memories/", add_messages), READS(mem0_add_in), ANSWERS(add_out),
     .help = "the same"},
    {ROUTE("POST", "/v3/memories/search/", search_v3), .scope = MAY_READ, READS(mem0_search_in),
     ANSWERS(found_list), .help = "memories like a query"},
    {ROUTE("POST", "/v2/memories/search/", search_v2), .scope = MAY_READ, READS(mem0_search_in),
     LISTS(mem0_memory), .help = "the same, as a list"},
    {ROUTE("POST", "/v3/memories/", list_v3), .scope = MAY_READ, READS_AS(asked, mem0_asked),
     ASKS(mem0_page_in), ANSWERS(memory_page), .help = "memories by a filter, in pages"},
    {ROUTE("POST", "/v2/memories/", list_v2), .scope = MAY_READ, READS_AS(asked, mem0_asked),
     ASKS(mem0_page_in), LISTS(mem0_memory), .help = "the same, as a list"},
    {ROUTE("GET", "/v1/memories/", list_v1), READS(list_in), .strict = true, LISTS(mem0_memory),
     .help = "memories of a user, agent, app or run, as a list"},
    {ROUTE("DELETE", "/v1/memories/", mem0_erase_all), READS_AS(mem0_ids, mem0_ids), .strict = true,
     ANSWERS(mem0_said),
     .help = "erase the memories and conversations of a user, agent, app or run"},
    {ROUTE("GET", "/v1/memories/{id}/", mem0_get), ANSWERS(mem0_memory), .help = "one memory"},
    {ROUTE("PUT", "/v1/memories/{id}/", change_one), READS(mem0_change_in), ANSWERS(mem0_memory),
     .help = "change its text, metadata or expiry"},
    {ROUTE("DELETE", "/v1/memories/{id}/", mem0_erase), READS(mem0_erase_in), .strict = true,
     ANSWERS(mem0_said), .help = "erase a memory"},
    {ROUTE("GET", "/v1/memories/{id}/history/", mem0_history), LISTS(mem0_history),
     .help = "what it said before"},
    {ROUTE("PUT", "/v1/batch/", change_batch), READS_AS(change_batch, batch_in), ANSWERS(mem0_said),
     .help = "change many memories"},
    {ROUTE("DELETE", "/v1/batch/", erase_batch), READS_AS(erase_batch, batch_in),
     ANSWERS(mem0_said), .help = "erase many memories; the list is in the body"},
    {ROUTE("GET", "/v1/entities/", mem0_entity_list), READS(mem0_page_in), .strict = true,
     ANSWERS(mem0_entity_page), .help = "users, agents, apps and runs"},
    {ROUTE("DELETE", "/v1/entities/{type}/{name}/", mem0_erase_entity), ANSWERS(mem0_said),
     .help = "erase all of a user, agent, app or run"},
    {ROUTE("DELETE", "/v2/entities/{type}/{name}/", mem0_erase_entity), ANSWERS(mem0_said),
     .help = "the same"},
    {ROUTE("POST", "/v1/feedback/", not_served), ANSWERS(mem0_said), .help = "not served"},
    {ROUTE("POST", "/v1/exports/", not_served), ANSWERS(mem0_said), .help = "not served"},
    {ROUTE("POST", "/v1/exports/get/", not_served), ANSWERS(mem0_said), .help = "not served"},
    {ROUTE("GET", "/v1/events/", not_served), ANSWERS(mem0_said), .help = "not served"},
    {ROUTE("GET", "/v1/event/{id}/", not_served), ANSWERS(mem0_said), .help = "not served"},
    {0},
};

const struct surface surface_mem0 = MEM0_SURFACE(routes);
