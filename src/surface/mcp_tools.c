/* mcp_tools.c - the general tools: search, context, add, get, update, forget. */
#include "core/tokens.h"

#include "surface/mcp.h"
#include "surface/search_memory.h"
#include "surface/shapes.h"

enum { CONTENT_MAX = 65536, NAME_MAX_BYTES = 200 };

static const char space_help[] = "which of your spaces; your own unless said";

/* --- where --- */

enum status tool_space(struct tool_call *c, str space)
{
    if (!space.n)
        return OK;
    TRY(reach_space(c->ctx, c->app, c->who, space, "space"));
    c->pool.space = space;
    return OK;
}

enum status tool_key(struct tool_call *c, str id)
{
    return space_of_key(c->ctx, c->app, c->who, id, &c->pool.space);
}

/* --- search --- */

struct search_in {
    str query, type, space;
    int64_t limit;
    bool explain;
};
static const struct field search_in_fields[] = {
    {STR(struct search_in, query), .required = true, .min = 1, .max = CONTENT_MAX,
     .help = "a question or words"},
    {INT(struct search_in, limit), .otherwise = 10, .min = 1, .max = 100, .help = "most results"},
    {STR(struct search_in, type), .one_of = type_names, .help = "only memories, of this type"},
    {BOOL(struct search_in, explain), .help = "say why, in words and numbers"},
    {STR(struct search_in, space), .max = NAME_MAX_BYTES, .help = space_help},
    {0},
};

struct search_out {
    const struct json *results;
    int64_t took_us;
};
static const struct field search_out_fields[] = {
    {JSON(struct search_out, results), .required = true, .inside = found_out_fields,
     .help = "memories and messages, best first"},
    {INT(struct search_out, took_us), .required = true, .help = "time it took"},
    {0},
};

static enum status search(struct tool_call *c)
{
    const struct search_in *in = c->in;
    TRY(tool_space(c, in->space));
    struct recall_in ask = {.pool = c->pool,
                            .question = in->query,
                            .limit = (size_t)in->limit,
                            .budget_tokens = -1,
                            .memories_only = in->type.n > 0,
                            .type = in->type};
    struct recall_out found;
    TRY(engine_recall(c->ctx, c->app->engine, &ask, &found));
    struct found_out *items = NEW_N(&c->ctx->arena, struct found_out, found.n);
    for (size_t i = 0; i < found.n; i++)
        items[i] = found_shape(c->ctx, &found.v[i], in->explain);
    struct search_out *out = NEW(&c->ctx->arena, struct search_out);
    TRY(json_list(c->ctx, found_out_fields, items, found.n, sizeof *items, &out->results));
    out->took_us = found.took_us;
    c->out = out;
    return OK;
}

/* --- search_memory --- */

struct layer_out {
    str scope;
    int64_t count;
    const struct json *results;
};
static const struct field layer_out_fields[] = {
    {STR(struct layer_out, scope), .required = true, .one_of = plan_scope_names,
     .help = "what was searched"},
    {INT(struct layer_out, count), .required = true, .help = "how many were found"},
    {JSON(struct layer_out, results), .required = true, .inside = found_out_fields,
     .help = "memories or messages, best first"},
    {0},
};

static enum status search_layer(struct tool_call *c)
{
    const struct search_memory_in *in = c->in;
    struct searched found;
    TRY(tool_space(c, in->agent_id));
    TRY(search_memory(c->ctx, c->app, c->pool, in, &found));
    struct found_out *items = NEW_N(&c->ctx->arena, struct found_out, found.n);
    for (size_t i = 0; i < found.n; i++)
        items[i] = found_shape(c->ctx, &found.v[i], false);
    struct layer_out *out = NEW(&c->ctx->arena, struct layer_out);
    *out = (struct layer_out){
        .scope = str_of(plan_scope_names[found.scope]),
        .count = (int64_t)found.n,
    };
    TRY(json_list(c->ctx, found_out_fields, items, found.n, sizeof *items, &out->results));
    c->out = out;
    c->text = found.text;
    return OK;
}

/* --- context --- */

struct context_in {
    str question, space;
    int64_t budget_tokens;
};
static const struct field context_in_fields[] = {
    {STR(struct context_in, question), .required = true, .min = 1, .max = CONTENT_MAX,
     .help = "what the user says or asks"},
    {INT(struct context_in, budget_tokens), .min = 0, .max = 100000,
     .help = "most tokens; 0: as in a chat"},
    {STR(struct context_in, space), .max = NAME_MAX_BYTES, .help = space_help},
    {0},
};

struct context_out {
    str block, decision, reason;
    int64_t tokens, took_us;
};
static const struct field context_out_fields[] = {
    {STR(struct context_out, block), .required = true,
     .help = "what is remembered, to be put beside the question; empty when nothing matters"},
    {INT(struct context_out, tokens), .required = true, .help = "of the block"},
    {STR(struct context_out, decision), .required = true, .help = "what the relevance gate said"},
    {STR(struct context_out, reason), .required = true, .help = "why"},
    {INT(struct context_out, took_us), .required = true, .help = "time it took"},
    {0},
};

static enum status context(struct tool_call *c)
{
    const struct context_in *in = c->in;
    TRY(tool_space(c, in->space));
    struct recall_in ask = {.pool = c->pool,
                            .question = in->question,
                            .budget_tokens = in->budget_tokens};
    struct recall_out found;
    struct context_out *out = NEW(&c->ctx->arena, struct context_out);
    TRY(engine_context(c->ctx, c->app->engine, &ask, &found, &out->block));
    out->decision = found.decision;
    out->reason = found.reason;
    out->tokens = tokens_of(out->block);
    out->took_us = found.took_us;
    c->out = out;
    c->text = out->block.n ? out->block : S("Nothing that is remembered matters here.");
    return OK;
}

/* --- add --- */

struct add_in {
    str content, key, layer, type, category, session, space;
    struct strs tags;
    const struct json *metadata;
    double importance;
    int64_t expires;
};
static const struct field add_in_fields[] = {
    {STR(struct add_in, content), .required = true, .min = 1, .max = CONTENT_MAX,
     .help = "what to remember, in words that stand for themselves"},
    {STR(struct add_in, key), .max = 512, .help = "the same key replaces what was said before"},
    {STR(struct add_in, type), .otherwise_str = "factual", .one_of = type_names,
     .help = "kind of knowledge"},
    {STR(struct add_in, layer), .otherwise_str = "fact", .one_of = layer_names, .help = "layer"},
    {STR(struct add_in, category), .max = 128, .help = "preference, decision, …, or free"},
    {STR(struct add_in, session), .max = 256, .help = "the conversation it belongs to"},
    {STRS(struct add_in, tags), .help = "free labels"},
    {JSON(struct add_in, metadata), .help = "an object"},
    {NUM(struct add_in, importance), .otherwise = 0.5, .min = 0, .max = 1, .help = "0 to 1"},
    {TIME(struct add_in, expires), .help = "when it goes; never unless said"},
    {STR(struct add_in, space), .max = NAME_MAX_BYTES, .help = space_help},
    {0},
};

static enum status metadata_of(struct ctx *ctx, const struct json *metadata, str *out)
{
    if (metadata && metadata->type != JSON_OBJECT)
        return fail_field(ctx, "metadata", "must be an object");
    *out = metadata ? metadata->source : S("");
    return OK;
}

static enum status give_memory(struct tool_call *c, const struct memory *m)
{
    struct memory_out *out = NEW(&c->ctx->arena, struct memory_out);
    *out = memory_shape(c->ctx, m);
    c->out = out;
    return OK;
}

static enum status add(struct tool_call *c)
{
    const struct add_in *in = c->in;
    struct memory m = {
        .content = in->content,
        .key = in->key,
        .layer = (enum layer)name_index(layer_names, in->layer, LAYER_FACT),
        .type = (enum memory_type)name_index(type_names, in->type, TYPE_FACTUAL),
        .category = in->category,
        .session = in->session,
        .tags = in->tags,
        .importance = in->importance,
        .origin = ORIGIN_API,
        .expires = in->expires,
    };
    TRY(metadata_of(c->ctx, in->metadata, &m.metadata));
    TRY(tool_space(c, in->space));
    TRY(engine_add(c->ctx, c->app->engine, c->pool, &m));
    return give_memory(c, &m);
}

/* --- get and forget --- */

struct id_in {
    str id, space;
};
static const struct field id_in_fields[] = {
    {STR(struct id_in, id), .required = true, .min = 1, .max = 256, .help = "its id"},
    {STR(struct id_in, space), .max = NAME_MAX_BYTES, .help = space_help},
    {0},
};

static enum status get(struct tool_call *c)
{
    const struct id_in *in = c->in;
    struct memory m;
    TRY(tool_space(c, in->space));
    TRY(engine_get(c->ctx, c->app->engine, c->pool, in->id, &m));
    return give_memory(c, &m);
}

struct erased_out {
    int64_t erased;
};
static const struct field erased_out_fields[] = {
    {INT(struct erased_out, erased), .required = true,
     .help = "memories and messages that are gone"},
    {0},
};

static enum status forget(struct tool_call *c)
{
    const struct id_in *in = c->in;
    struct erased_out *out = NEW(&c->ctx->arena, struct erased_out);
    TRY(tool_space(c, in->space));
    struct forget what = {.pool = c->pool, .id = in->id};
    TRY(engine_forget(c->ctx, c->app->engine, &what, &out->erased));
    c->out = out;
    return OK;
}

/* --- update --- */

struct update_in {
    str id, content, key, type, category, space;
    struct strs tags;
    const struct json *metadata;
    double importance;
    int64_t expires;
};
static const struct field update_in_fields[] = {
    {STR(struct update_in, id), .required = true, .min = 1, .max = 256, .help = "its id"},
    {STR(struct update_in, content), .max = CONTENT_MAX, .help = "what is to be remembered now"},
    {STR(struct update_in, key), .max = 512, .help = "its new key; empty: none"},
    {STR(struct update_in, type), .one_of = type_names, .help = "kind of knowledge"},
    {STR(struct update_in, category), .max = 128, .help = "preference, decision, …, or free"},
    {STRS(struct update_in, tags), .help = "free labels, instead of those it has"},
    {JSON(struct update_in, metadata), .help = "an object, instead of the one it has"},
    {NUM(struct update_in, importance), .min = 0, .max = 1, .help = "0 to 1"},
    {TIME(struct update_in, expires), .help = "when it goes"},
    {STR(struct update_in, space), .max = NAME_MAX_BYTES, .help = space_help},
    {0},
};

/* What the call names is changed; null says the same as not naming it. */
static unsigned named(const struct json *arguments)
{
    static const struct {
        const char *name;
        unsigned bit;
    } members[] = {
        {"content", CHANGE_CONTENT},       {"key", CHANGE_KEY},           {"type", CHANGE_TYPE},
        {"category", CHANGE_CATEGORY},     {"metadata", CHANGE_METADATA}, {"tags", CHANGE_TAGS},
        {"importance", CHANGE_IMPORTANCE}, {"expires", CHANGE_EXPIRES},
    };
    unsigned what = 0;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const struct json *v = json_get(arguments, members[i].name);
        if (v && v->type != JSON_NULL)
            what |= members[i].bit;
    }
    return what;
}

static enum status update(struct tool_call *c)
{
    const struct update_in *in = c->in;
    struct memory m;
    struct change change = {
        .id = in->id,
        .what = named(c->arguments),
        .to = {.content = in->content,
               .key = in->key,
               .type = (enum memory_type)name_index(type_names, in->type, TYPE_FACTUAL),
               .category = in->category,
               .tags = in->tags,
               .importance = in->importance,
               .expires = in->expires},
    };
    TRY(metadata_of(c->ctx, in->metadata, &change.to.metadata));
    TRY(tool_space(c, in->space));
    change.pool = c->pool;
    TRY(engine_change(c->ctx, c->app->engine, &change, &m));
    return give_memory(c, &m);
}

const struct tool memory_tools[] = {
    {"memory_search", "Search memory",
     "Finds what was said or remembered earlier and helps to answer a question: memories and "
     "messages, best first.",
     search, TAKES(search_in), .gives = search_out_fields, .reads = true, .repeats = true},
    {SEARCH_MEMORY, "Search a layer of memory", search_memory_help, search_layer,
     TAKES(search_memory_in), .gives = layer_out_fields, .reads = true, .repeats = true},
    {"memory_context", "Recall for a question",
     "What is worth knowing from earlier conversations before answering the user: a short text to "
     "keep in mind, or nothing when nothing matters.",
     context, TAKES(context_in), .gives = context_out_fields, .reads = true, .repeats = true},
    {"memory_add", "Remember",
     "Remembers one fact, preference, decision or event for later conversations. With a key, what "
     "was remembered under it before is superseded.",
     add, TAKES(add_in), .gives = memory_out_fields},
    {"memory_get", "Read a memory", "One memory by its id.", get, TAKES(id_in),
     .gives = memory_out_fields, .reads = true, .repeats = true},
    {"memory_update", "Correct a memory",
     "Changes one memory in place, by its id: only what is named changes.", update,
     TAKES(update_in), .gives = memory_out_fields, .destroys = true, .repeats = true},
    {"memory_forget", "Forget",
     "Erases a memory, a message or a whole conversation by its id, with everything that came from "
     "it. It cannot be undone.",
     forget, TAKES(id_in), .gives = erased_out_fields, .destroys = true},
    {0},
};
