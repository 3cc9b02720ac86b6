/* memories.c - memories, search and receipts over plain REST. */
#include <assert.h>

#include "surface/common/auth.h"
#include "surface/common/dialects.h"
#include "surface/common/error_body.h"
#include "surface/common/memory_json.h"

/*
 * The plain way to the memories, for programs that speak no product's dialect: /v1/memories,
 * /v1/memories/{id}, /v1/memories/search and /v1/receipts/{id}. Input is read strictly and failures
 * are problems (RFC 9457). Ids are found in every space in reach; lists and searches are of the
 * request's space. The command line uses the same writers
 * (surface_…_json), so both print the same JSON.
 */

/* --- shapes --- */

/* closed asks for history: memories that were superseded, merged or have expired. */
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
    {BOOL(struct list_in, closed), .help = "include closed and expired memories"},
    {INT(struct list_in, limit), .otherwise = 50, .min = 1, .max = 500, .help = "most results"},
    {INT(struct list_in, offset), .max = 1e9, .help = "results to skip"},
    {0},
};

struct list_out {
    const struct json *memories;
    int64_t total;
};
static const struct field list_out_fields[] = {
    {JSON(struct list_out, memories), .inside = memory_fields, .help = "newest first"},
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
    {BOOL(struct search_in, explain), .help = "include reasons in words and numbers"},
    {0},
};

/* vectors and without are left out when empty: they are there to tell a search by words alone from
 * one by meaning. */
struct search_out {
    const struct json *results;
    int64_t took_us;
    str vectors, without;
};
static const struct field search_out_fields[] = {
    {JSON(struct search_out, results), .inside = found_out_fields,
     .help = "memories and messages, best first"},
    {INT(struct search_out, took_us), .help = "duration in microseconds"},
    {STR(struct search_out, vectors), .empty = EMPTY_OUT,
     .help = "source of the vectors that were used"},
    {STR(struct search_out, without), .empty = EMPTY_OUT,
     .help = "why no vectors were used although a source is configured"},
    {0},
};

struct erased_out {
    int64_t erased, barred;
};
static const struct field erased_out_fields[] = {
    {INT(struct erased_out, erased), .help = "number of erased memories and messages"},
    {INT(struct erased_out, barred),
     .help = "number of statements in messages that recall no longer gives; the messages stay in "
             "their conversation's history unless it is erased"},
    {0},
};

/* --- writing --- */

static void write_shape(struct buf *out, const struct field *table, const void *shape)
{
    struct json_out w = json_to(out);
    fields_write(&w, table, shape);
}

void surface_memory_json(struct ctx *ctx, const struct memory *m, struct buf *out)
{
    (void)ctx;
    write_shape(out, memory_fields, m);
}

enum status surface_memories_json(struct ctx *ctx, const struct memory *v, size_t n, int64_t total,
                                  struct buf *out)
{
    struct list_out shape = {.total = total};
    TRY(json_list(ctx, memory_fields, v, n, sizeof *v, &shape.memories));
    write_shape(out, list_out_fields, &shape);
    return OK;
}

/* explain costs text for each result and is off unless asked for. */
enum status surface_found_json(struct ctx *ctx, const struct recall_out *found, bool explain,
                               struct buf *out)
{
    struct found_out *items = NEW_N(&ctx->arena, struct found_out, found->n);
    for (size_t i = 0; i < found->n; i++)
        items[i] = found_shape(ctx, &found->v[i], explain);
    struct search_out shape = {NULL, found->took_us, found->vectors, found->without};
    TRY(json_list(ctx, found_out_fields, items, found->n, sizeof *items, &shape.results));
    write_shape(out, search_out_fields, &shape);
    return OK;
}

/* --- handlers --- */

/* 201 also when the same was known already and the memory that said it was kept: the client gets
 * the one that is in force. */
static enum status memory_add(struct ctx *ctx, struct app *app, const struct request *in,
                              struct reply *out)
{
    struct memory m = *(const struct memory *)in->in;
    assert(in->who.pool.user.n);
    m.origin = ORIGIN_API;
    TRY(engine_add(ctx, app->engine, in->who.pool, &m));
    out->code = 201;
    surface_memory_json(ctx, &m, &out->body);
    return OK;
}

/* total counts all that match, so that a client can page with limit and offset. */
static enum status memory_list(struct ctx *ctx, struct app *app, const struct request *in,
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

static enum status memory_get(struct ctx *ctx, struct app *app, const struct request *in,
                              struct reply *out)
{
    struct memory m;
    TRY(auth_find_memory(ctx, app, &in->who, in->params[0], &m));
    surface_memory_json(ctx, &m, &out->body);
    return OK;
}

/* The id may be of a memory, a message or a conversation. erased counts what is gone; barred counts
 * statements in messages that stay but are not recalled. */
static enum status memory_erase(struct ctx *ctx, struct app *app, const struct request *in,
                                struct reply *out)
{
    struct erased_out shape = {0};
    TRY(auth_forget(ctx, app, &in->who, in->params[0], &shape.erased, &shape.barred));
    reply_fields(out, erased_out_fields, &shape);
    return OK;
}

/* First what a chat would be given, in its order, then what else is found. */
static enum status memory_search(struct ctx *ctx, struct app *app, const struct request *in,
                                 struct reply *out)
{
    const struct search_in *q = in->in;
    struct recall_in ask = {.pool = in->who.pool, .question = q->query, .limit = (size_t)q->limit};
    struct recall_out found;
    TRY(engine_search(ctx, app->engine, &ask, &found));
    return surface_found_json(ctx, &found, q->explain, &out->body);
}

/* A receipt is the record of what a chat was given. It belongs to one space, and the client may
 * have named another one since. */
static enum status receipt_get(struct ctx *ctx, struct app *app, const struct request *in,
                               struct reply *out)
{
    struct receipt r;
    struct receipt_out shape;
    struct pool_ref *pools;
    size_t n, i = 0;
    enum status s;
    TRY(auth_pools(ctx, app, &in->who, &pools, &n));
    do {
        ctx_clear_failure(ctx);
        s = engine_receipt(ctx, app->engine, pools[i], in->params[0], &r);
    } while (s == NOT_FOUND && ++i < n);
    TRY(s);
    TRY(receipt_shape(ctx, &r, &shape));
    reply_fields(out, receipt_out_fields, &shape);
    return OK;
}

static const struct route routes[] = {
    {ROUTE("POST", "/v1/memories", memory_add), .words.code = 201, READS_AS(memory_add, memory),
     .strict = true, ANSWERS(memory), .help = "add a memory"},
    {ROUTE("GET", "/v1/memories", memory_list), READS(list_in), .strict = true, ANSWERS(list_out),
     .help = "memories, newest first"},
    {ROUTE("POST", "/v1/memories/search", memory_search), READS(search_in), .strict = true,
     ANSWERS(search_out), .help = "search memories and messages"},
    {ROUTE("GET", "/v1/memories/{id}", memory_get), ANSWERS(memory), .help = "one memory"},
    {ROUTE("DELETE", "/v1/memories/{id}", memory_erase), ANSWERS(erased_out),
     .help = "erase a memory, a message or a conversation by its id"},
    {ROUTE("GET", "/v1/receipts/{id}", receipt_get), ANSWERS(receipt_out),
     .help = "what memory a chat got, and why; available once written to disk"},
    {0},
};

const struct surface surface_memories = {"memories",        routes,
                                         word_problem, auth_agent_request,
                                         SURFACE_SETTLES,   .errors = &problem_errors};
