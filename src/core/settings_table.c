/* settings_table.c - the tables of settings, made from the rows of settings.def. */
#include "core/settings.h"

const char *const placement_names[] = {"user-suffix", "before-user", "system", "first-user", NULL};
const char *const dialect_names[] = {"openai", "anthropic", "ollama", NULL};
static const char *const extraction_names[] = {"off", "user", "omniroute", NULL};
const char *const embed_choice_names[] = {"auto",         "remote",  "static",
                                          "transformers", "encoder", NULL};
static const char *const quantizations[] = {"none", "int8", NULL}; /* no binary ones */
static const char *const extraction_mode_names[] = {"sessionEnd", "manual", NULL};
static const char *const coverage_names[] = {"lean", "balanced", "full", NULL};
static const char *const gate_mode_names[] = {"off", "heuristic", "llm", NULL};
static const char *const embedding_backend_names[] = {"mlx", "none", NULL};
const char *const strategy_names[] = {"hybrid", "semantic", "recent", NULL};
const char *const quantization_names[] = {"none", "int8", "binary", NULL};
static const char *const stores[] = {"sqlite-vec", "qdrant", "auto", NULL};
static const char *const registrations[] = {"auto", "open", "off", NULL};
static const char *const socket_modes[] = {"600", "660", "666", NULL};
static const char *const rewritings[] = {"on", "rules", "off", NULL};
static const char *const levels[] = {"error", "warn", "info", "debug", NULL};
static const char *const formats[] = {"text", "json", NULL};

enum section {
    SECTION_NETWORK,
    SECTION_CHATS,
    SECTION_DISTILLATION,
    SECTION_SESSIONS,
    SECTION_DUPLICATES,
    SECTION_MODELS,
    SECTION_VECTORS,
    SECTION_QDRANT,
    SECTION_STORAGE,
    SECTION_ACCESS,
    SECTION_LOGS,
    SECTION_BY_API,
    SECTION_COUNT
};
const struct settings_section settings_sections[] = {
    [SECTION_NETWORK] = {"Network", "Network"},
    [SECTION_CHATS] = {"Memory in chats", "Memory"},
    [SECTION_DISTILLATION] = {"Distillation and consolidation", "Memory"},
    [SECTION_SESSIONS] = {"Sessions and follow-up questions", "Memory"},
    [SECTION_DUPLICATES] = {"Duplicates and age", "Memory"},
    [SECTION_MODELS] = {"Models", "Models"},
    [SECTION_VECTORS] = {"Vectors", "Vectors"},
    [SECTION_QDRANT] = {"Qdrant", "Vectors"},
    [SECTION_STORAGE] = {"Storage", "Storage"},
    [SECTION_ACCESS] = {"Access", "Access"},
    [SECTION_LOGS] = {"Logs", "Logs"},
    [SECTION_BY_API] = {"Set by the API only", "Memory"},
    [SECTION_COUNT] = {0},
};
const char *const settings_groups[] = {"Network", "Memory", "Models", "Vectors",
                                       "Storage", "Access", "Logs",   NULL};

/* --- the limits of a row --- */

#define NUMBER(DEFAULT, MIN, MAX, UNIT)                                                            \
    .otherwise = (DEFAULT), .min = (MIN), .max = (MAX), .unit = (UNIT)
#define TEXT(DEFAULT, MIN, MAX, UNIT)                                                              \
    .otherwise_str = (DEFAULT), .min = (MIN), .max = (MAX), .unit = (UNIT)
#define SECRET(MAX, UNIT) TEXT(NULL, 0, MAX, UNIT), .secret = true
#define NULLABLE(MAX, UNIT) TEXT(NULL, 0, MAX, UNIT), .empty = WHEN_EMPTY
#define CHOICE(DEFAULT, NAMES, ...) .otherwise_str = (DEFAULT), .one_of = (NAMES), ##__VA_ARGS__
#define ON .otherwise = true, .otherwise_str = "on", .one_of = ON_OFF_NAMES
#define OFF .otherwise_str = "off", .one_of = ON_OFF_NAMES

/* clang-format off */
/* A bool is a switch for people and a boolean in the API, where null empties a NULLABLE text. */
#define ROW(NAME, SECTION, HELP, BOOLEAN, ...)                                                     \
    {.name = #NAME, .at = offsetof(struct settings, NAME), .group = SECTION_##SECTION,             \
     .type = _Generic(((struct settings *)0)->NAME, str : FIELD_STR, int64_t : FIELD_INT,          \
         double : FIELD_NUM, bool : BOOLEAN, unsigned : FIELD_ENUM), .help = (HELP), __VA_ARGS__},

const struct field settings_table[] = {
#define WHEN_EMPTY EMPTY_STANDS
#define ON_OFF_NAMES on_off_names
#define START(TYPE, NAME, SECTION, LIMITS, HELP, ...) ROW(NAME, SECTION, HELP, FIELD_SWITCH, LIMITS)
#define LIVE START
#define API(...)
#include "core/settings.def"
#undef WHEN_EMPTY
#undef ON_OFF_NAMES
    {0},
};

const struct field live_fields[] = {
#define WHEN_EMPTY EMPTY_NULL
#define ON_OFF_NAMES NULL
#define START(...)
#define LIVE(TYPE, NAME, SECTION, LIMITS, HELP, ...) ROW(NAME, SECTION, HELP, FIELD_BOOL, LIMITS)
#define API LIVE
#include "core/settings.def"
    {0},
};

const struct setting_row settings_rows[] = {
#define IN_TABLE(NAME) .name = #NAME, .field = &settings_table[SETTING_##NAME]
#define START(TYPE, NAME, SECTION, LIMITS, HELP, ...) {IN_TABLE(NAME), __VA_ARGS__},
#define LIVE(TYPE, NAME, SECTION, LIMITS, HELP, ...)                                               \
    {IN_TABLE(NAME), .live = &live_fields[LIVE_##NAME], __VA_ARGS__},
#define API(TYPE, NAME, SECTION, LIMITS, HELP, ...)                                                \
    {.name = #NAME, .live = &live_fields[LIVE_##NAME], __VA_ARGS__},
#include "core/settings.def"
    {0},
};

/* clang-format on */

bool settings_is_in(const struct field *row, const char *group)
{
    return !strcmp(settings_sections[row->group].group, group);
}

void settings_defaults(struct settings *out)
{
    fields_defaults(settings_table, out);
    fields_defaults(live_fields, out);
}

str help_plain(struct arena *a, const char *help)
{
    struct buf b = buf_make(a, 4096);
    for (; *help; help++)
        if (*help != '`')
            buf_byte(&b, *help);
    return buf_str(&b);
}
