/* runtime.h - the settings that change while the server runs, under neutral names. */
#pragma once

#include "core/settings.h"

/* How things are found. hybrid: words and vectors together; semantic: vectors; recent: the newest.
 */
enum strategy { STRATEGY_HYBRID, STRATEGY_SEMANTIC, STRATEGY_RECENT };
/* Where vectors are searched. */
enum vector_store { VECTORS_IN_STORE, VECTORS_IN_QDRANT, VECTORS_AUTO };

/* NULL-ended, in the order of the enums. */
extern const char *const strategy_names[];
extern const char *const quantization_names[];

/* Memory in chats, and what finds it. */
struct runtime_memory {
    bool enabled;
    int64_t max_tokens, retention_days;
    enum strategy strategy;
    bool skills_enabled;
    enum embed_source embedding_source;
    str embedding_model; /* provider/model or "" */
    bool transformers_enabled, static_enabled, rerank_enabled;
    str rerank_model; /* provider/model, local/model or "" */
    enum vector_store vector_store;
};

/* Qdrant, which follows the store. */
struct runtime_qdrant {
    bool enabled;
    str host; /* with or without a scheme and a port */
    int64_t port;
    str collection, embedding_model;
    enum quantization quantization;
    str api_key;
};

/* What is distilled from conversations, how long it stays, and what an agent's chat gets of it. */
struct runtime_layers {
    enum embedding_backend embedding_backend; /* none leaves vectors out of searches for agents */
    str embedding_model;                      /* only shown */
    enum extraction_mode extraction_mode;
    enum gate_mode gate_mode;
    int64_t budget_tokens, debounce_s, consolidation_h, episode_days;
    double salience_floor;
};

/* The rows of runtime_fields. A dialect's table is like them, under the dialect's names. */
enum runtime_row {
    RUNTIME_ENABLED,
    RUNTIME_MAX_TOKENS,
    RUNTIME_RETENTION_DAYS,
    RUNTIME_STRATEGY,
    RUNTIME_SKILLS_ENABLED,
    RUNTIME_EMBEDDING_SOURCE,
    RUNTIME_EMBEDDING_MODEL,
    RUNTIME_TRANSFORMERS_ENABLED,
    RUNTIME_STATIC_ENABLED,
    RUNTIME_RERANK_ENABLED,
    RUNTIME_RERANK_MODEL,
    RUNTIME_VECTOR_STORE,
    RUNTIME_QDRANT_ENABLED,
    RUNTIME_QDRANT_HOST,
    RUNTIME_QDRANT_PORT,
    RUNTIME_QDRANT_COLLECTION,
    RUNTIME_QDRANT_EMBEDDING_MODEL,
    RUNTIME_QDRANT_QUANTIZATION,
    RUNTIME_QDRANT_API_KEY,
    RUNTIME_EMBEDDING_BACKEND,
    RUNTIME_AGENT_EMBEDDING_MODEL,
    RUNTIME_EXTRACTION_MODE,
    RUNTIME_GATE_MODE,
    RUNTIME_MEMORY_BUDGET,
    RUNTIME_SUMMARY_DEBOUNCE,
    RUNTIME_CONSOLIDATION_HOURS,
    RUNTIME_SALIENCE_FLOOR,
    RUNTIME_EPISODE_DAYS,
    RUNTIME_ROWS
};

/*
 * The settings in force: never changed, but replaced as a whole. A member that nobody has set has
 * the value of the server's own setting, or the default of its row.
 */
struct runtime {
    struct runtime_memory memory;
    bool budget_set, retention_set; /* max_tokens, retention_days: someone has set them */
    bool episode_days_set;          /* so the transcript is kept no longer either */
    struct runtime_qdrant qdrant;
    struct runtime_layers layers;
    bool changed[RUNTIME_ROWS]; /* someone has set this row while a server ran */
};

extern const struct field runtime_fields[RUNTIME_ROWS + 1];
