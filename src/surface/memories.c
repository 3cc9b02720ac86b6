/* memories.c - memories, search and receipts over plain REST. */
#include "surface/dialect.h"
#include "surface/shapes.h"

/* --- shapes --- */

struct add_in {
    str content, key, layer, type, category, session;
    struct strs tags;
    const struct json *metadata;
    double importance;
    int64_t expires, valid_from;
};
static const struct field add_in_fields[] = {
    {STR(struct add_in, content), .required = true, .min = 1, .max = 65536,
     .help = "what to remember"},
    {STR(struct add_in, key), .max = 512, .help = "the same key replaces what was said before"},
    {STR(struct add_in, layer), .otherwise_str = "fact", .one_of = layer_names, .help = "layer"},
    {STR(struct add_in, type), .otherwise_str = "factual", .one_of = type_names,
     .help = "kind of knowledge"},
    {STR(struct add_in, category), .max = 128, .help = "preference, decision, …, or free"},
    {STR(struct add_in, session), .max = 256, .help = "the conversation it belongs to"},
    {STRS(struct add_in, tags), .help = "free labels"},
    {JSON(struct add_in, metadata), .help = "an object"},
    {NUM(struct add_in, importance), .otherwise = 0.5, .min = 0, .max = 1, .help = "0 to 1"},
    {TIME(struct add_in, expires), .help = "when it goes"},
    {TIME(struct add_in, valid_from), .help = "since when it is true"},
    {0},
};

struct list_in {
    str type, category, session, contains;
    bool closed;
    int64_t limit, offset;
};
static const struct field list_in_fields[] = {
    {STR(struct list_in, type), .help = "only this type"},
    {STR(struct list_in, category), .help = "only this category"},
    {STR(struct list_in, session), .help = "only from this conversation"},
    {STR(struct list_in, contains), .help = "only with this text in content or key"},
    {BOOL(struct list_in, closed), .help = "also superseded and expired ones"},
    {INT(struct list_in, limit), .otherwise = 50, .min = 1, .max = 500, .help = "most results"},
    {INT(struct list_in, offset), .max = 1e9, .help = "how many to leave out"},
    {0},
};

struct list_out {
    const struct json *memories;
    int64_t total;
};
static const struct field list_out_fields[] = {
    {JSON(struct list_out, memories), .help = "newest first"},
    {INT(struct list_out, total), .help = "how many there are"},
    {0},
};

struct search_in {
    str query;
    int64_t limit;
    bool explain;
};
static const struct field search_in_fields[] = {
    {STR(struct search_in, query), .required = true, .min = 1, .max = 65536,
     .help = "a question or words"},
    {INT(struct search_in, limit), .otherwise = 10, .min = 1, .max = 100, .help = "most results"},
    {BOOL(struct search_in, explain), .help = "say why, in words and numbers"},
    {0},
};

struct search_out {
    const struct json *results;
    int64_t took_us;
    str vectors, without;
};
static const struct field search_out_fields[] = {
    {JSON(struct search_out, results), .help = "memories and messages, best first"},
    {INT(struct search_out, took_us), .help = "time it took"},
    {STR(struct search_out, vectors), .empty = EMPTY_OUT,
     .help = "what made the vectors that took part"},
    {STR(struct search_out, without), .empty = EMPTY_OUT,
     .help = "why none took part although a source is chosen"},
    {0},
};

struct erased_out {
    int64_t erased;
};
static const struct field erased_out_fields[] = {
    {INT(struct erased_out, erased), .help = "memories and messages that are gone"},
    {0},
};

/* --- writing --- */

static void write(struct buf *out, const struct field *table, const void *shape)
{
    struct json_out w = json_to(out);
    fields_write(&w, table, shape);
}

void surface_memory_json(struct ctx *ctx, const struct memory *m, struct buf *out)
{
    struct memory_out shape = memory_shape(ctx, m);
    write(out, memory_out_fields, &shape);
}

enum status surface_memories_json(struct ctx *ctx, const struct memory *v, size_t n, int64_t total,
                                  struct buf *out)
{
    struct memory_out *items = NEW_N(&ctx->arena, struct memory_out, n);
    for (size_t i = 0; i < n; i++)
        items[i] = memory_shape(ctx, &v[i]);
    struct list_out shape = {.total = total};
    TRY(json_list(ctx, memory_out_fields, items, n, sizeof *items, &shape.memories));
    write(out, list_out_fields, &shape);
    return OK;
}

enum status surface_found_json(struct ctx *ctx, const struct recall_out *found, bool explain,
                               struct buf *out)
{
    struct found_out *items = NEW_N(&ctx->arena, struct found_out, found->n);
    for (size_t i = 0; i < found->n; i++)
        items[i] = found_shape(ctx, &found->v[i], explain);
    struct search_out shape = {NULL, found->took_us, found->vectors, found->without};
    TRY(json_list(ctx, found_out_fields, items, found->n, sizeof *items, &shape.results));
    write(out, search_out_fields, &shape);
    return OK;
}

/* --- handlers --- */

static enum status add(struct ctx *ctx, struct app *app, const struct request *in,
                       struct reply *out)
{
    const struct add_in *a = in->in;
    if (a->metadata && a->metadata->type != JSON_OBJECT)
        return fail_field(ctx, "metadata", "must be an object");
    struct memory m = {
        .content = a->content,
        .key = a->key,
        .layer = (enum layer)name_index(layer_names, a->layer, LAYER_FACT),
        .type = (enum memory_type)name_index(type_names, a->type, TYPE_FACTUAL),
        .category = a->category,
        .session = a->session,
        .tags = a->tags,
        .metadata = a->metadata ? a->metadata->source : S(""),
        .importance = a->importance,
        .origin = ORIGIN_API,
        .expires = a->expires,
        .valid_from = a->valid_from,
    };
    TRY(engine_add(ctx, app->engine, in->who.pool, &m));
    out->code = 201;
    surface_memory_json(ctx, &m, &out->body);
    return OK;
}

static enum status list(struct ctx *ctx, struct app *app, const struct request *in,
                        struct reply *out)
{
    const struct list_in *l = in->in;
    struct memory_filter f = {.pool = in->who.pool,
                              .type = l->type,
                              .category = l->category,
                              .session = l->session,
                              .contains = l->contains,
                              .with_closed = l->closed,
                              .limit = (size_t)l->limit,
                              .offset = (size_t)l->offset};
    struct memory *m;
    size_t n;
    int64_t total;
    TRY(engine_list(ctx, app->engine, &f, &m, &n, &total));
    return surface_memories_json(ctx, m, n, total, &out->body);
}

static enum status get(struct ctx *ctx, struct app *app, const struct request *in,
                       struct reply *out)
{
    struct memory m;
    TRY(engine_get(ctx, app->engine, in->who.pool, in->params[0], &m));
    surface_memory_json(ctx, &m, &out->body);
    return OK;
}

static enum status erase(struct ctx *ctx, struct app *app, const struct request *in,
                         struct reply *out)
{
    struct forget what = {.pool = in->who.pool, .id = in->params[0]};
    struct erased_out shape;
    TRY(engine_forget(ctx, app->engine, &what, &shape.erased));
    reply_fields(out, erased_out_fields, &shape);
    return OK;
}

static enum status search(struct ctx *ctx, struct app *app, const struct request *in,
                          struct reply *out)
{
    const struct search_in *q = in->in;
    struct recall_in ask = {.pool = in->who.pool,
                            .question = q->query,
                            .limit = (size_t)q->limit,
                            .budget_tokens = -1};
    struct recall_out found;
    TRY(engine_recall(ctx, app->engine, &ask, &found));
    return surface_found_json(ctx, &found, q->explain, &out->body);
}

static enum status receipt(struct ctx *ctx, struct app *app, const struct request *in,
                           struct reply *out)
{
    struct receipt r;
    TRY(engine_receipt(ctx, app->engine, in->who.pool, in->params[0], &r));
    struct receipt_out shape;
    TRY(receipt_shape(ctx, &r, &shape));
    reply_fields(out, receipt_out_fields, &shape);
    return OK;
}

static const struct route routes[] = {
    {"POST", "/v1/memories", add, TAKES(add_in), .strict = true, .gives = memory_out_fields,
     .help = "remember something"},
    {"GET", "/v1/memories", list, TAKES(list_in), .strict = true, .gives = list_out_fields,
     .help = "memories, newest first"},
    {"POST", "/v1/memories/search", search, TAKES(search_in), .strict = true,
     .gives = search_out_fields, .help = "what helps to answer a question"},
    {"GET", "/v1/memories/{id}", get, .gives = memory_out_fields, .help = "one memory"},
    {"DELETE", "/v1/memories/{id}", erase, .gives = erased_out_fields,
     .help = "forget a memory, a message or a conversation by its id"},
    {"GET", "/v1/receipts/{id}", receipt, .gives = receipt_out_fields,
     .help = "what a chat was given from memory, and why; there as soon as it is safe on disk"},
    {0},
};

const struct surface surface_memories = {"memories", routes, word_openai_error, admit};
