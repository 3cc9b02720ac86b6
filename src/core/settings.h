/* settings.h - the settings table: defaults, file, environment, flags and help come from it. */
#pragma once

#include "base/fields.h"
#include "base/log.h"

/* Where a remembered block goes: behind the last user message, before it, or to the front. */
enum placement {
    PLACE_USER_SUFFIX,
    PLACE_BEFORE_USER,
    PLACE_SYSTEM,
    PLACE_FIRST_USER,
    PLACE_USER_PREFIX /* no setting names it: in front of what the user wrote, for chats of agents
                       */
};
/* NULL-ended, in the order of the enum; the settings use them. */
extern const char *const placement_names[];

/* Facts by patterns: none, by mended patterns in what the user writes, or by the fixed table of the
 * setting's third value, also in answers. */
enum extract_rules { EXTRACT_OFF, EXTRACT_USER, EXTRACT_TABLE };

/* What makes vectors. A choice of none is a choice of the first that can be used. */
enum embed_source {
    EMBED_NONE,
    EMBED_REMOTE,
    EMBED_STATIC,
    EMBED_TRANSFORMERS,
    EMBED_ENCODER,
    EMBED_AUTO = EMBED_NONE
};
/* How vectors are stored: float32, or less. */
enum quantization { QUANTIZE_NONE, QUANTIZE_INT8, QUANTIZE_BINARY };

enum extraction_mode { DISTIL_AT_SESSION_END, DISTIL_WHEN_ASKED };
enum gate_mode { GATE_MODE_OFF, GATE_MODE_HEURISTIC, GATE_MODE_LLM };
enum embedding_backend { BACKEND_EMBEDS, BACKEND_NONE };
enum registration_mode { REGISTRATION_AUTO, REGISTRATION_OPEN, REGISTRATION_OFF };
enum query_rewriting { REWRITE_ON, REWRITE_RULES, REWRITE_OFF };
/* Who may connect to a unix socket: its user, its group, too, or everyone. */
enum socket_mode { SOCKET_600, SOCKET_660, SOCKET_666 };
enum log_format { LOG_TEXT, LOG_JSON };

/* Names of what may be chosen, NULL-ended, in the order of the enums. */
extern const char *const extraction_names[];
extern const char *const embed_choice_names[]; /* auto, remote, static, transformers, encoder */
extern const char *const extraction_mode_names[];
extern const char *const gate_mode_names[];
extern const char *const embedding_backend_names[];

/* Where a model lives. */
struct upstream {
    str name;      /* the prefix of a model's name that chooses it; "" is the default upstream */
    str url;       /* base URL, with or without a /v1 at the end */
    str key;       /* sent when the client's own key is not passed on */
    str placement; /* one of placement_names; "" takes the setting placement */
    str dialect;   /* one of dialect_names; "" is openai */
    str key_in;    /* one of key_header_names; "" is by the API of the request */
};

/* Headers in which a key may go: Authorization as a bearer token, and x-api-key. */
enum key_header { KEY_AUTHORIZATION, KEY_X_API_KEY };
extern const char *const key_header_names[];

/* APIs of upstreams. One with ollama speaks OpenAI's as well. */
enum api_dialect { DIALECT_OPENAI, DIALECT_ANTHROPIC, DIALECT_OLLAMA };
extern const char *const dialect_names[];

enum { UPSTREAMS_MAX = 16 };

/* Where a setting's value comes from. */
enum settings_place { FROM_DEFAULT, FROM_FILE, FROM_ENVIRONMENT, FROM_OPTION };
enum { SETTINGS_MAX = 120 }; /* rows of settings_table */

/* Durations in ms, sizes in bytes, unless the name says otherwise. */
struct settings {
    enum socket_mode socket_mode;
    int64_t user_memories_max, user_messages_max; /* 0: no limit */
    int64_t address_connections_max, address_requests_max, address_rate_max, connection_rate_max,
        token_requests_max, token_rate_max;
    bool require_token;
    str listen, data, config, upstream, upstream_key;
    enum api_dialect upstream_dialect; /* of the default upstream, unless the file says it */
    enum log_level log_level;
    enum log_format log_format;
    str key_file, key_command; /* of an encrypted store */
    bool memory, keep_secrets, learn_history;
    enum placement placement;
    enum extract_rules extraction;
    str origins; /* of foreign web pages that are served: patterns, separated by commas */
    str hosts;   /* further Host names that are served, separated by commas; * for any */
    int64_t budget_tokens, recall_deadline_ms, recall_limit, receipt_days, tool_rounds;
    double gate_threshold; /* least probability of an answer for any to go in; lower talks more */
    int64_t body_max, header_max, connections_max, queue_max, workers, loops, upstream_timeout_ms,
        idle_timeout_ms, request_timeout_ms, shutdown_ms;
    enum embed_source embedding_source;
    str embedding_model;                                    /* provider/model of a remote source */
    bool embedding_static, embedding_transformers, encoder; /* what auto may take */
    str static_model, transformers_model, model_dir, model_url;
    int64_t embedding_timeout_ms, embedding_cache_max, embedding_cache_ttl_ms;
    bool vectors;
    enum quantization vec_quantization; /* none, int8 */
    int64_t vec_top_k, rrf_k;
    str core_model; /* [UPSTREAM/]MODEL that distils and writes summaries, or "" */
    int64_t rerank_timeout_ms, core_timeout_ms, core_max_tokens, core_tokens_per_hour;
    int64_t core_parallel; /* sessions that are distilled at once */
    enum extraction_mode extraction_mode;
    enum gate_mode gate_mode;                 /* of chats of agents */
    enum embedding_backend embedding_backend; /* none leaves vectors out of searches for agents */
    int64_t memory_budget, summary_debounce_s, consolidation_hours, episode_days;
    double salience_floor;
    str qdrant_host, qdrant_api_key, qdrant_collection, qdrant_embedding_model;
    int64_t qdrant_port, qdrant_timeout_ms;
    str allow_addresses; /* barred addresses that may be called, separated by commas */
    str user_from; /* where people are named, in order: headers (with a '-') and body members */
    enum registration_mode registration;
    str encryption_key; /* seals what users leave here; "" is a file's */
    str model_fast, model_balanced, model_powerful, prices;
    bool dynamic_window, session_budget, dedup_llm;
    enum query_rewriting query_rewriting;
    int64_t context_tokens, rewrite_timeout_ms, memory_max_age_days;
    double importance_min, memory_decay, dedup_similarity, dedup_llm_low, dedup_llm_high;
    struct upstream upstreams[UPSTREAMS_MAX]; /* the default first, if there is one */
    size_t n_upstreams;
    struct strs notes;         /* what was read, but should be corrected: sentences for the log */
    str unknown_variable;      /* the note about a REMEMBERD_… that is no setting; or "" */
    enum settings_place place; /* that is read now */
    unsigned char from[SETTINGS_MAX]; /* enum settings_place, for each row of settings_table */
};

/* The headings under which help lists the settings. */
enum settings_group {
    GROUP_NETWORK,
    GROUP_MEMORY,
    GROUP_MODELS,
    GROUP_VECTORS,
    GROUP_STORAGE,
    GROUP_ACCESS,
    GROUP_LOGS
};
/* NULL-ended, in the order of the enum. */
extern const char *const settings_group_names[];

extern const struct field settings_table[];

/*
 * Defaults, then the config file (JSON, the table's names), then REMEMBERD_… variables, then flags
 * (--name VALUE or --name=VALUE; --upstream NAME=URL may be repeated). A name that no row has is
 * BAD_INPUT; a variable that no row has is noted. Other words are left in rest, in order.
 */
MUST_USE enum status settings_load(struct ctx *ctx, int argc, char **argv, struct strs *rest,
                                   struct settings *out);

/* The value of a text or number row of the struct that the row's table describes; secrets masked.
 */
void row_print(struct buf *b, const struct field *f, const void *in);

/* The table with values, as text for a person ("name = value  # help", by group) or as JSON.
 * Secrets are masked. */
void settings_print(struct buf *b, const struct settings *s, bool as_json);

/* Whether nobody has set the row of that name. */
bool settings_is_default(const struct settings *s, str name);

/* Whether an address to listen at is of this machine alone. */
bool listens_locally(str listen);

/* The upstream for a model: by prefix ("openai/gpt-5" → name "openai", *model "gpt-5"), else the
 * default, else NULL. */
const struct upstream *settings_upstream(const struct settings *s, str *model);

/*
 * The base URL and a path that begins with "/v1/", with one version between them: a base whose path
 * names a version ("/v1", "/v1beta/openai", "/paas/v4") keeps its own. Or another path, to which a
 * "/v1" at the end of the base does not belong. query goes without '?'.
 */
str upstream_url(struct arena *a, const struct upstream *up, str path, str query);
