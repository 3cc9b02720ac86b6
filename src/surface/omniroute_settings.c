/* omniroute_settings.c - OmniRoute's settings over REST: of memory, of Qdrant, and its tools. */
#include "surface/omniroute.h"
#include "surface/shapes.h"

enum { QUERY_MAX = 65536, PAYLOAD_MAX = 256 << 10 };

/* --- memory --- */

static enum status memory(struct ctx *ctx, struct app *app, const struct request *in,
                          struct reply *out)
{
    (void)ctx, (void)in;
    reply_fields(out, live_memory_fields, &engine_live(app->engine)->memory);
    return OK;
}

static enum status change_memory(struct ctx *ctx, struct app *app, const struct request *in,
                                 struct reply *out)
{
    TRY(engine_change_memory_settings(ctx, app->engine, in->json));
    return memory(ctx, app, in, out);
}

/* --- qdrant --- */

struct qdrant_out {
    bool enabled, has_key;
    str host, collection, embedding_model, quantization, masked;
    int64_t port;
};
static const struct field qdrant_out_fields[] = {
    {BOOL(struct qdrant_out, enabled)},
    {STR(struct qdrant_out, host)},
    {INT(struct qdrant_out, port)},
    {STR(struct qdrant_out, collection)},
    {AS_STR(struct qdrant_out, embedding_model, "embeddingModel")},
    {STR(struct qdrant_out, quantization), .help = "none, int8 or binary"},
    {AS_BOOL(struct qdrant_out, has_key, "hasApiKey")},
    {AS_STR(struct qdrant_out, masked, "apiKeyMasked"), .empty = EMPTY_NULL,
     .help = "the end of a long key behind ***"},
    {0},
};

/* Four characters of a short key would be too much of it. */
static str mask(struct ctx *ctx, str key)
{
    enum { SHOWN = 4, LONG_ENOUGH = 12 };
    if (!key.n)
        return S("");
    if (key.n < LONG_ENOUGH)
        return S("***");
    return str_printf(&ctx->arena, "***" S_FMT, S_ARG(str_sub(key, key.n - SHOWN, key.n)));
}

static enum status qdrant(struct ctx *ctx, struct app *app, const struct request *in,
                          struct reply *out)
{
    const struct live_qdrant *q = &engine_live(app->engine)->qdrant;
    (void)in;
    struct qdrant_out shape = {.enabled = q->enabled,
                               .host = q->host,
                               .port = q->port,
                               .collection = q->collection,
                               .embedding_model = q->embedding_model,
                               .quantization = q->quantization,
                               .has_key = q->api_key.n > 0,
                               .masked = mask(ctx, q->api_key)};
    reply_fields(out, qdrant_out_fields, &shape);
    return OK;
}

static enum status change_qdrant(struct ctx *ctx, struct app *app, const struct request *in,
                                 struct reply *out)
{
    TRY(engine_change_qdrant_settings(ctx, app->engine, in->json));
    return qdrant(ctx, app, in, out);
}

/*
 * The tools below say ok: false with the reason, under 200: their caller asked how Qdrant does, and
 * that is the answer.
 */
static str reason_of(struct ctx *ctx, enum status s)
{
    str why = str_dup(&ctx->arena, str_of(ctx->why[0] ? ctx->why : status_name(s)));
    ctx_clear_failure(ctx);
    return s == OK ? S("") : why;
}

struct health_out {
    bool ok;
    double latency_ms;
    str error;
};
static const struct field health_out_fields[] = {
    {BOOL(struct health_out, ok), .required = true},
    {AS_NUM(struct health_out, latency_ms, "latencyMs"), .required = true},
    {STR(struct health_out, error), .empty = EMPTY_OUT, .help = "what is wrong"},
    {0},
};

static enum status health(struct ctx *ctx, struct app *app, const struct request *in,
                          struct reply *out)
{
    int64_t took_us = 0;
    (void)in;
    enum status s = engine_qdrant_health(ctx, app->engine, &took_us);
    struct health_out shape = {s == OK, (double)took_us / 1000, reason_of(ctx, s)};
    reply_fields(out, health_out_fields, &shape);
    return OK;
}

struct search_in {
    str query;
    int64_t limit;
};
static const struct field search_in_fields[] = {
    {STR(struct search_in, query), .required = true, .min = 1, .max = QUERY_MAX,
     .help = "what to look for"},
    {AS_INT(struct search_in, limit, "topK"), .otherwise = 5, .min = 1, .max = 50,
     .help = "most results"},
    {0},
};

struct hit_out {
    str id;
    double score;
    const struct json *payload;
};
static const struct field hit_out_fields[] = {
    {STR(struct hit_out, id)},
    {NUM(struct hit_out, score)},
    {JSON(struct hit_out, payload), .empty = EMPTY_OUT, .help = "what Qdrant keeps of it"},
    {0},
};

struct search_out {
    bool ok;
    const struct json *results;
    str error;
};
static const struct field search_out_fields[] = {
    {BOOL(struct search_out, ok), .required = true},
    {JSON(struct search_out, results), .required = true, .inside = hit_out_fields},
    {STR(struct search_out, error), .empty = EMPTY_OUT, .help = "what is wrong"},
    {0},
};

/* A server's own words are passed on only when they are JSON. */
static const struct json *payload_of(struct ctx *ctx, str text)
{
    struct json *v;
    if (!text.n || text.n > PAYLOAD_MAX)
        return NULL;
    if (json_parse(ctx, text, &v) == OK)
        return v;
    ctx_clear_failure(ctx);
    return NULL;
}

static enum status search(struct ctx *ctx, struct app *app, const struct request *in,
                          struct reply *out)
{
    const struct search_in *q = in->in;
    struct pool_ref everywhere = {in->who.pool.user, S("")};
    struct engine_hit *v = NULL;
    size_t n = 0;
    enum status s =
        engine_qdrant_search(ctx, app->engine, everywhere, q->query, (size_t)q->limit, &v, &n);
    struct search_out shape = {.ok = s == OK, .error = reason_of(ctx, s)};
    n = s == OK ? n : 0;
    struct hit_out *items = NEW_N(&ctx->arena, struct hit_out, n);
    for (size_t i = 0; i < n; i++)
        items[i] = (struct hit_out){v[i].id, v[i].score, payload_of(ctx, v[i].payload)};
    TRY(json_list(ctx, hit_out_fields, items, n, sizeof *items, &shape.results));
    reply_fields(out, search_out_fields, &shape);
    return OK;
}

struct cleanup_out {
    bool ok;
    int64_t deleted, retention_days;
    str error;
};
static const struct field cleanup_out_fields[] = {
    {BOOL(struct cleanup_out, ok), .required = true},
    {AS_INT(struct cleanup_out, deleted, "deletedCount"), .required = true},
    {AS_INT(struct cleanup_out, retention_days, "retentionDays"), .required = true},
    {STR(struct cleanup_out, error), .empty = EMPTY_OUT, .help = "what is wrong"},
    {0},
};

static enum status clean_up(struct ctx *ctx, struct app *app, const struct request *in,
                            struct reply *out)
{
    int64_t deleted = 0;
    enum status s = engine_qdrant_cleanup(ctx, app->engine, in->who.pool.user, &deleted);
    struct cleanup_out shape = {
        .ok = s == OK,
        .deleted = s == OK ? deleted : 0,
        .retention_days = engine_live(app->engine)->memory.retention_days,
        .error = reason_of(ctx, s),
    };
    reply_fields(out, cleanup_out_fields, &shape);
    return OK;
}

/* --- embedding models --- */

struct option {
    str value, label;
};
static const struct field option_fields[] = {
    {STR(struct option, value), .help = "provider/model"},
    {STR(struct option, label)},
    {0},
};

struct models_out {
    const struct json *models;
};
static const struct field models_out_fields[] = {
    {JSON(struct models_out, models), .inside = option_fields, .help = "by value"},
    {0},
};

static int by_value(const void *a, const void *b)
{
    return str_cmp(((const struct option *)a)->value, ((const struct option *)b)->value);
}

/* Each once; the default is always there. */
static enum status embedding_models(struct ctx *ctx, struct app *app, const struct request *in,
                                    struct reply *out)
{
    struct embedding_provider *v;
    size_t n, all = 1, kept = 0;
    (void)in;
    TRY(engine_embedding_providers(ctx, app->engine, &v, &n));
    for (size_t i = 0; i < n; i++)
        all += v[i].n;
    struct option *options = NEW_N(&ctx->arena, struct option, all);
    options[0].value = S("openai/text-embedding-3-small");
    for (size_t i = 0, at = 1; i < n; i++)
        for (size_t j = 0; j < v[i].n; j++)
            options[at++].value = v[i].models[j].name;
    qsort(options, all, sizeof *options, by_value);
    for (size_t i = 0; i < all; i++)
        if (!kept || !str_eq(options[kept - 1].value, options[i].value))
            options[kept++] = (struct option){options[i].value, options[i].value};
    struct models_out shape;
    TRY(json_list(ctx, option_fields, options, kept, sizeof *options, &shape.models));
    reply_fields(out, models_out_fields, &shape);
    return OK;
}

static const struct route routes[] = {
    {"GET", "/api/settings/memory", memory, .access = ACCESS_ADMIN, .gives = live_memory_fields,
     .help = "the settings of memory that act now"},
    {"PUT", "/api/settings/memory", change_memory, TAKES(live_memory), .strict = true,
     .access = ACCESS_ADMIN, .gives = live_memory_fields,
     .help = "change those that are named; they act at once"},
    {"GET", "/api/settings/qdrant", qdrant, .access = ACCESS_ADMIN, .gives = qdrant_out_fields,
     .help = "the settings of Qdrant; its key is masked"},
    {"PUT", "/api/settings/qdrant", change_qdrant, TAKES(live_qdrant), .strict = true,
     .access = ACCESS_ADMIN, .gives = qdrant_out_fields,
     .help = "change those that are named; they act at once"},
    {"GET", "/api/settings/qdrant/health", health, .access = ACCESS_ADMIN,
     .gives = health_out_fields, .help = "whether Qdrant answers"},
    {"POST", "/api/settings/qdrant/search", search, TAKES(search_in), .strict = true,
     .access = ACCESS_ADMIN, .gives = search_out_fields,
     .help = "what Qdrant finds among your memories"},
    {"POST", "/api/settings/qdrant/cleanup", clean_up, .access = ACCESS_ADMIN,
     .gives = cleanup_out_fields, .help = "remove from Qdrant what has expired or is too old"},
    {"GET", "/api/settings/qdrant/embedding-models", embedding_models, .access = ACCESS_ADMIN,
     .gives = models_out_fields, .help = "models that can make vectors for Qdrant"},
    {0},
};

const struct surface surface_omniroute_settings = {"omniroute", routes, word_omniroute_error,
                                                   admit_manager};
