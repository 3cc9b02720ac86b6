/* runtime.c - the table of the settings that change while the server runs. */
#include "core/runtime.h"

/*
 * The rows are addressed by enum runtime_row, because the dialects of other products show the same
 * settings under their own names: each of their rows is .like one of these and so has its type,
 * range and default. A value that was never set comes from here or from the server's own settings.
 */

const char *const strategy_names[] = {"hybrid", "semantic", "recent", NULL};
const char *const quantization_names[] = {"none", "int8", "binary", NULL};

static const char *const stores[] = {"sqlite-vec", "qdrant", "auto", NULL};

/* clang-format off */
const struct field runtime_fields[RUNTIME_ROWS + 1] = {
    [RUNTIME_ENABLED] =
        {AS_BOOL(struct runtime, memory.enabled, "enabled"), .otherwise = true,
         .help = "whether chats get memory and are remembered"},
    [RUNTIME_MAX_TOKENS] =
        {AS_INT(struct runtime, memory.max_tokens, "max_tokens"), .otherwise = 2000, .max = 16000,
         .help = "token budget of a chat's memory, of which at most 8000 are used; 0: no memory"},
    [RUNTIME_RETENTION_DAYS] =
        {AS_INT(struct runtime, memory.retention_days, "retention_days"), .otherwise = 30,
         .min = 1, .max = 365, .help = "older memories are not returned"},
    [RUNTIME_STRATEGY] =
        {AS_ENUM(struct runtime, memory.strategy, "strategy"), .otherwise_str = "hybrid",
         .one_of = strategy_names, .help = "hybrid, semantic or recent"},
    [RUNTIME_SKILLS_ENABLED] =
        {AS_BOOL(struct runtime, memory.skills_enabled, "skills_enabled"),
         .help = "stored for clients that show it; this server has no skills"},
    [RUNTIME_EMBEDDING_SOURCE] =
        {AS_ENUM(struct runtime, memory.embedding_source, "embedding_source"),
         .otherwise_str = "auto", .one_of = embed_choice_names, .help = "what makes vectors"},
    [RUNTIME_EMBEDDING_MODEL] =
        {AS_STR(struct runtime, memory.embedding_model, "embedding_model"), .max = 200,
         .empty = EMPTY_NULL, .help = "upstream/model of a remote source"},
    [RUNTIME_TRANSFORMERS_ENABLED] =
        {AS_BOOL(struct runtime, memory.transformers_enabled, "transformers_enabled"),
         .help = "whether the transformer may be used"},
    [RUNTIME_STATIC_ENABLED] =
        {AS_BOOL(struct runtime, memory.static_enabled, "static_enabled"),
         .help = "whether the static table may be used"},
    [RUNTIME_RERANK_ENABLED] =
        {AS_BOOL(struct runtime, memory.rerank_enabled, "rerank_enabled"),
         .help = "whether a model reranks search results"},
    [RUNTIME_RERANK_MODEL] =
        {AS_STR(struct runtime, memory.rerank_model, "rerank_model"), .max = 200,
         .empty = EMPTY_NULL,
         .help = "upstream/model of the reranking model; local/model: one of this machine"},
    [RUNTIME_VECTOR_STORE] =
        {AS_ENUM(struct runtime, memory.vector_store, "vector_store"), .otherwise_str = "auto",
         .one_of = stores, .help = "where vectors are searched"},
    [RUNTIME_QDRANT_ENABLED] =
        {AS_BOOL(struct runtime, qdrant.enabled, "qdrant_enabled"),
         .help = "whether memories are mirrored to Qdrant"},
    [RUNTIME_QDRANT_HOST] =
        {AS_STR(struct runtime, qdrant.host, "qdrant_host"), .max = 500,
         .help = "with or without a scheme and a port"},
    [RUNTIME_QDRANT_PORT] =
        {AS_INT(struct runtime, qdrant.port, "qdrant_port"), .otherwise = 6333, .min = 1,
         .max = 65535, .help = "used when the host has no port"},
    [RUNTIME_QDRANT_COLLECTION] =
        {AS_STR(struct runtime, qdrant.collection, "qdrant_collection"),
         .otherwise_str = "omniroute_memory", .min = 1, .max = 255, .help = "its name"},
    [RUNTIME_QDRANT_EMBEDDING_MODEL] =
        {AS_STR(struct runtime, qdrant.embedding_model, "qdrant_embedding_model"),
         .otherwise_str = "openai/text-embedding-3-small", .min = 1, .max = 200,
         .help = "upstream/model of the vectors in Qdrant"},
    [RUNTIME_QDRANT_QUANTIZATION] =
        {AS_ENUM(struct runtime, qdrant.quantization, "qdrant_quantization"),
         .otherwise_str = "none", .one_of = quantization_names,
         .help = "none, int8 or binary; applies to a new collection"},
    [RUNTIME_QDRANT_API_KEY] =
        {AS_STR(struct runtime, qdrant.api_key, "qdrant_api_key"), .max = 4000, .secret = true,
         .help = "sent as api-key; an empty one deletes it"},
    [RUNTIME_EMBEDDING_BACKEND] =
        {AS_ENUM(struct runtime, layers.embedding_backend, "embedding_backend"),
         .otherwise_str = "mlx", .one_of = embedding_backend_names,
         .help = "none leaves vectors out of searches for agents"},
    [RUNTIME_AGENT_EMBEDDING_MODEL] =
        {AS_STR(struct runtime, layers.embedding_model, "agent_embedding_model"),
         .otherwise_str = "nomic-embed-text-v1.5", .min = 1, .max = 200,
         .help = "stored for clients that show it; the embedding source decides"},
    [RUNTIME_EXTRACTION_MODE] =
        {AS_ENUM(struct runtime, layers.extraction_mode, "extraction_mode"),
         .otherwise_str = "sessionEnd", .one_of = extraction_mode_names,
         .help = "sessionEnd: after the debounce; manual: on request"},
    [RUNTIME_GATE_MODE] =
        {AS_ENUM(struct runtime, layers.gate_mode, "gate_mode"), .otherwise_str = "heuristic",
         .one_of = gate_mode_names,
         .help = "off: always episodes; heuristic: by phrases; llm: the core model decides"},
    [RUNTIME_MEMORY_BUDGET] =
        {AS_INT(struct runtime, layers.budget_tokens, "memory_budget"), .otherwise = 800,
         .min = 100, .max = 4000, .help = "token budget of one section"},
    [RUNTIME_SUMMARY_DEBOUNCE] =
        {AS_INT(struct runtime, layers.debounce_s, "summary_debounce_s"), .otherwise = 60,
         .min = 10, .max = 3600, .help = "seconds of silence before a session is distilled"},
    [RUNTIME_CONSOLIDATION_HOURS] =
        {AS_INT(struct runtime, layers.consolidation_h, "consolidation_hours"), .otherwise = 24,
         .min = 1, .max = 168, .help = "hours between two consolidations"},
    [RUNTIME_SALIENCE_FLOOR] =
        {AS_NUM(struct runtime, layers.salience_floor, "salience_floor"), .otherwise = 0.2,
         .max = 1, .help = "unused facts with a salience below this value are closed"},
    [RUNTIME_EPISODE_DAYS] =
        {AS_INT(struct runtime, layers.episode_days, "episode_days"), .otherwise = 365,
         .max = 3650,
         .help = "days that episodes are kept, and messages too once a client sets any value; 0: "
                 "forever"},
};
/* clang-format on */
