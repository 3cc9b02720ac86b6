/* settings.c - the settings table, and the places its values come from. */
#include "core/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"

static const char *const on_off[] = {"on", "off", NULL};
const char *const placement_names[] = {"user-suffix", "before-user", "system", "first-user", NULL};
static const char *const extractions[] = {"user", "seed", "off", NULL};
static const char *const sources[] = {"auto", "remote", "static", "transformers", NULL};
static const char *const quantizations[] = {"none", "int8", NULL};
static const char *const extraction_modes[] = {"sessionEnd", "manual", NULL};
static const char *const gate_modes[] = {"off", "heuristic", "llm", NULL};
static const char *const dialects[] = {"openai", "anthropic", NULL};
static const char *const levels[] = {"error", "warn", "info", "debug", NULL};
static const char *const formats[] = {"text", "json", NULL};

/* The file may set what a flag may; upstreams have a shape of their own there. */
const struct field settings_table[] = {
    {STR(struct settings, listen), .otherwise_str = "127.0.0.1:7077", .min = 1, .max = 200,
     .help = "address and port to serve on; port 0 picks a free one"},
    {STR(struct settings, data), .otherwise_str = "", .max = 4000,
     .help = "folder of the database; empty: $XDG_DATA_HOME/rememberd or ~/.local/share/rememberd"},
    {STR(struct settings, key_file), .otherwise_str = "", .max = 4000,
     .help = "a file, closed to others, that holds the key of an encrypted store (32 bytes or 64 "
             "hex digits); or the variable REMEMBERD_KEY holds it; neither: a kept key is found"},
    {STR(struct settings, key_command), .otherwise_str = "", .max = 4000, .secret = true,
     .help = "a shell command that prints it, as a password manager's"},
    {STR(struct settings, config), .otherwise_str = "", .max = 4000,
     .help = "a JSON file with these settings"},
    {STR(struct settings, upstream), .otherwise_str = "", .max = 2000,
     .help = "base URL of the model server (https://api.openai.com/v1); NAME=URL adds one for "
             "models NAME/…; "
             "none: the built-in model rememberd/demo"},
    {STR(struct settings, upstream_key), .otherwise_str = "", .max = 4000, .secret = true,
     .help = "key sent to the default upstream when the client's own is not passed on"},
    {STR(struct settings, memory), .otherwise_str = "on", .one_of = on_off,
     .help = "whether to remember and recall: on or off"},
    {STR(struct settings, placement), .otherwise_str = "user-suffix", .one_of = placement_names,
     .help =
         "where recalled memory goes: user-suffix (end of the last user message), before-user (a "
         "message before it), system (a system message) or first-user (a first user message)"},
    {STR(struct settings, extraction), .otherwise_str = "user", .one_of = extractions,
     .help = "facts by patterns: user (from the user's words), seed (exactly as OmniRoute's table "
             "has it) or off"},
    {INT(struct settings, budget_tokens), .otherwise = 800, .min = 0, .max = 16000,
     .help = "most tokens a chat may get from memory; 0 injects nothing"},
    {INT(struct settings, recall_limit), .otherwise = 10, .min = 1, .max = 100,
     .help = "most remembered things a chat may get"},
    {INT(struct settings, recall_deadline_ms), .otherwise = 150, .min = 1, .max = 10000,
     .help = "a recall that takes longer is left out of the chat"},
    {NUM(struct settings, gate_threshold), .otherwise = 0.05, .min = 0, .max = 1,
     .help = "how likely the best memory must be to help before any is injected; higher is more "
             "silent"},
    {INT(struct settings, tool_rounds), .otherwise = 4, .min = 1, .max = 20,
     .help = "how often a model that calls search_memory is asked again within one request"},
    {INT(struct settings, receipt_days), .otherwise = 30, .min = 1, .max = 3650,
     .help = "days that receipts are kept"},
    {INT(struct settings, body_max), .otherwise = 32 << 20, .min = 1024, .max = 1 << 30,
     .help = "largest request body in bytes"},
    {INT(struct settings, header_max), .otherwise = 64 << 10, .min = 1024, .max = 1 << 20,
     .help = "largest request head in bytes"},
    {INT(struct settings, connections_max), .otherwise = 4096, .min = 1, .max = 100000,
     .help = "most client connections at once"},
    {INT(struct settings, queue_max), .otherwise = 1024, .min = 1, .max = 100000,
     .help = "most requests waiting for a worker"},
    {INT(struct settings, workers), .otherwise = 0, .max = 256,
     .help = "worker threads; 0: two per core, at least 4"},
    {INT(struct settings, loops), .otherwise = 0, .max = 64,
     .help = "event loops; 0: one per core"},
    {INT(struct settings, upstream_timeout_ms), .otherwise = 600000, .min = 1, .max = 86400000,
     .help = "longest silence of an upstream"},
    {INT(struct settings, idle_timeout_ms), .otherwise = 75000, .min = 1, .max = 86400000,
     .help = "how long an idle connection is kept"},
    {INT(struct settings, request_timeout_ms), .otherwise = 30000, .min = 1, .max = 86400000,
     .help = "how long a request may take to arrive"},
    {INT(struct settings, shutdown_ms), .otherwise = 10000, .min = 0, .max = 600000,
     .help = "how long running requests may take to finish at shut-down"},
    {STR(struct settings, hosts), .otherwise_str = "", .max = 4000,
     .help = "Host names served besides the loopback ones, separated by commas; * serves any"},
    {STR(struct settings, embedding_source), .otherwise_str = "auto", .one_of = sources,
     .help = "what makes vectors: remote (an upstream), static (a table), transformers (a model "
             "run here), or auto (the first that can be used)"},
    {STR(struct settings, embedding_model), .otherwise_str = "", .max = 200,
     .help = "PROVIDER/MODEL of a remote source; PROVIDER is the name of an upstream"},
    {STR(struct settings, embedding_static), .otherwise_str = "off", .one_of = on_off,
     .help = "whether the static table may be used: on or off"},
    {STR(struct settings, embedding_transformers), .otherwise_str = "off", .one_of = on_off,
     .help = "whether the transformer may be used: on or off"},
    {STR(struct settings, static_model), .otherwise_str = "minishlab/potion-base-8M", .min = 1,
     .max = 200, .help = "the static table; rememberd model list shows what there is"},
    {STR(struct settings, transformers_model), .otherwise_str = "Xenova/all-MiniLM-L6-v2", .min = 1,
     .max = 200, .help = "the transformer"},
    {STR(struct settings, model_dir), .otherwise_str = "", .max = 4000,
     .help = "folder of models; empty: models in the data folder"},
    {STR(struct settings, model_url), .otherwise_str = "https://huggingface.co", .min = 1,
     .max = 2000, .help = "where models are fetched from: Hugging Face or a mirror of it"},
    {INT(struct settings, embedding_timeout_ms), .otherwise = 10000, .min = 1, .max = 600000,
     .help = "longest wait for a remote source"},
    {INT(struct settings, embedding_cache_max), .otherwise = 1000, .min = 0, .max = 1000000,
     .help = "most vectors kept for texts that come again; 0 keeps none"},
    {INT(struct settings, embedding_cache_ttl_ms), .otherwise = 300000, .min = 0, .max = 86400000,
     .help = "how long they are kept"},
    {STR(struct settings, vectors), .otherwise_str = "on", .one_of = on_off,
     .help = "whether vectors are made and searched, where there is a source: on or off"},
    {STR(struct settings, vec_quantization), .otherwise_str = "none", .one_of = quantizations,
     .help = "how vectors are kept: none (float32) or int8 (a quarter of it)"},
    {INT(struct settings, vec_top_k), .otherwise = 20, .min = 1, .max = 1000,
     .help = "how many nearest vectors a search of memories looks for when it names no number"},
    {INT(struct settings, rrf_k), .otherwise = 60, .min = 0, .max = 10000,
     .help = "k of reciprocal rank fusion, where words and vectors are put together by rank"},
    {INT(struct settings, rerank_timeout_ms), .otherwise = 5000, .min = 1, .max = 600000,
     .help = "longest wait for a reranker"},
    {STR(struct settings, core_model), .otherwise_str = "", .max = 200,
     .help = "[UPSTREAM/]MODEL that distils conversations and writes summaries; empty: "
             "conversations wait, and summaries are condensed by rule"},
    {INT(struct settings, core_timeout_ms), .otherwise = 60000, .min = 1, .max = 600000,
     .help = "longest wait for one answer of it"},
    {INT(struct settings, core_max_tokens), .otherwise = 4000, .min = 100, .max = 1000000,
     .help = "most tokens of one answer of it; a model that thinks before it answers needs more"},
    {INT(struct settings, core_tokens_per_hour), .otherwise = 200000, .min = 0,
     .max = 1000000000000.0,
     .help = "most tokens, asked and answered, that background work may spend on it within an "
             "hour; what is over waits; 0 has no limit"},
    {INT(struct settings, core_parallel), .otherwise = 4, .min = 1, .max = 16,
     .help = "most conversations that are distilled at once"},
    {STR(struct settings, extraction_mode), .otherwise_str = "sessionEnd",
     .one_of = extraction_modes,
     .help =
         "when conversations are distilled: sessionEnd (after the debounce, or when another one "
         "begins) or manual (when asked for)"},
    {INT(struct settings, summary_debounce_s), .otherwise = 60, .min = 10, .max = 3600,
     .help = "seconds of silence after which a conversation is distilled"},
    {STR(struct settings, gate_mode), .otherwise_str = "heuristic", .one_of = gate_modes,
     .help = "how a chat of an Osaurus agent is given memory: off (always episodes), heuristic (by "
             "phrases) or llm (asks the core model)"},
    {INT(struct settings, memory_budget), .otherwise = 800, .min = 100, .max = 4000,
     .help = "most tokens of memory in a chat of an Osaurus agent"},
    {STR(struct settings, embedding_backend), .otherwise_str = "mlx", .min = 1, .max = 64,
     .help = "none leaves vectors out of an Osaurus agent's searches; else they are made by "
             "embedding_source"},
    {INT(struct settings, consolidation_hours), .otherwise = 24, .min = 1, .max = 168,
     .help = "hours between two consolidations"},
    {NUM(struct settings, salience_floor), .otherwise = 0.2, .min = 0, .max = 1,
     .help = "what was distilled, is not used and is worth less than this goes in a consolidation"},
    {INT(struct settings, episode_days), .otherwise = 365, .max = 3650,
     .help = "days that episodes are kept; 0: for ever"},
    {STR(struct settings, qdrant_host), .otherwise_str = "", .max = 500,
     .help = "Qdrant, with or without a scheme and a port, until /api/settings/qdrant names one"},
    {INT(struct settings, qdrant_port), .otherwise = 6333, .min = 1, .max = 65535,
     .help = "where its host names none"},
    {STR(struct settings, qdrant_api_key), .otherwise_str = "", .max = 4000, .secret = true,
     .help = "sent to it as api-key"},
    {STR(struct settings, qdrant_collection), .otherwise_str = "omniroute_memory", .min = 1,
     .max = 255, .help = "its collection"},
    {STR(struct settings, qdrant_embedding_model), .otherwise_str = "openai/text-embedding-3-small",
     .min = 1, .max = 200, .help = "PROVIDER/MODEL of the vectors there"},
    {INT(struct settings, qdrant_timeout_ms), .otherwise = 5000, .min = 1, .max = 600000,
     .help = "longest wait for it"},
    {STR(struct settings, log_level), .otherwise_str = "info", .one_of = levels,
     .help = "least level that is logged: error, warn, info or debug"},
    {STR(struct settings, log_format), .otherwise_str = "text", .one_of = formats,
     .help = "how lines are logged: text or json"},
    {0},
};

static const struct field upstream_table[] = {
    {STR(struct upstream, name), .max = 64,
     .help = "models called NAME/… go here; empty: the default"},
    {STR(struct upstream, url), .required = true, .min = 1, .max = 2000, .help = "base URL"},
    {STR(struct upstream, key), .max = 4000, .secret = true, .help = "bearer token"},
    {STR(struct upstream, placement), .max = 20, .help = "overrides the setting placement"},
    {STR(struct upstream, dialect), .max = 20,
     .help = "how a core model is asked there: openai (chat completions, the default) or anthropic "
             "(messages)"},
    {0},
};

static enum status add_upstream(struct ctx *ctx, struct settings *s, struct upstream u)
{
    if (!str_starts(u.url, S("http://")) && !str_starts(u.url, S("https://")))
        return fail_field(ctx, "upstream", "must start with http:// or https://");
    str rest = str_sub(u.url, str_find(u.url, S("://")) + 3, u.url.n), host = str_cut(&rest, '/');
    if (str_find(host, S("@")) < host.n)
        return fail_field(ctx, "upstream",
                          "must not hold a user or password, which would show in lists and logs; "
                          "use upstream_key, or a client's own Authorization");
    if (u.placement.n && name_index(placement_names, u.placement, -1) < 0)
        return fail_field(ctx, "upstreams.placement",
                          "must be one of: user-suffix, before-user, system, first-user");
    if (u.dialect.n && name_index(dialects, u.dialect, -1) < 0)
        return fail_field(ctx, "upstreams.dialect", "must be one of: openai, anthropic");
    while (str_ends(u.url, S("/")))
        u.url.n--;
    for (size_t i = 0; i < s->n_upstreams; i++) {
        if (str_eq(s->upstreams[i].name, u.name)) {
            s->upstreams[i] = u;
            return OK;
        }
    }
    if (s->n_upstreams == UPSTREAMS_MAX)
        return fail_field(ctx, "upstream", "at most %d may be named", UPSTREAMS_MAX);
    s->upstreams[s->n_upstreams++] = u;
    return OK;
}

/* "URL" is the default upstream, "NAME=URL" one of that name. */
static enum status set_upstream(struct ctx *ctx, struct settings *s, str text)
{
    size_t equals = str_find(text, S("=")), scheme = str_find(text, S("://"));
    struct upstream u = {.url = text};
    if (equals < text.n && equals < scheme) {
        u.name = str_sub(text, 0, equals);
        u.url = str_sub(text, equals + 1, text.n);
    }
    return add_upstream(ctx, s, u);
}

static enum status check_listen(struct ctx *ctx, str text)
{
    int64_t port;
    size_t colon = text.n;
    while (colon && text.p[colon - 1] != ':')
        colon--;
    if (colon && str_int(str_sub(text, colon, text.n), &port) && port >= 0 && port <= 65535)
        return OK;
    return fail_field(ctx, "listen", "must be an address and a port, as 127.0.0.1:7077");
}

static enum status set_one(struct ctx *ctx, struct settings *s, str name, str text)
{
    TRY(fields_set(ctx, settings_table, name, text, s));
    if (str_is(name, "listen"))
        TRY(check_listen(ctx, text));
    return str_is(name, "upstream") && text.n ? set_upstream(ctx, s, text) : OK;
}

/* --- the file --- */

static enum status read_file(struct ctx *ctx, const char *path, str *out)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return fail_field(ctx, "config", "cannot be opened: %s: %s", path, strerror(errno));
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    char piece[4096];
    size_t n;
    while ((n = fread(piece, 1, sizeof piece, f)) > 0)
        buf_add(&b, (str){piece, n});
    bool broken = ferror(f) != 0;
    fclose(f);
    if (broken || b.full)
        return fail_field(ctx, "config", "%s: %s", path,
                          broken ? "cannot be read" : "is over 1 MiB");
    *out = buf_str(&b);
    return OK;
}

static enum status take_file(struct ctx *ctx, struct settings *s, str text)
{
    struct json *root;
    TRY(json_parse(ctx, text, &root));
    if (root->type != JSON_OBJECT)
        return fail(ctx, BAD_INPUT, "a JSON object is expected");
    for (const struct json *m = root->first; m; m = m->next) {
        if (!str_is(m->key, "upstreams")) {
            TRY(set_one(ctx, s, m->key, m->type == JSON_STRING ? m->string : m->source));
            continue;
        }
        if (m->type != JSON_ARRAY)
            return fail_field(ctx, "upstreams",
                              "must be an array of {name, url, key, placement, dialect}");
        for (const struct json *item = m->first; item; item = item->next) {
            struct upstream u;
            TRY(fields_read(ctx, upstream_table, item, true, &u));
            TRY(add_upstream(ctx, s, u));
        }
    }
    return OK;
}

static enum status load_file(struct ctx *ctx, struct settings *s, const char *path)
{
    str text;
    TRY(read_file(ctx, path, &text));
    if (take_file(ctx, s, text) == OK)
        return OK;
    str why = str_printf(&ctx->arena, "%s (in the file %s)", ctx->why, path);
    snprintf(ctx->why, sizeof ctx->why, S_FMT, S_ARG(why));
    return BAD_INPUT;
}

/* --- environment and flags --- */

/* Names under which OmniRoute's users know a setting; ours win, also those of the file. */
static const struct {
    const char *variable, *setting;
    const char *only,
        *means; /* this value alone counts, and says that; NULL: it is the setting's */
} other_names[] = {
    {"DATA_DIR", "data"},
    {"MEMORY_EMBEDDING_CACHE_MAX", "embedding_cache_max"},
    {"MEMORY_EMBEDDING_CACHE_TTL_MS", "embedding_cache_ttl_ms"},
    {"MEMORY_STATIC_MODEL", "static_model"},
    {"MEMORY_TRANSFORMERS_MODEL", "transformers_model"},
    {"MEMORY_STATIC_CACHE_DIR", "model_dir"},
    {"MEMORY_VEC_QUANTIZATION", "vec_quantization"},
    {"MEMORY_VEC_TOP_K", "vec_top_k"},
    {"MEMORY_RRF_K", "rrf_k"},
    {"VECTOR_STORE_DISABLE_VEC", "vectors", "true", "off"},
    {"HF_HUB_ENDPOINT", "model_url"},
    {"QDRANT_HOST", "qdrant_host"},
    {"QDRANT_PORT", "qdrant_port"},
    {"QDRANT_API_KEY", "qdrant_api_key"},
    {"QDRANT_COLLECTION", "qdrant_collection"},
    {"QDRANT_EMBEDDING_MODEL", "qdrant_embedding_model"},
};

static enum status load_variable(struct ctx *ctx, struct settings *s, const char *variable,
                                 const char *setting)
{
    const char *value = getenv(variable);
    if (!value || set_one(ctx, s, str_of(setting), str_of(value)) == OK)
        return OK;
    snprintf(ctx->field, sizeof ctx->field, "%s", variable);
    return BAD_INPUT;
}

static enum status load_other_names(struct ctx *ctx, struct settings *s)
{
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++) {
        const char *value = getenv(other_names[i].variable), *only = other_names[i].only;
        str setting = str_of(other_names[i].setting);
        if (!value || !*value)
            continue;
        if (!only)
            TRY(load_variable(ctx, s, other_names[i].variable, other_names[i].setting));
        else if (!strcmp(value, only))
            TRY(set_one(ctx, s, setting, str_of(other_names[i].means)));
    }
    return OK;
}

static enum status load_environment(struct ctx *ctx, struct settings *s)
{
    for (const struct field *f = settings_table; f->name; f++) {
        char name[80] = "REMEMBERD_";
        size_t n = strlen(name);
        for (const char *c = f->name; *c && n + 1 < sizeof name; c++)
            name[n++] = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
        name[n] = 0;
        TRY(load_variable(ctx, s, name, f->name));
    }
    return OK;
}

struct flag {
    str typed, name, value; /* "--budget-tokens", "budget_tokens" */
};

/* Reads argv[*i] as a flag; its value may be the next word. False when it is no flag. */
static bool take_flag(struct ctx *ctx, int argc, char **argv, int *i, struct flag *out,
                      bool *lacks_value)
{
    str word = str_of(argv[*i]);
    if (!str_starts(word, S("--")) || word.n == 2)
        return false;
    str rest = str_sub(word, 2, word.n);
    bool has_value = str_find(rest, S("=")) < rest.n;
    str name = str_cut(&rest, '=');
    char *p = arena_alloc(&ctx->arena, name.n + 1);
    for (size_t k = 0; k < name.n; k++)
        p[k] = (char)(name.p[k] == '-' ? '_' : name.p[k]);
    out->typed = str_sub(word, 0, 2 + name.n);
    out->name = (str){p, name.n};
    *lacks_value = !has_value && *i + 1 >= argc;
    out->value = has_value ? rest : *lacks_value ? (str){0} : str_of(argv[++*i]);
    return true;
}

static enum status load_flags(struct ctx *ctx, int argc, char **argv, struct strs *rest,
                              struct settings *s, bool only_config)
{
    rest->v = NEW_N(&ctx->arena, str, (size_t)argc + 1);
    rest->n = 0;
    for (int i = 0; i < argc; i++) {
        struct flag flag;
        bool lacks_value;
        if (!take_flag(ctx, argc, argv, &i, &flag, &lacks_value)) {
            rest->v[rest->n++] = str_of(argv[i]);
            continue;
        }
        if (lacks_value)
            return fail_field(ctx, str_c(&ctx->arena, flag.name), "needs a value");
        if (only_config != str_is(flag.name, "config"))
            continue;
        if (set_one(ctx, s, flag.name, flag.value) != OK) {
            snprintf(ctx->field, sizeof ctx->field, S_FMT, S_ARG(flag.typed));
            return BAD_INPUT;
        }
    }
    return OK;
}

enum status settings_load(struct ctx *ctx, int argc, char **argv, struct strs *rest,
                          struct settings *out)
{
    const char *config = getenv("REMEMBERD_CONFIG");
    *out = (struct settings){0};
    fields_defaults(settings_table, out);
    if (config)
        out->config = str_of(config);
    TRY(load_other_names(ctx, out));
    TRY(load_flags(ctx, argc, argv, rest, out, true));
    if (out->config.n)
        TRY(load_file(ctx, out, str_c(&ctx->arena, out->config)));
    TRY(load_environment(ctx, out));
    TRY(load_flags(ctx, argc, argv, rest, out, false));
    for (size_t i = 0; i < out->n_upstreams; i++)
        if (!out->upstreams[i].name.n && !out->upstreams[i].key.n)
            out->upstreams[i].key = out->upstream_key;
    return OK;
}

/* --- printing and choosing --- */

void settings_print(struct buf *b, const struct settings *s, bool as_json)
{
    if (as_json) {
        struct json_out w = json_to(b);
        fields_write(&w, settings_table, s);
        buf_byte(b, '\n');
        return;
    }
    for (const struct field *f = settings_table; f->name; f++) {
        const void *at = (const char *)s + f->at;
        size_t from = b->n;
        buf_printf(b, "%s = ", f->name);
        if (f->type == FIELD_STR)
            buf_add(b, f->secret && ((const str *)at)->n ? S("***") : *(const str *)at);
        else if (f->type == FIELD_NUM)
            buf_printf(b, "%g", *(const double *)at);
        else
            buf_printf(b, "%lld", (long long)*(const int64_t *)at);
        buf_printf(b, "%*s  # %s\n", (int)(b->n - from < 40 ? 40 - (b->n - from) : 0), "", f->help);
    }
    for (size_t i = 0; i < s->n_upstreams; i++) {
        const struct upstream *u = &s->upstreams[i];
        buf_printf(b, "# models " S_FMT "%s go to " S_FMT "\n", S_ARG(u->name),
                   u->name.n ? "/…" : "without a name of these", S_ARG(u->url));
    }
}

const struct upstream *settings_upstream(const struct settings *s, str *model)
{
    const struct upstream *otherwise = NULL;
    str rest = *model, prefix = str_cut(&rest, '/');
    for (size_t i = 0; i < s->n_upstreams; i++) {
        const struct upstream *u = &s->upstreams[i];
        if (!u->name.n) {
            otherwise = u;
        } else if (str_eq(u->name, prefix) && rest.n) {
            *model = rest;
            return u;
        }
    }
    return otherwise;
}

/* Whether a segment of the URL's path is a version ("/v1", "/v1beta/openai", "/paas/v4"). */
static bool has_version(str url)
{
    size_t scheme = str_find(url, S("://"));
    str path = scheme < url.n ? str_sub(url, scheme + 3, url.n) : url;
    str_cut(&path, '/');
    while (path.n) {
        str segment = str_cut(&path, '/');
        if (segment.n >= 2 && segment.p[0] == 'v' && isdigit((unsigned char)segment.p[1]))
            return true;
    }
    return false;
}

str upstream_url(struct arena *a, const struct upstream *up, str path, str query)
{
    if (has_version(up->url))
        path = str_sub(path, S("/v1").n, path.n);
    return str_printf(a, S_FMT S_FMT "%s" S_FMT, S_ARG(up->url), S_ARG(path), query.n ? "?" : "",
                      S_ARG(query));
}
