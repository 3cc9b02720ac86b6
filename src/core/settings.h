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
/* How much of what is probably needed a chat is given: the least, what most want, all of it. */
enum coverage { COVERAGE_LEAN, COVERAGE_BALANCED, COVERAGE_FULL };
enum gate_mode { GATE_MODE_OFF, GATE_MODE_HEURISTIC, GATE_MODE_LLM };
enum embedding_backend { BACKEND_EMBEDS, BACKEND_NONE };
enum registration_mode { REGISTRATION_AUTO, REGISTRATION_OPEN, REGISTRATION_OFF };
enum query_rewriting { REWRITE_ON, REWRITE_RULES, REWRITE_OFF };
/* Who may connect to a unix socket: its user, its group, too, or everyone. */
enum socket_mode { SOCKET_600, SOCKET_660, SOCKET_666 };
enum log_format { LOG_TEXT, LOG_JSON };

/* Names of what may be chosen, NULL-ended, in the order of the enums. */
extern const char *const embed_choice_names[]; /* auto, remote, static, transformers, encoder */

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

/* How things are found. hybrid: words and vectors; semantic: vectors; recent: the newest. */
enum strategy { STRATEGY_HYBRID, STRATEGY_SEMANTIC, STRATEGY_RECENT };
/* Where vectors are searched. */
enum vector_store { VECTORS_IN_STORE, VECTORS_IN_QDRANT, VECTORS_AUTO };
extern const char *const strategy_names[];
extern const char *const quantization_names[];

/* SETTING_budget_tokens: the place of a setting in settings_rows. */
enum setting_id {
#define START(TYPE, NAME, ...) SETTING_##NAME,
#define LIVE START
#define API START
#include "core/settings.def"
    SETTING_COUNT
};
/* LIVE_budget_tokens: the place in live_fields of a setting that the API changes. */
enum live_id {
#define START(...)
#define LIVE(TYPE, NAME, ...) LIVE_##NAME,
#define API LIVE
#include "core/settings.def"
    LIVE_COUNT
};

/* Where a setting's value comes from. FROM_API: someone has set it while a server ran. */
enum settings_place { FROM_DEFAULT, FROM_FILE, FROM_ENVIRONMENT, FROM_OPTION, FROM_API };

/* Durations in ms, sizes in bytes, unless the name says otherwise. */
struct settings {
#define START(TYPE, NAME, ...) TYPE NAME;
#define LIVE START
#define API START
#include "core/settings.def"
    struct upstream upstreams[UPSTREAMS_MAX]; /* the default first, if there is one */
    size_t n_upstreams;
    struct strs notes;         /* what was read, but should be corrected: sentences for the log */
    str complaint;             /* a note that a server does not start with; or "" */
    str host, port;            /* of the place that is read now: parts of listen */
    enum settings_place place; /* that is read now */
    unsigned char from[SETTING_COUNT]; /* enum settings_place */
};

/* The tables of the page of settings, in its order. Help has the sections of one group together. */
extern const struct settings_section {
    const char *title, *group;
} settings_sections[];
/* The headings of help, NULL-ended. */
extern const char *const settings_groups[];
/* Whether help has the row of settings_table under that heading. */
bool settings_is_in(const struct field *row, const char *group);

/* One row of settings.def. */
struct setting_row {
    const char *name;
    const struct field *field; /* in settings_table; NULL: only the API sets it */
    const struct field *live;  /* in live_fields; NULL: it acts at the start only */
    const char *stored;        /* its name in databases, when that is another one */
    const char *variable;      /* of another server whose users come here; our own names win */
    const char *only, *means;  /* only this truth of the variable counts, and means that */
    const char *cost;          /* what the setting takes, where that is known */
    const char *see;           /* what the page of settings adds to the help */
    const char *product;       /* whose clients alone need it: in the appendix of the page */
};
/* All of them; ends with an all-zero row. */
extern const struct setting_row settings_rows[SETTING_COUNT + 1];

/* Rows of struct settings: of flags, variables and the file, in the order of settings_rows; and of
 * the API, where a switch is true or false. .group is the section. */
extern const struct field settings_table[], live_fields[];

/* Every default of both tables. */
void settings_defaults(struct settings *out);

/* The help of a row without the backticks that mark code. */
str help_plain(struct arena *a, const char *help);

/* A setting on the command line. */
struct setting_flag {
    str typed, name, value; /* "--budget-tokens", "budget_tokens", "800" */
};

/*
 * Defaults, then the config file (TOML or JSON, the table's names), then REMEMBERD_… variables,
 * then flags; upstream may be repeated. A name that no row has is BAD_INPUT; a variable that no row
 * has is noted.
 */
MUST_USE enum status settings_load(struct ctx *ctx, const struct setting_flag *flags, size_t n,
                                   struct settings *out);

/* What settings_load checks at last: whether settings fit together. */
MUST_USE enum status settings_check(struct ctx *ctx, const struct settings *s);

/* The value of a text or number row of the struct that its table describes; secrets masked. */
void row_print(struct buf *b, const struct field *f, const void *in);

/* The table with values, as text for a person ("name = value  # help", by group) or as JSON.
 * Secrets are masked. */
void settings_print(struct buf *b, const struct settings *s, bool as_json);

/* The place of the setting of that name; SETTING_COUNT for another name. */
enum setting_id setting_of(str name);

/* A name with one character in the place of another: a flag has '-' for '_'. */
str name_respelt(struct arena *a, str name, char from, char to);

/* Whether someone has set it while a server ran. */
static inline bool setting_is_changed(const struct settings *s, enum setting_id id)
{
    return s->from[id] == FROM_API;
}

/* Whether a row of settings_table or live_fields has different values in two structs. */
bool setting_differs(const struct field *f, const void *a, const void *b);
bool upstreams_differ(const struct settings *a, const struct settings *b);

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
