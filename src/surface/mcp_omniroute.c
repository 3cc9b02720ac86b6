/* mcp_omniroute.c - OmniRoute's three memory tools in its own shapes. */
#include "surface/mcp.h"
#include "surface/omniroute.h"
#include "surface/shapes.h"

/* BUDGET: in tokens, where neither the call nor the settings say. */
enum { BUDGET = 2000, CONTENT_MAX = 65536 };

static const char key_help[] = "a key of yours; the one that is shown unless said";

/* {success: true, data: …} around each answer. */
#define GIVES(NAME)                                                                                \
    struct NAME##_out {                                                                            \
        bool success;                                                                              \
        struct NAME data;                                                                          \
    };                                                                                             \
    static const struct field NAME##_out_fields[] = {                                              \
        {BOOL(struct NAME##_out, success), .required = true},                                      \
        {FIELD_(struct NAME##_out, data, struct NAME, FIELD_OBJECT, "data"), .required = true,     \
         .inside = NAME##_fields},                                                                 \
        {0},                                                                                       \
    }

/* --- search --- */

struct search_in {
    str api_key, query, type;
    int64_t max_tokens, limit;
};
static const struct field search_in_fields[] = {
    {AS_STR(struct search_in, api_key, "apiKeyId"), .max = 200, .help = key_help},
    {STR(struct search_in, query), .max = CONTENT_MAX, .help = "words; without them the newest"},
    {STR(struct search_in, type), .one_of = type_names, .help = "only this type"},
    {AS_INT(struct search_in, max_tokens, "maxTokens"), .min = 1, .max = RETRIEVE_BUDGET_MAX,
     .help = "of all contents together; the setting maxTokens unless said"},
    {INT(struct search_in, limit), .otherwise = RETRIEVE_LIMIT, .min = 1, .max = RETRIEVE_LIMIT,
     .help = "most results"},
    {0},
};

struct page {
    const struct json *memories;
    int64_t count, total_tokens;
};
static const struct field page_fields[] = {
    {JSON(struct page, memories), .required = true, .inside = memory_shown_fields},
    {INT(struct page, count), .required = true},
    {AS_INT(struct page, total_tokens, "totalTokens"), .required = true},
    {0},
};
GIVES(page);

/* What the settings say, where the call does not. A tool searches also where chats have no memory,
 * and then with the default. */
static struct retrieve_in ask_of(struct tool_call *c, const struct search_in *in)
{
    const struct live_memory *l = &engine_live(c->app->engine)->memory;
    int64_t setting = l->enabled && l->max_tokens ? l->max_tokens : BUDGET;
    return (struct retrieve_in){
        .pool = c->pool,
        .query = in->query,
        .strategy = (enum strategy)name_index(strategy_names, l->strategy, STRATEGY_HYBRID),
        .budget_tokens = in->max_tokens ? in->max_tokens : setting,
        .limit = (size_t)in->limit,
        .type = in->type,
        .retention_days = l->retention_days,
    };
}

static enum status search(struct tool_call *c)
{
    const struct search_in *in = c->in;
    struct retrieve_out found;
    TRY(tool_key(c, in->api_key));
    struct retrieve_in ask = ask_of(c, in);
    TRY(engine_retrieve(c->ctx, c->app->engine, &ask, &found));
    struct page_out *out = NEW(&c->ctx->arena, struct page_out);
    struct memory_shown *items = NEW_N(&c->ctx->arena, struct memory_shown, found.n);
    for (size_t i = 0; i < found.n; i++)
        items[i] = show_memory(c->ctx, &found.v[i].memory);
    out->success = true;
    out->data.count = (int64_t)found.n;
    out->data.total_tokens = found.tokens;
    TRY(json_list(c->ctx, memory_shown_fields, items, found.n, sizeof *items, &out->data.memories));
    c->out = out;
    return OK;
}

/* --- add --- */

struct add_in {
    str api_key, session, type, key, content;
    const struct json *metadata;
};
static const struct field add_in_fields[] = {
    {AS_STR(struct add_in, api_key, "apiKeyId"), .max = 200, .help = key_help},
    {AS_STR(struct add_in, session, "sessionId"), .max = 256,
     .help = "the conversation it belongs to"},
    {STR(struct add_in, type), .required = true, .one_of = type_names, .help = "kind of knowledge"},
    {STR(struct add_in, key), .required = true, .min = 1, .max = 512,
     .help = "the same key is changed in place"},
    {STR(struct add_in, content), .required = true, .min = 1, .max = CONTENT_MAX,
     .help = "what to remember"},
    {JSON(struct add_in, metadata), .help = "an object"},
    {0},
};

struct added {
    struct memory_shown memory;
    str message;
};
static const struct field added_fields[] = {
    {FIELD_(struct added, memory, struct memory_shown, FIELD_OBJECT, "memory"), .required = true,
     .inside = memory_shown_fields},
    {STR(struct added, message), .required = true},
    {0},
};
GIVES(added);

static enum status add(struct tool_call *c)
{
    const struct add_in *in = c->in;
    if (in->metadata && in->metadata->type != JSON_OBJECT)
        return fail_field(c->ctx, "metadata", "must be an object");
    struct memory m = {
        .content = in->content,
        .key = in->key,
        .type = (enum memory_type)name_index(type_names, in->type, TYPE_FACTUAL),
        .session = in->session,
        .metadata = in->metadata ? in->metadata->source : S(""),
        .importance = 0.5,
        .origin = ORIGIN_API,
    };
    TRY(tool_key(c, in->api_key));
    TRY(engine_replace(c->ctx, c->app->engine, c->pool, &m));
    struct added_out *out = NEW(&c->ctx->arena, struct added_out);
    out->success = true;
    out->data.memory = show_memory(c->ctx, &m);
    out->data.message = str_printf(&c->ctx->arena, "remembered under \"" S_FMT "\"", S_ARG(m.key));
    c->out = out;
    return OK;
}

/* --- clear --- */

struct clear_in {
    str api_key, type;
    int64_t older_than;
};
static const struct field clear_in_fields[] = {
    {AS_STR(struct clear_in, api_key, "apiKeyId"), .max = 200, .help = key_help},
    {STR(struct clear_in, type), .one_of = type_names, .help = "only this type"},
    {AS_TIME(struct clear_in, older_than, "olderThan"), .help = "only what was made before"},
    {0},
};

struct cleared {
    int64_t count;
    str message;
};
static const struct field cleared_fields[] = {
    {AS_INT(struct cleared, count, "deletedCount"), .required = true},
    {STR(struct cleared, message), .required = true},
    {0},
};
GIVES(cleared);

static enum status clear(struct tool_call *c)
{
    const struct clear_in *in = c->in;
    struct cleared_out *out = NEW(&c->ctx->arena, struct cleared_out);
    TRY(tool_key(c, in->api_key));
    struct forget what = {.pool = c->pool,
                          .memories = true,
                          .type = in->type,
                          .before = in->older_than};
    enum status s = engine_forget(c->ctx, c->app->engine, &what, &out->data.count);
    if (s != OK && s != NOT_FOUND)
        return s;
    if (s == NOT_FOUND) {
        ctx_clear_failure(c->ctx);
        out->data.count = 0;
    }
    out->success = true;
    out->data.message =
        str_printf(&c->ctx->arena, "forgot %lld memories", (long long)out->data.count);
    c->out = out;
    return OK;
}

const struct tool omniroute_tools[] = {
    {"omniroute_memory_search", "Search memories (OmniRoute)",
     "Memories of a key, best first, within a budget of tokens.", search, TAKES(search_in),
     .gives = page_out_fields, .reads = true, .repeats = true},
    {"omniroute_memory_add", "Add a memory (OmniRoute)",
     "Remembers a content under a key; the same key is changed in place.", add, TAKES(add_in),
     .gives = added_out_fields, .destroys = true, .repeats = true},
    {"omniroute_memory_clear", "Clear memories (OmniRoute)",
     "Erases all memories of a key, or those of a type or made before a date. It cannot be undone.",
     clear, TAKES(clear_in), .gives = cleared_out_fields, .destroys = true, .repeats = true},
    {0},
};
