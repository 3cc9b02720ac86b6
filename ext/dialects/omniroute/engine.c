/* engine.c - OmniRoute's engine over REST: preview, status, reindex. */
#include <assert.h>
#include <math.h>

#include "core/tokens.h"

#include "ext/dialects/omniroute/common.h"
#include "surface/common/memory_json.h"

/*
 * How retrieval works, for its owner: /retrieve-preview shows what a chat would be given for a
 * question and how it was ranked, /engine-status the state of each part, /embedding-providers which
 * models could make vectors, and /reindex makes them anew. Names of stores and tiers are
 * OmniRoute's, so its dashboard understands them. The preview needs no admin, since it shows the
 * caller's own memories; the others are about the server.
 */

/* NEWEST is the page of a preview by time, where nothing is ranked. */
enum { QUERY_MAX = 65536, SPACE_MAX = 200, NEWEST = 20, GATE_MAX = 8192 };

static const char key_help[] = "a key of yours, or a space by its name; without it all of yours";

/* --- preview --- */

/* In the order of enum strategy. */
static const char *const strategies[] = {"hybrid", "semantic", "exact", NULL};

struct preview_in {
    str query, api_key, strategy;
    int64_t max_tokens, limit;
    bool explain;
};
static const struct field preview_in_fields[] = {
    {STR(struct preview_in, query), .required = true, .min = 1, .max = QUERY_MAX,
     .help = "the query"},
    {STR(struct preview_in, strategy), .one_of = strategies,
     .help = "hybrid: words and vectors; semantic: vectors; exact: the newest; default: the "
             "setting strategy"},
    {AS_INT(struct preview_in, max_tokens, "maxTokens"), .min = 1, .max = 16000,
     .help = "token budget of all contents; at most 8000 are used; default: what a chat has room "
             "for"},
    {AS_STR(struct preview_in, api_key, "apiKeyId"), .max = SPACE_MAX, .help = key_help},
    {INT(struct preview_in, limit), .min = 1, .max = RECALL_LIMIT_MAX,
     .help = "most results; default: as many as a chat is given, 20 of the newest"},
    {BOOL(struct preview_in, explain), .help = "say what the gate of chats decides, and why"},
    {0},
};

/* score is what the list is ordered by; vecScore and ftsScore are parts of it that took part, or
 * null. */
struct preview_line {
    str id, key, content, tier;
    enum memory_type type;
    double score, vector_score, words_score;
    int64_t tokens;
};
static const struct field preview_line_fields[] = {
    {STR(struct preview_line, id)},
    {ENUM(struct preview_line, type), .one_of = type_names},
    {STR(struct preview_line, key)},
    {STR(struct preview_line, content)},
    {NUM(struct preview_line, score)},
    {INT(struct preview_line, tokens)},
    {STR(struct preview_line, tier), .help = "fts5, vector, hybrid-rrf or qdrant"},
    {AS_NUM(struct preview_line, vector_score, "vecScore"), .empty = EMPTY_NULL,
     .help = "cosine; null: vectors were not used"},
    {AS_NUM(struct preview_line, words_score, "ftsScore"), .empty = EMPTY_NULL,
     .help = "share of the query's weight that its words hold; null: none"},
    {0},
};

/* What was really used, which may differ from what was asked: fallbackReason says why, step by
 * step. */
struct resolution {
    str source, model, store, fallback;
    enum strategy strategy;
    bool is_reranked;
};
static const struct field resolution_fields[] = {
    {AS_STR(struct resolution, source, "embeddingSource"), .empty = EMPTY_NULL,
     .help = "remote, static, transformers or encoder"},
    {AS_STR(struct resolution, model, "embeddingModel"), .empty = EMPTY_NULL},
    {AS_STR(struct resolution, store, "vectorStore"), .help = "sqlite-vec, qdrant or none"},
    {AS_ENUM(struct resolution, strategy, "strategyUsed"), .one_of = strategies},
    {AS_BOOL(struct resolution, is_reranked, "rerankApplied")},
    {AS_STR(struct resolution, fallback, "fallbackReason"), .empty = EMPTY_NULL,
     .help = "why the strategy differs from the request"},
    {0},
};

/* With explain only: the list shows what was found, the gate what a chat would take of it. */
struct gate_out {
    str decision, reason;
    int64_t memories, messages;
};
static const struct field gate_out_fields[] = {
    {STR(struct gate_out, decision), .help = "the decision of the relevance gate of chats"},
    {STR(struct gate_out, reason), .help = "why"},
    {INT(struct gate_out, memories), .help = "how many of the first memories a chat is given"},
    {INT(struct gate_out, messages),
     .help = "how many messages of conversations a chat is given beside them"},
    {0},
};

struct preview_out {
    const struct json *memories;
    struct resolution resolution;
    const struct json *gate;
    int64_t tokens, budget;
};
static const struct field preview_out_fields[] = {
    {JSON(struct preview_out, memories), .inside = preview_line_fields, .help = "best first"},
    {FIELD_(struct preview_out, resolution, struct resolution, FIELD_OBJECT, "resolution"),
     .inside = resolution_fields},
    {AS_INT(struct preview_out, tokens, "totalTokensUsed")},
    {AS_INT(struct preview_out, budget, "budgetMaxTokens"),
     .help = "the requested budget; default: the setting maxTokens"},
    {JSON(struct preview_out, gate), .empty = EMPTY_OUT,
     .help = "with explain: decision, reason, and how many memories and messages a chat is given"},
    {0},
};

/* One for all lines, as each was ranked by all that took part. */
static const char *tier_of(const struct recall_steps *steps)
{
    if (str_is(steps->store, "qdrant"))
        return "qdrant";
    if (str_is(steps->store, "none"))
        return "fts5";
    return steps->strategy == STRATEGY_SEMANTIC ? "vector" : "hybrid-rrf";
}

/* NaN is written as null. */
static double score_or_null(double score)
{
    return score > 0 ? score : NAN;
}

/* As clients know it: the reranking model's, by meaning alone the cosine, else recall's. */
static double shown_score(const struct recall_steps *steps, const struct recalled *r)
{
    if (steps->is_reranked && !isnan(r->measured.ordered))
        return r->measured.ordered;
    return steps->strategy == STRATEGY_SEMANTIC && r->measured.cosine > 0 ? r->measured.cosine
                                                                          : r->score;
}

/* Memories only; engine_memories_within has taken the messages out. */
static enum status preview_lines(struct ctx *ctx, const struct recall_out *found,
                                 const struct json **out)
{
    struct preview_line *lines = NEW_N(&ctx->arena, struct preview_line, found->n);
    for (size_t i = 0; i < found->n; i++) {
        const struct recalled *r = &found->v[i];
        lines[i] = (struct preview_line){
            .id = r->memory.id,
            .type = r->memory.type,
            .key = r->memory.key,
            .content = r->memory.content,
            .tier = str_of(tier_of(&found->steps)),
            .score = shown_score(&found->steps, r),
            .vector_score = score_or_null(r->measured.cosine),
            .words_score = score_or_null(recalled_signal(r, "share")),
            .tokens = r->tokens,
        };
    }
    return json_list(ctx, preview_line_fields, lines, found->n, sizeof *lines, out);
}

/* Without a name the setting; the table has refused unknown ones. */
static enum strategy strategy_of(const struct app *app, str name)
{
    int i = 0;
    while (strategies[i] && !str_is(name, strategies[i]))
        i++;
    return strategies[i] ? (enum strategy)i : engine_runtime(app->engine)->memory.strategy;
}

/* What a chat is given of what was found. */
static const struct json *gate_of(struct ctx *ctx, const struct app *app,
                                  const struct recall_out *found)
{
    struct buf b = buf_make(&ctx->arena, GATE_MAX);
    struct json_out w = json_to(&b);
    struct json *out = NEW(&ctx->arena, struct json);
    struct gate_out gate = {.decision = found->decision, .reason = found->reason};
    for (size_t i = 0; i < found->n_given; i++) {
        gate.memories += found->v[i].state == LINE_INJECTED && found->v[i].is_memory;
        gate.messages += found->v[i].state == LINE_INJECTED && !found->v[i].is_memory;
    }
    if (!engine_remembers(app->engine)) {
        gate.decision = S("off");
        gate.reason = S("memory is switched off for chats; with memory they would be given this");
    }
    fields_write(&w, gate_out_fields, &gate);
    *out = (struct json){.type = JSON_OBJECT, .source = buf_str(&b)};
    return out;
}

static struct resolution resolution_of(const struct recall_steps *steps)
{
    return (struct resolution){.source = steps->source,
                               .model = steps->model,
                               .store = steps->store,
                               .strategy = steps->strategy,
                               .fallback = steps->fallback,
                               .is_reranked = steps->is_reranked};
}

/* What a chat would be given. */
static enum status preview_retrieval(struct ctx *ctx, struct app *app, const struct request *in,
                                     struct reply *out)
{
    const struct preview_in *p = in->in;
    int64_t setting = engine_runtime(app->engine)->memory.max_tokens;
    struct recall_out found;
    struct recall_in ask = {.question = p->query,
                            .by.strategy = strategy_of(app, p->strategy),
                            .gate = true,
                            .limit = (size_t)p->limit};
    if (!ask.limit && ask.by.strategy == STRATEGY_RECENT)
        ask.limit = NEWEST;
    ask.budget_tokens = ask.limit || p->max_tokens ? -1 : 0;
    TRY(managed_pool(ctx, app, in, p->api_key, &ask.pool));
    ask.scope = ask.pool.space.n ? SCOPE_SPACE : SCOPE_USER;
    TRY(engine_search(ctx, app->engine, &ask, &found));
    struct preview_out shape = {.resolution = resolution_of(&found.steps),
                                .gate = p->explain ? gate_of(ctx, app, &found) : NULL,
                                .budget = p->max_tokens ? p->max_tokens : setting};
    engine_memories_within(ctx, &found, ask.limit ? ask.limit : RECALL_LIMIT_MAX, shape.budget);
    shape.tokens = found.tokens;
    TRY(preview_lines(ctx, &found, &shape.memories));
    reply_fields(out, preview_out_fields, &shape);
    return OK;
}

/* --- status --- */

struct keyword_tier {
    bool available;
    str backend;
};
static const struct field keyword_tier_fields[] = {
    {BOOL(struct keyword_tier, available)},
    {STR(struct keyword_tier, backend)},
    {0},
};

struct embedding_cache {
    int64_t hits, misses, size;
};
static const struct field embedding_cache_fields[] = {
    {INT(struct embedding_cache, hits)},
    {INT(struct embedding_cache, misses)},
    {INT(struct embedding_cache, size)},
    {0},
};

/* available: a text could be embedded now. dimensions may be unknown before the first vector. */
struct embedding_tier {
    str source, model, reason;
    int64_t dimensions;
    bool available;
    struct embedding_cache cache;
};
static const struct field embedding_tier_fields[] = {
    {STR(struct embedding_tier, source), .empty = EMPTY_NULL,
     .help = "remote, static, transformers or encoder; null: none"},
    {STR(struct embedding_tier, model), .empty = EMPTY_NULL},
    {INT(struct embedding_tier, dimensions), .empty = EMPTY_NULL, .help = "null: not known yet"},
    {BOOL(struct embedding_tier, available)},
    {STR(struct embedding_tier, reason), .help = "why it is unavailable, or empty"},
    {FIELD_(struct embedding_tier, cache, struct embedding_cache, FIELD_OBJECT, "cacheStats"),
     .inside = embedding_cache_fields},
    {0},
};

/* The built-in store is reported under OmniRoute's name. */
struct vector_tier {
    str backend, reason;
    bool available;
    int64_t rows, waiting, failed;
};
static const struct field vector_tier_fields[] = {
    {STR(struct vector_tier, backend), .help = "sqlite-vec (the built-in store), qdrant or none"},
    {BOOL(struct vector_tier, available)},
    {AS_INT(struct vector_tier, rows, "rowCount")},
    {AS_INT(struct vector_tier, waiting, "needsReindex"), .help = "memories waiting for a vector"},
    {INT(struct vector_tier, failed), .help = "memories whose vector failed"},
    {STR(struct vector_tier, reason), .help = "why it is unavailable, or empty"},
    {0},
};

struct qdrant_tier {
    bool enabled;
    const struct json *healthy;
    double latency_ms;
    str error, note;
    int64_t pending;
};
static const struct field qdrant_tier_fields[] = {
    {BOOL(struct qdrant_tier, enabled)},
    {JSON(struct qdrant_tier, healthy), .help = "true or false; null: not checked"},
    {AS_NUM(struct qdrant_tier, latency_ms, "latencyMs"), .empty = EMPTY_NULL},
    {STR(struct qdrant_tier, error), .empty = EMPTY_NULL},
    {INT(struct qdrant_tier, pending), .help = "memories not synced yet"},
    {STR(struct qdrant_tier, note),
     .help = "differences from the settings that do not prevent use"},
    {0},
};

struct rerank_tier {
    bool enabled, available;
    str provider, model, reason;
};
static const struct field rerank_tier_fields[] = {
    {BOOL(struct rerank_tier, enabled)},
    {STR(struct rerank_tier, provider), .empty = EMPTY_NULL},
    {STR(struct rerank_tier, model), .empty = EMPTY_NULL},
    {BOOL(struct rerank_tier, available)},
    {STR(struct rerank_tier, reason), .help = "why it is unavailable, or empty"},
    {0},
};

struct status_out {
    struct keyword_tier keyword;
    struct embedding_tier embedding;
    struct vector_tier vectors;
    struct qdrant_tier qdrant;
    struct rerank_tier rerank;
};
#define TIER(MEMBER, TYPE, NAME)                                                                   \
    {                                                                                              \
        FIELD_(struct status_out, MEMBER, struct TYPE, FIELD_OBJECT, NAME),                        \
            .inside = TYPE##_fields                                                                \
    }
static const struct field status_out_fields[] = {
    TIER(keyword, keyword_tier, "keyword"),    TIER(embedding, embedding_tier, "embedding"),
    TIER(vectors, vector_tier, "vectorStore"), TIER(qdrant, qdrant_tier, "qdrant"),
    TIER(rerank, rerank_tier, "rerank"),       {0},
};

/* healthy has three values, so it is JSON: null when Qdrant was not asked. */
static struct qdrant_tier qdrant_tier(const struct engine_status *s)
{
    static const struct json yes = {.type = JSON_BOOL, .source = {"true", 4}},
                             no = {.type = JSON_BOOL, .source = {"false", 5}};
    return (struct qdrant_tier){
        .enabled = s->qdrant.enabled,
        .healthy = !s->qdrant.probed   ? NULL
                   : s->qdrant.healthy ? &yes
                                       : &no,
        .latency_ms = s->qdrant.took_us ? (double)s->qdrant.took_us / 1000 : NAN,
        .error = s->qdrant.error,
        .note = s->qdrant.note,
        .pending = s->qdrant.waiting,
    };
}

/* "provider/model" in two members, as OmniRoute shows it; without a slash there is only a model. */
static struct rerank_tier rerank_tier(const struct engine_status *s)
{
    str provider = s->rerank.model, model = model_of(provider);
    provider.n = model.n < provider.n ? provider.n - model.n - 1 : 0;
    return (struct rerank_tier){s->rerank.enabled, s->rerank.available, provider, model,
                                s->rerank.reason};
}

/* The true is a probe: Qdrant and the reranker are asked now, so this takes as long as they
 * take. */
static enum status show_status(struct ctx *ctx, struct app *app, const struct request *in,
                               struct reply *out)
{
    struct pool_ref everywhere = {in->who.pool.user, S("")};
    struct engine_status s;
    TRY(engine_status(ctx, app->engine, everywhere, true, &s));
    struct status_out shape = {
        .keyword = {s.words_ok, S("FTS5")},
        .embedding = {str_of(s.embedding.source),
                      s.embedding.model,
                      s.embedding.reason,
                      s.embedding.dimensions,
                      s.embedding.available,
                      {(int64_t)s.embedding.hits, (int64_t)s.embedding.misses, s.embedding.size}},
        .vectors = {str_of(s.vectors.backend ? s.vectors.backend : "none"), s.vectors.reason,
                    s.vectors.available, s.vectors.rows, s.vectors.waiting, s.vectors.failed},
        .qdrant = qdrant_tier(&s),
        .rerank = rerank_tier(&s),
    };
    reply_fields(out, status_out_fields, &shape);
    return OK;
}

/* --- providers --- */

struct model_out {
    str id, name;
    int64_t dimensions;
};
static const struct field model_out_fields[] = {
    {STR(struct model_out, id), .help = "provider/model"},
    {STR(struct model_out, name)},
    {INT(struct model_out, dimensions), .empty = EMPTY_NULL, .help = "null: not known"},
    {0},
};

struct provider_out {
    str provider;
    bool has_key;
    const struct json *models;
};
static const struct field provider_out_fields[] = {
    {STR(struct provider_out, provider)},
    {AS_BOOL(struct provider_out, has_key, "hasKey"),
     .help = "whether a key is configured or not needed"},
    {JSON(struct provider_out, models), .inside = model_out_fields},
    {0},
};

struct providers_out {
    const struct json *providers;
};
static const struct field providers_out_fields[] = {
    {JSON(struct providers_out, providers), .inside = provider_out_fields},
    {0},
};

static enum status models_of(struct ctx *ctx, const struct embedding_provider *p,
                             const struct json **out)
{
    struct model_out *v = NEW_N(&ctx->arena, struct model_out, p->n);
    for (size_t i = 0; i < p->n; i++)
        v[i] = (struct model_out){p->models[i].name, model_of(p->models[i].name),
                                  p->models[i].dimensions};
    return json_list(ctx, model_out_fields, v, p->n, sizeof *v, out);
}

static enum status list_providers(struct ctx *ctx, struct app *app, const struct request *in,
                                  struct reply *out)
{
    struct embedding_provider *v;
    size_t n;
    (void)in;
    TRY(engine_embedding_providers(ctx, app->engine, &v, &n));
    struct provider_out *items = NEW_N(&ctx->arena, struct provider_out, n);
    for (size_t i = 0; i < n; i++) {
        items[i] = (struct provider_out){v[i].name, v[i].has_key, NULL};
        TRY(models_of(ctx, &v[i], &items[i].models));
    }
    struct providers_out shape;
    TRY(json_list(ctx, provider_out_fields, items, n, sizeof *items, &shape.providers));
    reply_fields(out, providers_out_fields, &shape);
    return OK;
}

/* --- reindex --- */

struct reindex_in {
    bool force;
};
static const struct field reindex_in_fields[] = {
    {BOOL(struct reindex_in, force), .help = "recreate all vectors, not only missing ones"},
    {0},
};

struct reindex_out {
    bool started;
    int64_t pending;
};
static const struct field reindex_out_fields[] = {
    {BOOL(struct reindex_out, started), .required = true},
    {INT(struct reindex_out, pending), .required = true,
     .help = "your memories waiting for a vector; engine-status shows progress as "
             "vectorStore.needsReindex"},
    {0},
};

/* Reindexes the whole server and counts the caller's memories only. */
static enum status reindex_vectors(struct ctx *ctx, struct app *app, const struct request *in,
                                   struct reply *out)
{
    const struct reindex_in *r = in->in;
    struct pool_ref everywhere = {in->who.pool.user, S("")};
    struct engine_status s;
    struct job_info job;
    int64_t waiting;
    TRY(engine_reindex(ctx, app->engine, r->force, &waiting));
    /* A job watches it, unless one does already. */
    soft(ctx, engine_begin_job(ctx, app->engine, &(struct job_ask){.kind = JOB_REINDEX}, &job));
    TRY(engine_status(ctx, app->engine, everywhere, false, &s));
    reply_fields(out, reindex_out_fields, &(struct reindex_out){true, s.vectors.waiting});
    return OK;
}

static const struct route routes[] = {
    {ROUTE("POST", "/api/memory/retrieve-preview", preview_retrieval), READS(preview_in),
     .strict = true, ANSWERS(preview_out), .help = "preview of a retrieval; changes nothing"},
    {ROUTE("GET", "/api/memory/engine-status", show_status), .access = ACCESS_ADMIN,
     ANSWERS(status_out), .help = "state of search by words, vectors, Qdrant and reranking"},
    {ROUTE("GET", "/api/memory/embedding-providers", list_providers), .access = ACCESS_ADMIN,
     ANSWERS(providers_out), .help = "embedding providers"},
    {ROUTE("POST", "/api/memory/reindex", reindex_vectors), READS(reindex_in), .strict = true,
     .access = ACCESS_OPERATOR, ANSWERS(reindex_out),
     .help = "create missing vectors, or all vectors, in the background"},
    {0},
};

const struct surface surface_omniroute_engine = {"omniroute",          routes,
                                                 word_omniroute_error, auth_manager_request,
                                                 SURFACE_SETTLES,      .errors = &omniroute_errors};
