/* settings.h - the settings table: defaults, file, environment, flags and help come from it. */
#pragma once

#include "base/fields.h"

/* Where a remembered block goes: behind the last user message, before it, or to the front. */
enum placement {
    PLACE_USER_SUFFIX,
    PLACE_BEFORE_USER,
    PLACE_SYSTEM,
    PLACE_FIRST_USER,
    PLACE_USER_PREFIX /* no setting names it: Osaurus's place, in front of what the user wrote */
};
/* NULL-ended, in the order of the enum; the settings use them. */
extern const char *const placement_names[];

/* Those of Osaurus's settings, NULL-ended; the live settings know the same. */
extern const char *const extraction_mode_names[];
extern const char *const gate_mode_names[];
extern const char *const embedding_backend_names[];

/* Where a model lives. */
struct upstream {
    str name;      /* the prefix of a model's name that chooses it; "" is the default upstream */
    str url;       /* base URL, with or without a /v1 at the end */
    str key;       /* sent as a bearer token when the client's own key is not passed on */
    str placement; /* one of placement_names; "" takes the setting placement */
    str dialect;   /* openai or anthropic; "" is openai */
};

enum { UPSTREAMS_MAX = 16 };

/* Durations in ms, sizes in bytes, unless the name says otherwise. */
struct settings {
    str listen, data, config, upstream, upstream_key, log_level, log_format;
    str key_file, key_command; /* of an encrypted store */
    str memory;                /* on, off */
    str placement;             /* one of placement_names */
    str extraction; /* user: the user's words, mended rules; seed: as OmniRoute's document has it;
                       off */
    str hosts;      /* further Host names that are served, separated by commas; * for any */
    int64_t budget_tokens, recall_deadline_ms, recall_limit, receipt_days, tool_rounds;
    double gate_threshold; /* score the best must have for any to go in; lower talks more */
    int64_t body_max, header_max, connections_max, queue_max, workers, loops, upstream_timeout_ms,
        idle_timeout_ms, request_timeout_ms, shutdown_ms;
    str embedding_source;                         /* auto, remote, static, transformers */
    str embedding_model;                          /* provider/model of a remote source */
    str embedding_static, embedding_transformers; /* on, off: what auto may take */
    str static_model, transformers_model, model_dir, model_url;
    int64_t embedding_timeout_ms, embedding_cache_max, embedding_cache_ttl_ms;
    str vectors;          /* on, off */
    str vec_quantization; /* none, int8 */
    int64_t vec_top_k, rrf_k;
    str core_model; /* [UPSTREAM/]MODEL that distils and writes summaries, or "" */
    int64_t rerank_timeout_ms, core_timeout_ms, core_max_tokens, core_tokens_per_hour;
    int64_t core_parallel; /* sessions that are distilled at once */
    str extraction_mode;   /* sessionEnd, manual */
    str gate_mode;         /* off, heuristic, llm: Osaurus's gate */
    str embedding_backend; /* none leaves vectors out of Osaurus's searches */
    int64_t memory_budget, summary_debounce_s, consolidation_hours, episode_days;
    double salience_floor;
    str qdrant_host, qdrant_api_key, qdrant_collection, qdrant_embedding_model;
    int64_t qdrant_port, qdrant_timeout_ms;
    str registration;   /* auto, open, off */
    str encryption_key; /* seals what users leave here; "" is a file's */
    str model_fast, model_balanced, model_powerful, prices;
    str dynamic_window, session_budget, query_rewriting, dedup_llm;
    int64_t context_tokens, rewrite_timeout_ms, memory_max_age_days;
    double importance_min, memory_decay, dedup_similarity, dedup_llm_low, dedup_llm_high;
    struct upstream upstreams[UPSTREAMS_MAX]; /* the default first, if there is one */
    size_t n_upstreams;
};

extern const struct field settings_table[];

/*
 * Defaults, then the config file (JSON, the table's names), then REMEMBERD_… variables, then flags
 * (--name VALUE or --name=VALUE; --upstream NAME=URL may stand several times). A name that no row
 * has is BAD_INPUT. Words that are no flags are left in rest, in order.
 */
MUST_USE enum status settings_load(struct ctx *ctx, int argc, char **argv, struct strs *rest,
                                   struct settings *out);

/* The table with values, as text for a person ("name = value  # help") or as JSON. Secrets are
 * masked. */
void settings_print(struct buf *b, const struct settings *s, bool as_json);

/* Whether an address to listen at is of this machine alone. */
bool listens_locally(str listen);

/* The upstream for a model: by prefix ("openai/gpt-5" → name "openai", *model "gpt-5"), else the
 * default, else NULL. */
const struct upstream *settings_upstream(const struct settings *s, str *model);

/*
 * The base URL and a path that begins with "/v1/", with one version between them: a base whose path
 * names a version ("/v1", "/v1beta/openai", "/paas/v4") keeps its own. query goes without '?'.
 */
str upstream_url(struct arena *a, const struct upstream *up, str path, str query);
