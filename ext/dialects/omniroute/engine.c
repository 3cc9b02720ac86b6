/* engine.c - OmniRoute's engine over REST: preview, status, reindex. */
#include <math.h>

#include "ext/dialects/omniroute/common.h"
#include "surface/common/list_page.h"

/*
 * How retrieval works, for its owner: /retrieve-preview shows what a chat would be given for a
 * question and how it was ranked, /engine-status the state of each part, /embedding-providers which
 * models could make vectors, and /reindex makes them anew. Names of stores and tiers are
 * OmniRoute's, so its dashboard understands them. The preview needs no admin, since it shows the
 * caller's own memories; the others are about the server.
 */

/* NEWEST is the page of a preview by time, where nothing is ranked. */
enum { QUERY_MAX = 65536, NEWEST = 20 };

static const char key_help[] = "a key of yours, or a space by its name; without it all of yours";

/* --- preview --- */

/* In the order of enum strategy. */
static const char *const strategies[] = {"hybrid", "semantic", "exact", NULL};

SHAPE(preview_in, (STR, query, .required = true, .min = 1, .max = QUERY_MAX, .help = "the query"),
      (STR, strategy, .one_of = strategies,
       .help = "hybrid: words and vectors; semantic: vectors; exact: the newest; default: the "
               "setting strategy"),
      (AS_INT, max_tokens, "maxTokens", .min = 1, .max = 16000,
       .help = "token budget of all contents; at most 8000 are used; default: what a chat has room "
               "for"),
      (AS_STR, api_key, "apiKeyId", .max = SPACE_NAME_MAX, .help = key_help),
      (INT, limit, .min = 1, .max = RECALL_LIMIT_MAX,
       .help = "most results; default: as many as a chat receives, 20 of the newest"),
      (BOOL, explain, .help = "say what the gate of chats decides, and why"));

/* score is what the list is ordered by; vecScore and ftsScore are parts of it that took part, or
 * null. */
SHAPE(preview_line, (STR, id), (ENUM_OF, type, enum memory_type, .one_of = type_names), (STR, key),
      (STR, content), (NUM, score), (INT, tokens),
      (STR, tier, .help = "fts5, vector, hybrid-rrf or qdrant"),
      (AS_NUM, vector_score, "vecScore", .empty = EMPTY_NULL,
       .help = "cosine; null: vectors were not used"),
      (AS_NUM, words_score, "ftsScore", .empty = EMPTY_NULL,
       .help = "share of the query's weight that its words hold; null: none"));

/* What was really used, which may differ from what was asked: fallbackReason says why, step by
 * step. */
static FIELDS_OF(recall_steps, resolution,
                 (AS_STR, source, "embeddingSource", .empty = EMPTY_NULL,
                  .help = "remote, static, transformers or encoder"),
                 (AS_STR, model, "embeddingModel", .empty = EMPTY_NULL),
                 (AS_STR, store, "vectorStore", .help = "sqlite-vec, qdrant or none"),
                 (AS_ENUM, strategy, "strategyUsed", .one_of = strategies),
                 (AS_BOOL, is_reranked, "rerankApplied"),
                 (AS_STR, fallback, "fallbackReason", .empty = EMPTY_NULL,
                  .help = "why the strategy differs from the request"));

/* With explain only: the list shows what was found, the gate what a chat would take of it. */
SHAPE(gate_out, (STR, decision, .help = "the decision of the relevance gate of chats"),
      (STR, reason, .help = "why"),
      (INT, memories, .help = "how many of the first memories a chat receives"),
      (INT, messages, .help = "how many messages of conversations a chat receives beside them"));

SHAPE(
    preview_out, (JSON, memories, .inside = preview_line_fields, .help = "best first"),
    (OBJECT, resolution, struct recall_steps, .inside = resolution_fields),
    (AS_INT, tokens, "totalTokensUsed"),
    (AS_INT, budget, "budgetMaxTokens",
     .help = "the requested budget; default: the setting maxTokens"),
    (JSON, gate, .empty = EMPTY_OUT,
     .help = "with explain: decision, reason, and how many memories and messages a chat receives"));

/* One for all lines, as each was ranked by all that took part. */
static const char *tier_of(const struct recall_steps *steps)
{
    return str_is(steps->store, "qdrant")         ? "qdrant"
           : str_is(steps->store, "none")         ? "fts5"
           : steps->strategy == STRATEGY_SEMANTIC ? "vector"
                                                  : "hybrid-rrf";
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
        assert(r->is_memory);
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

/* What a chat is given of what was found. */
static const struct json *gate_of(struct ctx *ctx, const struct app *app,
                                  const struct recall_out *found)
{
    struct gate_out gate = {.decision = found->decision, .reason = found->reason};
    for (size_t i = 0; i < found->n_given; i++) {
        gate.memories += found->v[i].state == LINE_INJECTED && found->v[i].is_memory;
        gate.messages += found->v[i].state == LINE_INJECTED && !found->v[i].is_memory;
    }
    if (!engine_remembers(app->engine)) {
        gate.decision = S("off");
        gate.reason = S("memory is switched off for chats; otherwise they would receive this");
    }
    return json_object_of(ctx, gate_out_fields, &gate);
}

static HANDLER(preview_retrieval)
{
    const struct preview_in *p = in->in;
    const struct settings *now = engine_runtime(app->engine);
    int by = name_index(strategies, p->strategy, (int)now->strategy);
    struct recall_out found;
    struct recall_in ask = {.question = p->query,
                            .by.strategy = (enum strategy)by,
                            .gate = true,
                            .for_model = true,
                            .limit = (size_t)p->limit};
    if (!ask.limit && ask.by.strategy == STRATEGY_RECENT)
        ask.limit = NEWEST;
    ask.budget_tokens = ask.limit || p->max_tokens ? -1 : 0;
    TRY(managed_pool(ctx, app, in, p->api_key, &ask.pool));
    ask.scope = ask.pool.space.n ? SCOPE_SPACE : SCOPE_USER;
    TRY(engine_search(ctx, app->engine, &ask, &found));
    struct preview_out shape = {.resolution = found.steps,
                                .gate = p->explain ? gate_of(ctx, app, &found) : NULL,
                                .budget = p->max_tokens ? p->max_tokens : omniroute_budget(now)};
    engine_memories_within(ctx, &found, ask.limit ? ask.limit : RECALL_LIMIT_MAX, shape.budget);
    shape.tokens = found.tokens;
    TRY(preview_lines(ctx, &found, &shape.memories));
    return reply_fields(out, preview_out_fields, &shape);
}

/* --- status --- */

SHAPE(keyword_tier, (BOOL, available), (STR, backend));

SHAPE(embedding_cache, (INT, hits), (INT, misses), (INT, size));

/* available: a text could be embedded now. dimensions may be unknown before the first vector. */
SHAPE(embedding_tier,
      (STR, source, .empty = EMPTY_NULL,
       .help = "remote, static, transformers or encoder; null: none"),
      (STR, model, .empty = EMPTY_NULL),
      (INT, dimensions, .empty = EMPTY_NULL, .help = "null: not known yet"), (BOOL, available),
      (STR, reason, .help = "why it is unavailable, or empty"),
      (AS_OBJECT, cache, struct embedding_cache, "cacheStats", .inside = embedding_cache_fields));

SHAPE(vector_tier, (STR, backend, .help = "sqlite-vec (the built-in store), qdrant or none"),
      (BOOL, available), (AS_INT, rows, "rowCount"),
      (AS_INT, waiting, "needsReindex", .help = "memories waiting for a vector"),
      (INT, failed, .help = "memories whose vector failed"),
      (STR, reason, .help = "why it is unavailable, or empty"));

SHAPE(qdrant_tier, (BOOL, enabled), (JSON, healthy, .help = "true or false; null: not checked"),
      (AS_NUM, latency_ms, "latencyMs", .empty = EMPTY_NULL), (STR, error, .empty = EMPTY_NULL),
      (INT, pending, .help = "memories not synced yet"),
      (STR, note, .help = "differences from the settings that do not prevent use"));

SHAPE(rerank_tier, (BOOL, enabled), (STR, provider, .empty = EMPTY_NULL),
      (STR, model, .empty = EMPTY_NULL), (BOOL, available),
      (STR, reason, .help = "why it is unavailable, or empty"));

SHAPE(status_out, (OBJECT, keyword, struct keyword_tier, .inside = keyword_tier_fields),
      (OBJECT, embedding, struct embedding_tier, .inside = embedding_tier_fields),
      (AS_OBJECT, vectors, struct vector_tier, "vectorStore", .inside = vector_tier_fields),
      (OBJECT, qdrant, struct qdrant_tier, .inside = qdrant_tier_fields),
      (OBJECT, rerank, struct rerank_tier, .inside = rerank_tier_fields));

static struct qdrant_tier qdrant_tier(struct ctx *ctx, const struct engine_status *s)
{
    str healthy = s->qdrant.healthy ? S("true") : S("false");
    return (struct qdrant_tier){
        .enabled = s->qdrant.enabled,
        .healthy = s->qdrant.probed ? json_of(ctx, healthy) : NULL,
        .latency_ms = s->qdrant.took_us ? (double)s->qdrant.took_us / 1000 : NAN,
        .error = s->qdrant.error,
        .note = s->qdrant.note,
        .pending = s->qdrant.waiting,
    };
}

/* The part behind "provider/", or all of it: a model's own name may hold more slashes. */
static str model_of(str provider_model)
{
    str rest = provider_model, provider = str_cut(&rest, '/');
    return provider.n < provider_model.n ? rest : provider_model;
}

/* "provider/model" in two members, as OmniRoute shows it; without a slash there is only a model. */
static struct rerank_tier rerank_tier(const struct engine_status *s)
{
    str provider = s->rerank.model, model = model_of(provider);
    provider.n = model.n < provider.n ? provider.n - model.n - 1 : 0;
    return (struct rerank_tier){s->rerank.enabled, provider, model, s->rerank.available,
                                s->rerank.reason};
}

/* The true is a probe: Qdrant and the reranker are asked now, so this takes as long as they
 * take. */
static HANDLER(show_status)
{
    struct pool_ref everywhere = {in->who.pool.user, S("")};
    struct engine_status s;
    TRY(engine_status(ctx, app->engine, everywhere, true, &s));
    struct status_out shape = {
        .keyword = {s.words_ok, S("FTS5")},
        .embedding = {str_of(s.embedding_source),
                      s.embedding.model,
                      s.embedding.dimensions,
                      s.embedding.available,
                      s.embedding.reason,
                      {s.embedding.hits, s.embedding.misses, s.embedding.size}},
        .vectors = {str_of(s.vectors.backend ? s.vectors.backend : "none"), s.vectors.available,
                    s.vectors.rows, s.vectors.waiting, s.vectors.failed, s.vectors.reason},
        .qdrant = qdrant_tier(ctx, &s),
        .rerank = rerank_tier(&s),
    };
    return reply_fields(out, status_out_fields, &shape);
}

/* --- providers --- */

SHAPE(model_out, (STR, id, .help = "provider/model"), (STR, name),
      (INT, dimensions, .empty = EMPTY_NULL, .help = "null: not known"));

SHAPE(provider_out, (STR, provider),
      (AS_BOOL, has_key, "hasKey", .help = "whether a key is configured or not needed"),
      (JSON, models, .inside = model_out_fields));

static FIELDS_OF(list_page, providers_out, LIST_ITEMS_AS("providers", provider_out_fields, NULL));

static HANDLER(list_providers)
{
    struct embed_providers all = engine_embedding_providers(ctx, app->engine);
    struct provider_out *items = NEW_N(&ctx->arena, struct provider_out, all.n);
    for (size_t i = 0; i < all.n; i++) {
        const struct embed_provider *p = &all.v[i];
        struct model_out *models = NEW_N(&ctx->arena, struct model_out, p->n_models);
        for (size_t k = 0; k < p->n_models; k++)
            models[k] = (struct model_out){str_printf(&ctx->arena, S_FMT "/" S_FMT, S_ARG(p->name),
                                                      S_ARG(p->models[k].name)),
                                           p->models[k].name, p->models[k].dimensions};
        items[i] = (struct provider_out){p->name, p->has_key, NULL};
        TRY(json_list(ctx, model_out_fields, models, p->n_models, sizeof *models,
                      &items[i].models));
    }
    struct list_page page = {0};
    return list_reply(ctx, providers_out_fields, &page, items, all.n, sizeof *items, out);
}

/* --- reindex --- */

SHAPE(reindex_in, (BOOL, force, .help = "recreate all vectors, not only missing ones"));

SHAPE(reindex_out, (BOOL, started),
      (INT, pending,
       .help = "your memories waiting for a vector; engine-status shows progress as "
               "vectorStore.needsReindex"));

/* Reindexes the whole server and counts the caller's memories only. */
static HANDLER(reindex_vectors)
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
    return reply_fields(out, reindex_out_fields, &(struct reindex_out){true, s.vectors.waiting});
}

static const struct route routes[] = {
    {ROUTE("POST", "/api/memory/retrieve-preview", preview_retrieval), .scope = MAY_READ,
     READS(preview_in), .strict = true, ANSWERS(preview_out),
     .help = "preview of a retrieval; changes nothing"},
    {ROUTE("GET", "/api/memory/engine-status", show_status), .access = ACCESS_ADMIN,
     ANSWERS(status_out), .help = "state of search by words, vectors, Qdrant and reranking"},
    {ROUTE("GET", "/api/memory/embedding-providers", list_providers), .access = ACCESS_ADMIN,
     ANSWERS(providers_out), .help = "embedding providers"},
    {ROUTE("POST", "/api/memory/reindex", reindex_vectors), READS(reindex_in), .strict = true,
     .access = ACCESS_OPERATOR, ANSWERS(reindex_out),
     .help = "create missing vectors, or all vectors, in the background"},
    {0},
};

const struct surface surface_omniroute_engine = OMNIROUTE_SURFACE(routes);
