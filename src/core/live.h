/* live.h - the settings that change while the server runs: OmniRoute's twelve, and Qdrant's. */
#pragma once

#include "base/fields.h"

/* How things are found. hybrid: words and vectors together; semantic: vectors; recent: the newest.
 */
enum strategy { STRATEGY_HYBRID, STRATEGY_SEMANTIC, STRATEGY_RECENT };
/* NULL-ended, in the order of the enum: hybrid, semantic, recent. */
extern const char *const strategy_names[];

/*
 * The twelve fields of /api/settings/memory under OmniRoute's names. What nobody has set is the
 * seed's default on OmniRoute's endpoints and the server's own setting in a chat (decision 010);
 * what was set acts everywhere.
 */
struct live_memory {
    bool enabled;
    int64_t max_tokens, retention_days;
    str strategy;
    bool skills_enabled;
    str embedding_source, embedding_model; /* model: provider/model or "" */
    bool transformers_enabled, static_enabled, rerank_enabled;
    str rerank_model; /* provider/model or "" */
    str vector_store; /* sqlite-vec, qdrant, auto */
};
extern const struct field live_memory_fields[];

/* Of Qdrant, the second tier. */
struct live_qdrant {
    bool enabled;
    str host; /* with or without a scheme and a port */
    int64_t port;
    str collection, embedding_model, quantization, api_key;
};
extern const struct field live_qdrant_fields[];

/*
 * The ten knobs of Osaurus's memory.json under its names. Each has a server setting of its own that
 * stands in while nobody has set it (core/settings.c).
 */
struct live_osaurus {
    bool enabled;          /* the same switch as live_memory.enabled */
    str embedding_backend; /* mlx, none: none leaves vectors out of its searches */
    str embedding_model, extraction_mode, gate_mode; /* sessionEnd|manual; off|heuristic|llm */
    int64_t budget_tokens, debounce_s, consolidation_h, episode_days;
    double salience_floor;
};
extern const struct field live_osaurus_fields[];

/* What acts now: never changed, another one takes its place. */
struct live {
    struct live_memory memory;
    bool budget_set, retention_set; /* maxTokens, retentionDays: someone has set them */
    struct live_qdrant qdrant;
    struct live_osaurus osaurus;
};
