/* settings.c - OmniRoute's settings over REST: of memory, of Qdrant, and its tools. */
#include "ext/dialects/omniroute/common.h"
#include "surface/common/list_page.h"
#include "surface/common/settings_json.h"

/*
 * OmniRoute's pages for memory and for Qdrant. Both change the server's runtime settings, under
 * OmniRoute's names (WIRE maps them); change_settings translates and stores, and the answer is the
 * state after the change. Reading needs an admin and changing the operator, since the settings are
 * those of all users. The key of Qdrant goes in and never comes out: apiKeyMasked shows its end at
 * most.
 */

enum { QUERY_MAX = 65536, PAYLOAD_MAX = 256 << 10 };

/* --- memory --- */

static const struct field memory_settings_fields[] = {
    {WIRE(BOOL, memory, "enabled")},
    {WIRE(INT, budget_tokens, "maxTokens"), .otherwise = OMNIROUTE_BUDGET},
    {WIRE(INT, retention_days, "retentionDays")},
    {WIRE(ENUM, strategy, "strategy")},
    {WIRE(BOOL, skills_enabled, "skillsEnabled")},
    {WIRE(ENUM, embedding_source, "embeddingSource")},
    {WIRE(STR, embedding_model, "embeddingProviderModel")},
    {WIRE(BOOL, embedding_transformers, "transformersEnabled")},
    {WIRE(BOOL, embedding_static, "staticEnabled")},
    {WIRE(BOOL, rerank_enabled, "rerankEnabled")},
    {WIRE(STR, rerank_model, "rerankProviderModel")},
    {WIRE(ENUM, vector_store, "vectorStore")},
    {0},
};

int64_t omniroute_budget(const struct settings *s)
{
    return setting_is_changed(s, SETTING_budget_tokens) ? s->budget_tokens : OMNIROUTE_BUDGET;
}

static HANDLER(show_memory_settings)
{
    struct settings shape = *engine_runtime(app->engine);
    shape.budget_tokens = omniroute_budget(&shape);
    return reply_fields(out, memory_settings_fields, &shape);
}

/* All members or none: one that breaks a rule leaves every setting as it was. */
static HANDLER(change_memory)
{
    TRY(change_settings(ctx, app, memory_settings_fields, in->json));
    return show_memory_settings(ctx, app, in, out);
}

/* --- qdrant --- */

#define QDRANT_ROWS                                                                                \
    {WIRE(BOOL, qdrant_enabled, "enabled")}, {WIRE(STR, qdrant_host, "host")},                     \
        {WIRE(INT, qdrant_port, "port")}, {WIRE(STR, qdrant_collection, "collection")},            \
        {WIRE(STR, qdrant_embedding_model, "embeddingModel")},                                     \
    {                                                                                              \
        WIRE(ENUM, qdrant_quantization, "quantization")                                            \
    }

static const struct field qdrant_settings_fields[] = {
    QDRANT_ROWS,
    {WIRE(STR, qdrant_api_key, "apiKey")},
    {0},
};

/* The settings, plus two members about the key in the place of the key. */
struct qdrant_out {
    struct settings settings;
    bool has_key;
    str masked;
};
static const struct field qdrant_out_fields[] = {
    QDRANT_ROWS,
    {AS_BOOL(struct qdrant_out, has_key, "hasApiKey")},
    {AS_STR(struct qdrant_out, masked, "apiKeyMasked"), .empty = EMPTY_NULL,
     .help = "the end of a long key behind ***"},
    {0},
};

/* Four characters would reveal too much of a short key. */
static str mask_key(struct ctx *ctx, str key)
{
    enum { SHOWN = 4, LONG_ENOUGH = 12 };
    str end = key.n < LONG_ENOUGH ? S("") : str_sub(key, key.n - SHOWN, key.n);
    return key.n ? str_printf(&ctx->arena, "***" S_FMT, S_ARG(end)) : S("");
}

static HANDLER(show_qdrant_settings)
{
    const struct settings *now = engine_runtime(app->engine);
    struct qdrant_out shape = {*now, now->qdrant_api_key.n > 0, mask_key(ctx, now->qdrant_api_key)};
    return reply_fields(out, qdrant_out_fields, &shape);
}

static HANDLER(change_qdrant)
{
    TRY(change_settings(ctx, app, qdrant_settings_fields, in->json));
    return show_qdrant_settings(ctx, app, in, out);
}

/* The endpoints below answer 200 with ok: false and the reason: the state of Qdrant is what they
 * report. */
static str reason_of(struct ctx *ctx, enum status s)
{
    str why = ctx_take_why(ctx);
    return s == OK ? S("") : why.n ? why : str_of(status_name(s));
}

SHAPE(health_out, (BOOL, ok), (AS_NUM, latency_ms, "latencyMs"),
      (STR, error, .empty = EMPTY_OUT, .help = "the error"));

static HANDLER(qdrant_health_now)
{
    int64_t took_us = 0;
    enum status s = engine_qdrant_health(ctx, app->engine, &took_us);
    return reply_fields(out, health_out_fields,
                        &(struct health_out){s == OK, (double)took_us / 1000, reason_of(ctx, s)});
}

SHAPE(search_in, (STR, query, .required = true, .min = 1, .max = QUERY_MAX, .help = "the query"),
      (AS_INT, limit, "topK", .otherwise = 5, .min = 1, .max = 50, .help = "most results"));

SHAPE(hit_out, (STR, id), (NUM, score),
      (JSON, payload, .empty = EMPTY_OUT, .help = "payload of the point"));

SHAPE(search_out, (BOOL, ok), (JSON, results, .inside = hit_out_fields),
      (STR, error, .empty = EMPTY_OUT, .help = "the error"));

/* The server's payload is passed on only if it is JSON. */
static const struct json *payload_of(struct ctx *ctx, str text)
{
    return text.n <= PAYLOAD_MAX ? json_of_text(ctx, text) : NULL;
}

/* Searches Qdrant alone, to see what it holds: a chat's retrieval also uses words, and ranks by
 * more than the score. */
static HANDLER(qdrant_search_now)
{
    const struct search_in *q = in->in;
    struct pool_ref everywhere = {in->who.pool.user, S("")};
    struct qdrant_hit *v = NULL;
    size_t n = 0;
    enum status s =
        engine_qdrant_search(ctx, app->engine, everywhere, q->query, (size_t)q->limit, &v, &n);
    struct search_out shape = {.ok = s == OK, .error = reason_of(ctx, s)};
    struct hit_out *items = NEW_N(&ctx->arena, struct hit_out, n);
    for (size_t i = 0; i < n; i++)
        items[i] = (struct hit_out){v[i].id, v[i].score, payload_of(ctx, v[i].payload)};
    return list_reply(ctx, search_out_fields, &shape, items, n, sizeof *items, out);
}

SHAPE(cleanup_out, (BOOL, ok), (AS_INT, deleted, "deletedCount"),
      (AS_INT, retention_days, "retentionDays"),
      (STR, error, .empty = EMPTY_OUT, .help = "the error"));

/* Only points of the caller's user; memories in the database are not touched. */
static HANDLER(clean_up)
{
    int64_t deleted = 0;
    enum status s = engine_qdrant_cleanup(ctx, app->engine, in->who.pool.user, &deleted);
    struct cleanup_out shape = {
        .ok = s == OK,
        .deleted = s == OK ? deleted : 0,
        .retention_days = engine_runtime(app->engine)->retention_days,
        .error = reason_of(ctx, s),
    };
    return reply_fields(out, cleanup_out_fields, &shape);
}

/* --- embedding models --- */

struct option {
    str value;
};
static FIELDS(option, (STR, value, .help = "provider/model"), (AS_STR, value, "label"));

static FIELDS_OF(list_page, models_out, LIST_ITEMS_AS("models", option_fields, "by value"));

ORDER(by_value, struct option, BY_TEXT(value));

/* Without duplicates; the default model is always listed. */
static HANDLER(embedding_models)
{
    struct embed_providers from = engine_embedding_providers(ctx, app->engine);
    size_t all = 1, kept = 0;
    for (size_t i = 0; i < from.n; i++)
        all += from.v[i].n_models;
    struct option *options = NEW_N(&ctx->arena, struct option, all);
    options[0].value = S("openai/text-embedding-3-small");
    for (size_t i = 0, at = 1; i < from.n; i++)
        for (size_t j = 0; j < from.v[i].n_models; j++)
            options[at++].value = str_printf(&ctx->arena, S_FMT "/" S_FMT, S_ARG(from.v[i].name),
                                             S_ARG(from.v[i].models[j].name));
    qsort(options, all, sizeof *options, by_value);
    for (size_t i = 0; i < all; i++)
        if (!kept || !str_eq(options[kept - 1].value, options[i].value))
            options[kept++] = options[i];
    struct list_page page = {0};
    return list_reply(ctx, models_out_fields, &page, options, kept, sizeof *options, out);
}

static const struct route routes[] = {
    {ROUTE("GET", "/api/settings/memory", show_memory_settings), .access = ACCESS_ADMIN,
     ANSWERS(memory_settings), .help = "current memory settings"},
    {ROUTE("PUT", "/api/settings/memory", change_memory), READS_AS(memory_settings, settings),
     .strict = true, .access = ACCESS_OPERATOR, ANSWERS(memory_settings),
     .help = "change settings; takes effect at once"},
    {ROUTE("GET", "/api/settings/qdrant", show_qdrant_settings), .access = ACCESS_ADMIN,
     ANSWERS(qdrant_out), .help = "current Qdrant settings; the key is masked"},
    {ROUTE("PUT", "/api/settings/qdrant", change_qdrant), READS_AS(qdrant_settings, settings),
     .strict = true, .access = ACCESS_OPERATOR, ANSWERS(qdrant_out),
     .help = "change settings; takes effect at once"},
    {ROUTE("GET", "/api/settings/qdrant/health", qdrant_health_now), .access = ACCESS_ADMIN,
     ANSWERS(health_out), .help = "whether Qdrant answers"},
    {ROUTE("POST", "/api/settings/qdrant/search", qdrant_search_now), .scope = MAY_READ,
     READS(search_in), .strict = true, .access = ACCESS_ADMIN, ANSWERS(search_out),
     .help = "search your memories in Qdrant"},
    {ROUTE("POST", "/api/settings/qdrant/cleanup", clean_up), .access = ACCESS_ADMIN,
     ANSWERS(cleanup_out), .help = "delete expired and outdated memories from Qdrant"},
    {ROUTE("GET", "/api/settings/qdrant/embedding-models", embedding_models),
     .access = ACCESS_ADMIN, ANSWERS(models_out),
     .help = "models that can make vectors for Qdrant"},
    {0},
};

const struct surface surface_omniroute_settings = OMNIROUTE_SURFACE(routes);
