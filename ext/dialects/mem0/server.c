/* server.c - the API of mem0's own server, which people host themselves: /memories and /search. */
#include "ext/dialects/mem0/read.h"

/*
 * The same calls as the hosted API under other paths, without pages, and with a grammar of filters
 * that takes members of the metadata by their names.
 */

static const double threshold_default = 0.1;

SHAPE(results, (JSON, results, .inside = mem0_memory_fields));
static FIELDS_OF(results, added_list, (JSON, results, .inside = mem0_added_fields));

/* Without names the request's own memory would be meant, and no one would notice. */
static HANDLER(server_add)
{
    const struct mem0_add_in *add = in->in;
    struct results shape;
    str message;
    if (!add->ids.user_id.n && !add->ids.agent_id.n && !add->ids.run_id.n)
        return fail(ctx, BAD_INPUT,
                    "At least one identifier (user_id, agent_id, run_id) is required.");
    TRY(mem0_add(ctx, app, in, add, &shape.results, &message));
    return reply_fields(out, added_list_fields, &shape);
}

struct server_list_in {
    struct mem0_asked asked;
    int64_t top_k;
};
static const struct field server_list_in_fields[] = {MEM0_ID_ROWS FIELD_ROWS(
    server_list_in,
    (AS_BOOL, asked.show_expired, "show_expired", .help = "also those that have expired"),
    (INT, top_k, .otherwise = 100, .min = 1, .max = 1000, .help = "most results")){0}};

static HANDLER(server_list)
{
    const struct server_list_in *l = in->in;
    struct results shape;
    int64_t total;
    TRY(mem0_list(ctx, app, in, &l->asked, FILTER_OPEN, 0, (size_t)l->top_k, &shape.results,
                  &total));
    return reply_fields(out, results_fields, &shape);
}

static HANDLER(server_search)
{
    struct results shape;
    TRY(mem0_search(ctx, app, in, in->in, FILTER_OPEN, threshold_default, &shape.results));
    return reply_fields(out, results_fields, &shape);
}

static HANDLER(server_change)
{
    struct mem0_found found;
    TRY(mem0_change(ctx, app, in, in->params[0], in->in, in->json, &found));
    return mem0_say(out, S("Memory updated successfully!"));
}

static const struct route routes[] = {
    {ROUTE("POST", "/memories", server_add), READS(mem0_add_in), ANSWERS(added_list),
     .help = "memories from messages"},
    {ROUTE("GET", "/memories", server_list), READS(server_list_in), .strict = true,
     ANSWERS(results), .help = "memories of a user, agent or run"},
    {ROUTE("DELETE", "/memories", mem0_erase_all), READS_AS(mem0_ids, mem0_ids), .strict = true,
     ANSWERS(mem0_said), .help = "erase the memories and conversations of a user, agent or run"},
    {ROUTE("GET", "/memories/{id}", mem0_get), ANSWERS(mem0_memory), .help = "one memory"},
    {ROUTE("PUT", "/memories/{id}", server_change), READS(mem0_change_in), ANSWERS(mem0_said),
     .help = "change its text, metadata or expiry"},
    {ROUTE("DELETE", "/memories/{id}", mem0_erase), READS(mem0_erase_in), .strict = true,
     ANSWERS(mem0_said), .help = "erase a memory"},
    {ROUTE("GET", "/memories/{id}/history", mem0_history), ANSWERS(mem0_history),
     .words.is_list = true, .help = "what it said before"},
    {ROUTE("POST", "/search", server_search), .scope = MAY_READ, READS(mem0_search_in),
     ANSWERS(results), .help = "memories like a query"},
    {0},
};

const struct surface surface_mem0_server = MEM0_SURFACE(routes);
