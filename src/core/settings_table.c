/* settings_table.c - the table of settings: names, defaults, limits, help. */
#include "core/runtime.h"

const char *const placement_names[] = {"user-suffix", "before-user", "system", "first-user", NULL};
const char *const dialect_names[] = {"openai", "anthropic", "ollama", NULL};
const char *const extraction_names[] = {"off", "user", "omniroute", NULL};
const char *const embed_choice_names[] = {"auto",         "remote",  "static",
                                          "transformers", "encoder", NULL};
static const char *const quantizations[] = {"none", "int8", NULL}; /* no binary ones */
const char *const extraction_mode_names[] = {"sessionEnd", "manual", NULL};
const char *const gate_mode_names[] = {"off", "heuristic", "llm", NULL};
const char *const embedding_backend_names[] = {"mlx", "none", NULL};
static const char *const registrations[] = {"auto", "open", "off", NULL};
static const char *const socket_modes[] = {"600", "660", "666", NULL};
static const char *const rewritings[] = {"on", "rules", "off", NULL};
static const char *const levels[] = {"error", "warn", "info", "debug", NULL};
static const char *const formats[] = {"text", "json", NULL};

const char *const settings_group_names[] = {"Network", "Memory", "Models", "Vectors",
                                            "Storage", "Access", "Logs",   NULL};

/* The file may set what a flag may; upstreams have a shape of their own there. From this one table
 * come the defaults, the checks, the help and the printed settings. */
const struct field settings_table[] = {
    {STR(struct settings, listen), .otherwise_str = "127.0.0.1:7077", .min = 1, .max = 200,
     .group = GROUP_NETWORK, .unit = "ADDR:PORT",
     .help = "Address and port to listen on. Port 0 = any free port. unix:PATH = a unix socket"},
    {ENUM(struct settings, socket_mode), .otherwise_str = "600", .one_of = socket_modes,
     .group = GROUP_NETWORK,
     .help = "Who may connect to a unix socket: 600 (the user of the server), 660 (also its group) "
             "or 666 (everyone on this machine)"},
    {STR(struct settings, data), .otherwise_str = "", .max = 4000, .group = GROUP_STORAGE,
     .unit = "DIR",
     .help =
         "Folder of the database. Empty = $XDG_DATA_HOME/rememberd or ~/.local/share/rememberd"},
    {STR(struct settings, key_file), .otherwise_str = "", .max = 4000, .group = GROUP_STORAGE,
     .unit = "FILE",
     .help =
         "Key of an encrypted database: 32 bytes or 64 hex digits in a file that only its "
         "owner can read. REMEMBERD_KEY may hold the key instead. Without key_file, the key that "
         "'rememberd encrypt' kept is used"},
    {STR(struct settings, key_command), .otherwise_str = "", .max = 4000, .secret = true,
     .group = GROUP_STORAGE, .unit = "COMMAND",
     .help = "Shell command that prints the key of an encrypted database, such as a password "
             "manager's"},
    {STR(struct settings, config), .otherwise_str = "", .max = 4000, .group = GROUP_STORAGE,
     .unit = "FILE", .help = "JSON file with settings"},
    {STR(struct settings, upstream), .otherwise_str = "", .max = 2000, .group = GROUP_MODELS,
     .unit = "[NAME=]URL",
     .help = "Base URL of a model server, such as https://api.openai.com/v1. NAME=URL adds a "
             "server for the models NAME/MODEL; repeat the setting for more. Without any upstream, "
             "only the built-in model rememberd/demo answers"},
    {STR(struct settings, upstream_key), .otherwise_str = "", .max = 4000, .secret = true,
     .group = GROUP_MODELS, .unit = "KEY",
     .help = "API key for the default upstream, sent when the client's own key is not passed on"},
    {ENUM(struct settings, upstream_dialect), .otherwise_str = "openai", .one_of = dialect_names,
     .group = GROUP_MODELS,
     .help = "API of the default upstream: openai, anthropic or ollama. Ollama's own API needs an "
             "upstream with ollama"},
    {SWITCH(struct settings, memory), .otherwise_str = "on", .group = GROUP_MEMORY,
     .help = "Whether chats are remembered and memory is recalled, until the API changes it: on or "
             "off"},
    {ENUM(struct settings, placement), .otherwise_str = "user-suffix", .one_of = placement_names,
     .group = GROUP_MEMORY, .unit = "PLACE",
     .help = "Where memory is inserted: user-suffix (end of the last user message) or before-user "
             "(a system message before that message). Also system (a system message at the start) "
             "or first-user (a user message at the start)"},
    {ENUM(struct settings, extraction), .otherwise_str = "user", .one_of = extraction_names,
     .group = GROUP_MEMORY,
     .help = "Facts found by patterns: user (in what the user writes), omniroute (with OmniRoute's "
             "own patterns, also in answers) or off"},
    {SWITCH(struct settings, learn_history), .otherwise_str = "off", .group = GROUP_MEMORY,
     .help = "Whether earlier messages of a conversation that are new to rememberd are recalled in "
             "other conversations: on or off"},
    {SWITCH(struct settings, keep_secrets), .otherwise_str = "off", .group = GROUP_MEMORY,
     .help = "Whether keys, passwords, card numbers and other secrets are kept in the history of "
             "conversations: on or off. Memory blocks mask them"},
    {INT(struct settings, budget_tokens), .otherwise = 800, .min = 0, .max = 16000,
     .group = GROUP_MEMORY, .unit = "TOKENS",
     .help = "Most tokens of memory added to one chat request. 0 = no memory is added"},
    {INT(struct settings, recall_limit), .otherwise = 10, .min = 1, .max = 100,
     .group = GROUP_MEMORY, .unit = "N", .help = "Most memories added to one chat request"},
    {INT(struct settings, recall_deadline_ms), .otherwise = 150, .min = 1, .max = 10000,
     .group = GROUP_MEMORY, .unit = "MS",
     .help = "Time limit for recall. A chat whose recall takes longer gets no memory"},
    {NUM(struct settings, gate_threshold), .otherwise = 0.05, .min = 0, .max = 1,
     .group = GROUP_MEMORY, .unit = "0..1",
     .help = "Memory is added when an answer is at least this probable; a phrase such as 'do you "
             "remember' lowers it. A higher value adds memory less often"},
    {INT(struct settings, tool_rounds), .otherwise = 4, .min = 1, .max = 20, .group = GROUP_MEMORY,
     .unit = "N", .help = "Most rounds of the search_memory tool loop within one request"},
    {INT(struct settings, receipt_days), .otherwise = 30, .min = 1, .max = 3650,
     .group = GROUP_STORAGE, .unit = "DAYS", .help = "How long receipts are kept"},
    {INT(struct settings, body_max), .otherwise = 32 << 20, .min = 1024, .max = 1 << 30,
     .group = GROUP_NETWORK, .unit = "BYTES", .help = "Largest request body"},
    {INT(struct settings, header_max), .otherwise = 64 << 10, .min = 1024, .max = 1 << 20,
     .group = GROUP_NETWORK, .unit = "BYTES", .help = "Largest request header"},
    {INT(struct settings, connections_max), .otherwise = 4096, .min = 1, .max = 100000,
     .group = GROUP_NETWORK, .unit = "N",
     .help = "Most client connections at one time. At this limit the connection that is idle for "
             "longest is closed for a new one"},
    {INT(struct settings, address_connections_max), .otherwise = 512, .min = 0, .max = 1000000,
     .group = GROUP_NETWORK, .unit = "N",
     .help =
         "Most connections of one address at one time, except from this machine. 0 = unlimited"},
    {INT(struct settings, address_requests_max), .otherwise = 256, .min = 0, .max = 1000000,
     .group = GROUP_NETWORK, .unit = "N",
     .help = "Most requests of one address that run at one time, except from this machine. 0 = "
             "unlimited"},
    {INT(struct settings, address_rate_max), .otherwise = 1000, .min = 0, .max = 1000000,
     .group = GROUP_NETWORK, .unit = "N",
     .help = "Most requests per second from one address, except from this machine. 0 = unlimited"},
    {INT(struct settings, connection_rate_max), .otherwise = 500, .min = 0, .max = 1000000,
     .group = GROUP_NETWORK, .unit = "N",
     .help = "Most requests per second on one connection, except from this machine. 0 = unlimited"},
    {INT(struct settings, token_requests_max), .otherwise = 256, .min = 0, .max = 1000000,
     .group = GROUP_NETWORK, .unit = "N",
     .help = "Most requests with one token that run at one time. 0 = unlimited"},
    {INT(struct settings, token_rate_max), .otherwise = 1000, .min = 0, .max = 1000000,
     .group = GROUP_NETWORK, .unit = "N",
     .help = "Most requests per second with one token. 0 = unlimited"},
    {INT(struct settings, queue_max), .otherwise = 1024, .min = 1, .max = 100000,
     .group = GROUP_NETWORK, .unit = "N", .help = "Most requests waiting for a worker thread"},
    {INT(struct settings, workers), .otherwise = 0, .max = 256, .group = GROUP_NETWORK, .unit = "N",
     .help = "Worker threads. 0 = two per CPU core, at least 4"},
    {INT(struct settings, loops), .otherwise = 0, .max = 64, .group = GROUP_NETWORK, .unit = "N",
     .help = "Event loops. 0 = one per CPU core"},
    {INT(struct settings, upstream_timeout_ms), .otherwise = 600000, .min = 1, .max = 86400000,
     .group = GROUP_MODELS, .unit = "MS",
     .help = "Longest silence of an upstream before a request fails"},
    {INT(struct settings, idle_timeout_ms), .otherwise = 75000, .min = 1, .max = 86400000,
     .group = GROUP_NETWORK, .unit = "MS",
     .help = "How long an idle client connection is kept open"},
    {INT(struct settings, request_timeout_ms), .otherwise = 30000, .min = 1, .max = 86400000,
     .group = GROUP_NETWORK, .unit = "MS", .help = "How long a client may take to send a request"},
    {INT(struct settings, shutdown_ms), .otherwise = 10000, .min = 0, .max = 600000,
     .group = GROUP_NETWORK, .unit = "MS",
     .help = "How long running requests may take to finish at shutdown"},
    {STR(struct settings, hosts), .otherwise_str = "", .max = 4000, .group = GROUP_NETWORK,
     .unit = "LIST",
     .help = "Host names accepted besides the loopback names, separated by commas. * = any"},
    {STR(struct settings, origins), .otherwise_str = "", .max = 4000, .group = GROUP_NETWORK,
     .unit = "LIST",
     .help = "Origins of web pages that may use the server, separated by commas, such as "
             "http://localhost:* or https://*.example.org"},
    {ENUM(struct settings, embedding_source), .otherwise_str = "auto", .one_of = embed_choice_names,
     .group = GROUP_VECTORS,
     .help = "What makes vectors: remote (an upstream), static (a lookup table), transformers (a "
             "local model) or encoder (the one in the program). auto = the first that is usable"},
    {SWITCH(struct settings, encoder), .otherwise_str = "on", .group = GROUP_VECTORS,
     .help = "Whether the encoder in the program finds memories by meaning: on or off. It reads "
             "English and needs nothing else"},
    {STR(struct settings, embedding_model), .otherwise_str = "", .max = 200, .group = GROUP_VECTORS,
     .unit = "[UPSTREAM/]MODEL",
     .help = "Remote embedding model, such as openai/text-embedding-3-small for a model of the "
             "upstream openai"},
    {SWITCH(struct settings, embedding_static), .otherwise_str = "off", .group = GROUP_VECTORS,
     .help = "Whether the static table is enabled: on or off"},
    {SWITCH(struct settings, embedding_transformers), .otherwise_str = "off",
     .group = GROUP_VECTORS, .help = "Whether the local transformer is enabled: on or off"},
    {STR(struct settings, static_model), .otherwise_str = "minishlab/potion-base-8M", .min = 1,
     .max = 200, .group = GROUP_VECTORS, .unit = "MODEL",
     .help = "Static embedding model. 'rememberd model list' shows the choices"},
    {STR(struct settings, transformers_model), .otherwise_str = "Xenova/all-MiniLM-L6-v2", .min = 1,
     .max = 200, .group = GROUP_VECTORS, .unit = "MODEL",
     .help = "Local transformer model. 'rememberd model list' shows the choices"},
    {STR(struct settings, model_dir), .otherwise_str = "", .max = 4000, .group = GROUP_VECTORS,
     .unit = "DIR", .help = "Folder of local models. Empty = the folder models in the data folder"},
    {STR(struct settings, model_url), .otherwise_str = "https://huggingface.co", .min = 1,
     .max = 2000, .group = GROUP_VECTORS, .unit = "URL",
     .help = "Where local embedding models are downloaded from: Hugging Face or a mirror"},
    {INT(struct settings, embedding_timeout_ms), .otherwise = 10000, .min = 1, .max = 600000,
     .group = GROUP_VECTORS, .unit = "MS", .help = "Longest wait for a remote embedding source"},
    {INT(struct settings, embedding_cache_max), .otherwise = 1000, .min = 0, .max = 1000000,
     .group = GROUP_VECTORS, .unit = "N", .help = "Most cached embeddings. 0 = no cache"},
    {INT(struct settings, embedding_cache_ttl_ms), .otherwise = 300000, .min = 0, .max = 86400000,
     .group = GROUP_VECTORS, .unit = "MS", .help = "How long cached embeddings are kept"},
    {SWITCH(struct settings, vectors), .otherwise_str = "on", .group = GROUP_VECTORS,
     .help = "Whether vectors are made and searched when there is an embedding source: on or off"},
    {ENUM(struct settings, vec_quantization), .otherwise_str = "none", .one_of = quantizations,
     .group = GROUP_VECTORS,
     .help = "How vectors are stored: none (float32) or int8 (a quarter of the size)"},
    {INT(struct settings, vec_top_k), .otherwise = 20, .min = 1, .max = 1000,
     .group = GROUP_VECTORS, .unit = "N",
     .help = "Nearest vectors considered by recall, for chats and searches"},
    {INT(struct settings, rrf_k), .otherwise = 60, .min = 0, .max = 10000, .group = GROUP_VECTORS,
     .unit = "N",
     .help = "Constant of OmniRoute's rank fusion. Read without effect, as one ranker weighs "
             "words and vectors"},
    {INT(struct settings, rerank_timeout_ms), .otherwise = 5000, .min = 1, .max = 600000,
     .group = GROUP_VECTORS, .unit = "MS",
     .help = "Longest wait for the reranking model, which PUT /api/settings/memory sets"},
    {STR(struct settings, core_model), .otherwise_str = "", .max = 200, .group = GROUP_MODELS,
     .unit = "[UPSTREAM/]MODEL",
     .help = "Model that distils conversations (into a short account, facts and lines about the "
             "user) and writes summaries. Without a core model, conversations wait and summaries "
             "are made by rules"},
    {INT(struct settings, core_timeout_ms), .otherwise = 60000, .min = 1, .max = 600000,
     .group = GROUP_MODELS, .unit = "MS", .help = "Longest wait for one answer of the core model"},
    {INT(struct settings, core_max_tokens), .otherwise = 4000, .min = 100, .max = 1000000,
     .group = GROUP_MODELS, .unit = "TOKENS",
     .help = "Most tokens in one answer of the core model. Reasoning models need the default or "
             "more"},
    {INT(struct settings, core_tokens_per_hour), .otherwise = 200000, .min = 0,
     .max = 1000000000000.0, .group = GROUP_MODELS, .unit = "TOKENS",
     .help = "Hourly token budget of the core model, for background work and for questions in "
             "chats (choosing the section of an Osaurus agent's chat, query rewriting). When it is "
             "used up, background work is queued, and chats go on without the core model. 0 = "
             "unlimited"},
    {INT(struct settings, core_parallel), .otherwise = 4, .min = 1, .max = 16,
     .group = GROUP_MODELS, .unit = "N", .help = "Most conversations distilled at one time"},
    {ENUM(struct settings, extraction_mode), .like = &runtime_fields[RUNTIME_EXTRACTION_MODE],
     .group = GROUP_MEMORY,
     .help = "When conversations are distilled: sessionEnd (after summary_debounce_s, or when "
             "another conversation of the space starts) or manual (on request)"},
    {INT(struct settings, summary_debounce_s), .like = &runtime_fields[RUNTIME_SUMMARY_DEBOUNCE],
     .group = GROUP_MEMORY, .unit = "SECONDS",
     .help = "Silence after which a conversation is distilled"},
    {ENUM(struct settings, gate_mode), .like = &runtime_fields[RUNTIME_GATE_MODE],
     .group = GROUP_MEMORY,
     .help = "How memory for a chat of an Osaurus agent is chosen: off (always episodes), "
             "heuristic (by phrases) or llm (by the core model)"},
    {INT(struct settings, memory_budget), .like = &runtime_fields[RUNTIME_MEMORY_BUDGET],
     .group = GROUP_MEMORY, .unit = "TOKENS",
     .help = "Most tokens of memory in a chat of an Osaurus agent"},
    {ENUM(struct settings, embedding_backend), .like = &runtime_fields[RUNTIME_EMBEDDING_BACKEND],
     .group = GROUP_VECTORS,
     .help = "Vectors in searches of an Osaurus agent: none (no vectors) or mlx (Osaurus's "
             "name; here the vectors of embedding_source)"},
    {INT(struct settings, consolidation_hours),
     .like = &runtime_fields[RUNTIME_CONSOLIDATION_HOURS], .group = GROUP_MEMORY, .unit = "HOURS",
     .help = "Time between two consolidations, which merge episodes and close unused facts"},
    {NUM(struct settings, salience_floor), .like = &runtime_fields[RUNTIME_SALIENCE_FLOOR],
     .group = GROUP_MEMORY, .unit = "0..1",
     .help = "Salience (importance that falls to a third in a month without use) below which "
             "consolidation closes a distilled fact, or one found by a pattern"},
    {INT(struct settings, episode_days), .like = &runtime_fields[RUNTIME_EPISODE_DAYS],
     .group = GROUP_MEMORY, .unit = "DAYS",
     .help =
         "How long episodes are kept. 0 = forever. If anything but the default 365 is set, or any "
         "value by the API, messages of conversations that ended longer ago are erased, too"},
    {STR(struct settings, qdrant_host), .otherwise_str = "", .max = 500, .group = GROUP_VECTORS,
     .unit = "HOST",
     .help =
         "Qdrant server, with or without scheme and port. A host set by /api/settings/qdrant wins"},
    {INT(struct settings, qdrant_port), .otherwise = 6333, .min = 1, .max = 65535,
     .group = GROUP_VECTORS, .unit = "PORT",
     .help = "Qdrant port, used when qdrant_host has no port"},
    {STR(struct settings, qdrant_api_key), .otherwise_str = "", .max = 4000, .secret = true,
     .group = GROUP_VECTORS, .unit = "KEY", .help = "API key for Qdrant"},
    {STR(struct settings, qdrant_collection), .otherwise_str = "omniroute_memory", .min = 1,
     .max = 255, .group = GROUP_VECTORS, .unit = "NAME",
     .help = "Name of the collection in Qdrant"},
    {STR(struct settings, qdrant_embedding_model), .otherwise_str = "openai/text-embedding-3-small",
     .min = 1, .max = 200, .group = GROUP_VECTORS, .unit = "[UPSTREAM/]MODEL",
     .help = "Embedding model of the vectors in Qdrant"},
    {INT(struct settings, qdrant_timeout_ms), .otherwise = 5000, .min = 1, .max = 600000,
     .group = GROUP_VECTORS, .unit = "MS", .help = "Longest wait for Qdrant"},
    {STR(struct settings, user_from), .otherwise_str = "all", .max = 4000, .group = GROUP_ACCESS,
     .unit = "LIST",
     .help = "Where the person behind a client is named, in order, separated by commas: headers, "
             "members of a chat's body, all (those known) or none"},
    {STR(struct settings, allow_addresses), .otherwise_str = "", .max = 4000, .group = GROUP_ACCESS,
     .unit = "LIST",
     .help = "IP addresses that may be called although they are link-local or a cloud's metadata "
             "service, separated by commas"},
    {SWITCH(struct settings, require_token), .otherwise_str = "off", .group = GROUP_ACCESS,
     .help = "Whether requests need a token although none was made yet: on, for a server behind a "
             "proxy, or off"},
    {INT(struct settings, user_memories_max), .otherwise = 0, .min = 0, .max = 1e12,
     .group = GROUP_ACCESS, .unit = "N",
     .help = "Most open memories of one user, in all spaces. 0 = unlimited"},
    {INT(struct settings, user_messages_max), .otherwise = 0, .min = 0, .max = 1e12,
     .group = GROUP_ACCESS, .unit = "N",
     .help = "Most stored messages of one user, in all spaces. 0 = unlimited"},
    {ENUM(struct settings, registration), .otherwise_str = "auto", .one_of = registrations,
     .group = GROUP_ACCESS,
     .help = "Who may create users with POST /v1/users: open (anyone), off (admins only) or auto. "
             "auto = anyone on this machine, while the server listens on loopback addresses only "
             "and no request needs a token"},
    {STR(struct settings, encryption_key), .otherwise_str = "", .max = 200, .secret = true,
     .group = GROUP_ACCESS, .unit = "KEY",
     .help = "Key that encrypts the API keys that users store, not the database: 32 bytes as "
             "base64url or 64 hex digits. Empty = a key is created in the data folder (seal.key)"},
    {STR(struct settings, model_fast), .otherwise_str = "openai/gemini-2.5-flash", .min = 1,
     .max = 200, .group = GROUP_MODELS, .unit = "[UPSTREAM/]MODEL",
     .help = "Model of /v1/chat for model_preference fast. The prefix openai/ is dropped when no "
             "upstream is called openai"},
    {STR(struct settings, model_balanced), .otherwise_str = "openai/llama-3.3-70b-versatile",
     .min = 1, .max = 200, .group = GROUP_MODELS, .unit = "[UPSTREAM/]MODEL",
     .help = "Model of /v1/chat for model_preference balanced"},
    {STR(struct settings, model_powerful), .otherwise_str = "openai/deepseek-r1-distill-llama-70b",
     .min = 1, .max = 200, .group = GROUP_MODELS, .unit = "[UPSTREAM/]MODEL",
     .help = "Model of /v1/chat for model_preference powerful"},
    {STR(struct settings, prices), .otherwise_str = "", .max = 8000, .group = GROUP_MODELS,
     .unit = "LIST",
     .help = "Prices in dollars per million tokens: MODEL=INPUT/OUTPUT, separated by commas. A "
             "model without a price costs 0"},
    {INT(struct settings, context_tokens), .otherwise = 16384, .min = 1024, .max = 10000000,
     .group = GROUP_MEMORY, .unit = "TOKENS",
     .help = "Context length assumed for models. Earlier messages of a session get a share of the "
             "context"},
    {SWITCH(struct settings, dynamic_window), .otherwise_str = "on", .group = GROUP_MEMORY,
     .help = "Whether the size of the model decides how many earlier turns of a session a chat "
             "includes: on (3 to 15) or off (10)"},
    {SWITCH(struct settings, session_budget), .otherwise_str = "on", .group = GROUP_MEMORY,
     .help =
         "Whether earlier messages of a session must fit their share of context_tokens: on or off"},
    {ENUM(struct settings, query_rewriting), .otherwise_str = "on", .one_of = rewritings,
     .group = GROUP_MEMORY,
     .help = "How follow-up questions are rewritten for the search: rules, on (by the core model "
             "if the chat model is large, otherwise by rules) or off"},
    {INT(struct settings, rewrite_timeout_ms), .otherwise = 1500, .min = 1, .max = 60000,
     .group = GROUP_MEMORY, .unit = "MS",
     .help = "Longest wait for the core model to rewrite a follow-up question"},
    {NUM(struct settings, importance_min), .otherwise = 0.3, .min = 0, .max = 1,
     .group = GROUP_MEMORY, .unit = "0..1",
     .help = "Lowest importance at which a fact that a pattern found in a chat is kept as a "
             "memory"},
    {NUM(struct settings, memory_decay), .otherwise = 0.05, .min = 0, .max = 1,
     .group = GROUP_MEMORY, .unit = "0..1",
     .help = "Decay per day of the importance that /v1/memory shows: exp(-memory_decay * days)"},
    {INT(struct settings, memory_max_age_days), .otherwise = 365, .min = 1, .max = 36500,
     .group = GROUP_MEMORY, .unit = "DAYS",
     .help = "Age after which POST /v1/memory/search no longer returns a memory"},
    {NUM(struct settings, dedup_similarity), .otherwise = 0.85, .min = 0, .max = 1,
     .group = GROUP_MEMORY, .unit = "0..1",
     .help = "Lowest similarity at which two memories are duplicates when no core model decides"},
    {SWITCH(struct settings, dedup_llm), .otherwise_str = "on", .group = GROUP_MEMORY,
     .help = "Whether the core model decides about two memories with a similarity from "
             "dedup_llm_low to dedup_llm_high: on or off"},
    {NUM(struct settings, dedup_llm_low), .otherwise = 0.85, .min = 0, .max = 1,
     .group = GROUP_MEMORY, .unit = "0..1",
     .help =
         "Lowest similarity at which the core model is asked whether two memories are duplicates"},
    {NUM(struct settings, dedup_llm_high), .otherwise = 0.95, .min = 0, .max = 1,
     .group = GROUP_MEMORY, .unit = "0..1",
     .help =
         "Lowest similarity at which two memories are duplicates without asking the core model, "
         "when dedup_llm is on"},
    {ENUM(struct settings, log_level), .otherwise_str = "info", .one_of = levels,
     .group = GROUP_LOGS, .help = "Lowest level that is logged: error, warn, info or debug"},
    {ENUM(struct settings, log_format), .otherwise_str = "text", .one_of = formats,
     .group = GROUP_LOGS, .help = "Format of log lines: text or json"},
    {0},
};
_Static_assert(sizeof settings_table / sizeof *settings_table <= SETTINGS_MAX + 1,
               "one for each row");
