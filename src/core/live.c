/* live.c - the tables of the settings that change while the server runs. */
#include "core/live.h"

#include "core/settings.h"

const char *const strategy_names[] = {"hybrid", "semantic", "recent", NULL};

static const char *const sources[] = {"remote", "static", "transformers", "auto", NULL};
static const char *const stores[] = {"sqlite-vec", "qdrant", "auto", NULL};
static const char *const quantizations[] = {"none", "int8", "binary", NULL};

const struct field live_memory_fields[] = {
    {BOOL(struct live_memory, enabled), .otherwise = true,
     .help = "whether chats are given memory and kept"},
    {AS_INT(struct live_memory, max_tokens, "maxTokens"), .otherwise = 2000, .max = 16000,
     .help = "most tokens a chat is given, of which at most 8000 count; 0 gives none"},
    {AS_INT(struct live_memory, retention_days, "retentionDays"), .otherwise = 30, .min = 1,
     .max = 365, .help = "what is older is not found"},
    {STR(struct live_memory, strategy), .otherwise_str = "hybrid", .one_of = strategy_names,
     .help = "hybrid, semantic or recent"},
    {AS_BOOL(struct live_memory, skills_enabled, "skillsEnabled"),
     .help = "kept for OmniRoute's clients; there are no skills here"},
    {AS_STR(struct live_memory, embedding_source, "embeddingSource"), .otherwise_str = "auto",
     .one_of = sources, .help = "what makes vectors"},
    {AS_STR(struct live_memory, embedding_model, "embeddingProviderModel"), .max = 200,
     .empty = EMPTY_NULL, .help = "provider/model of a remote source"},
    {AS_BOOL(struct live_memory, transformers_enabled, "transformersEnabled"),
     .help = "whether the transformer may be used"},
    {AS_BOOL(struct live_memory, static_enabled, "staticEnabled"),
     .help = "whether the static table may be used"},
    {AS_BOOL(struct live_memory, rerank_enabled, "rerankEnabled"),
     .help = "whether a model puts what was found in order"},
    {AS_STR(struct live_memory, rerank_model, "rerankProviderModel"), .max = 200,
     .empty = EMPTY_NULL, .help = "provider/model of it"},
    {AS_STR(struct live_memory, vector_store, "vectorStore"), .otherwise_str = "auto",
     .one_of = stores, .help = "where vectors are searched"},
    {0},
};

const struct field live_qdrant_fields[] = {
    {BOOL(struct live_qdrant, enabled), .help = "whether memories are mirrored there"},
    {STR(struct live_qdrant, host), .max = 500, .help = "with or without a scheme and a port"},
    {INT(struct live_qdrant, port), .otherwise = 6333, .min = 1, .max = 65535,
     .help = "where the host names none"},
    {STR(struct live_qdrant, collection), .otherwise_str = "omniroute_memory", .min = 1, .max = 255,
     .help = "its name"},
    {AS_STR(struct live_qdrant, embedding_model, "embeddingModel"),
     .otherwise_str = "openai/text-embedding-3-small", .min = 1, .max = 200,
     .help = "provider/model of the vectors there"},
    {STR(struct live_qdrant, quantization), .otherwise_str = "none", .one_of = quantizations,
     .help = "none, int8 or binary; of a new collection"},
    {AS_STR(struct live_qdrant, api_key, "apiKey"), .max = 4000, .secret = true,
     .help = "sent as api-key; empty removes it"},
    {0},
};

const struct field live_osaurus_fields[] = {
    {BOOL(struct live_osaurus, enabled), .otherwise = true,
     .help = "whether chats are given memory and kept"},
    {AS_STR(struct live_osaurus, embedding_backend, "embeddingBackend"), .otherwise_str = "mlx",
     .one_of = embedding_backend_names, .help = "none leaves vectors out of its searches"},
    {AS_STR(struct live_osaurus, embedding_model, "embeddingModel"),
     .otherwise_str = "nomic-embed-text-v1.5", .min = 1, .max = 200,
     .help = "kept for Osaurus's clients; embeddingSource chooses"},
    {AS_STR(struct live_osaurus, extraction_mode, "extractionMode"), .otherwise_str = "sessionEnd",
     .one_of = extraction_mode_names,
     .help = "sessionEnd: after the debounce; manual: when asked for"},
    {AS_STR(struct live_osaurus, gate_mode, "relevanceGateMode"), .otherwise_str = "heuristic",
     .one_of = gate_mode_names,
     .help = "off: always episodes; heuristic: phrases; llm: the core model"},
    {AS_INT(struct live_osaurus, budget_tokens, "memoryBudgetTokens"), .otherwise = 800, .min = 100,
     .max = 4000, .help = "of one section"},
    {AS_INT(struct live_osaurus, debounce_s, "summaryDebounceSeconds"), .otherwise = 60, .min = 10,
     .max = 3600, .help = "silence after which a session is distilled"},
    {AS_INT(struct live_osaurus, consolidation_h, "consolidationIntervalHours"), .otherwise = 24,
     .min = 1, .max = 168, .help = "between two consolidations"},
    {AS_NUM(struct live_osaurus, salience_floor, "salienceFloor"), .otherwise = 0.2, .min = 0,
     .max = 1, .help = "what decays below it and is not used goes"},
    {AS_INT(struct live_osaurus, episode_days, "episodeRetentionDays"), .otherwise = 365,
     .max = 3650, .help = "how long episodes are kept; 0: for ever"},
    {0},
};
