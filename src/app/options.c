/* options.c - flags into structs by their tables; what no command knows is a setting. */
#include "app/options.h"

#include "core/memory.h"

static const char *const levels[] = {"turn", "session", NULL};
static const char *const pools[] = {"each", "one", NULL};

const struct field options_table[] = {
    {BOOL(struct options, help), .help = "say what it does and how it is used"},
    {BOOL(struct options, version), .help = "print the version"},
    {BOOL(struct options, routes), .help = "print every route of the server"},
    {BOOL(struct options, schema), .help = "print the OpenAPI document"},
    {BOOL(struct options, json), .help = "answer in JSON"},
    {BOOL(struct options, print_settings), .help = "print every setting with its value"},
    {STR(struct options, user), .otherwise_str = LOCAL_USER, .min = 1, .max = 200,
     .help = "whose memories"},
    {STR(struct options, space), .otherwise_str = "", .max = 200,
     .help = "which pool of that user; default, and of a new token one of its own"},
    {BOOL(struct options, explain), .help = "say why each thing was found"},
    {BOOL(struct options, closed), .help = "also superseded and expired memories"},
    {BOOL(struct options, everything), .help = "the whole pool"},
    {BOOL(struct options, all_spaces), .help = "with --everything: all pools of the user"},
    {BOOL(struct options, admin), .help = "may manage users, tokens and settings"},
    {BOOL(struct options, no_extract), .help = "keep the turns only, look for no facts"},
    {BOOL(struct options, dry_run), .help = "only show what would change, and why"},
    {BOOL(struct options, force),
     .help = "reindex: also what has its vector; restore: also over a database"},
    {STR(struct options, pool), .otherwise_str = "each", .one_of = pools,
     .help = "each: every conversation has a pool of its own; one: all are in one"},
    {STR(struct options, level), .otherwise_str = "turn", .one_of = levels,
     .help = "what counts as found: the turn or its session"},
    {INT(struct options, sessions), .min = 0, .max = 10000,
     .help = "only the first so many sessions of each conversation; 0: all"},
    {BOOL(struct options, follow_ups),
     .help = "measure questions that need the one before, with and without understanding them"},
    {STRS(struct options, k), .help = "ranks to measure at, as in 5,10,20"},
    {STR(struct options, dump), .otherwise_str = "", .help = "file for every candidate's signals"},
    {STR(struct options, name), .otherwise_str = "", .max = 200, .help = "what it is for"},
    {STR(struct options, key), .otherwise_str = "", .max = 512,
     .help = "the same key replaces what was said before"},
    {STR(struct options, type), .otherwise_str = "", .max = 32,
     .help = "factual, episodic, procedural or semantic"},
    {STR(struct options, category), .otherwise_str = "", .max = 128,
     .help = "preference, decision, or free"},
    {STR(struct options, session), .otherwise_str = "", .max = 256, .help = "one conversation"},
    {STR(struct options, from), .otherwise_str = "", .max = 4000,
     .help = "a folder that holds the files, instead of fetching them"},
    {STR(struct options, new_key_file), .otherwise_str = "", .max = 4000,
     .help = "holds the new key, and is made with one when it is missing; or the variable "
             "REMEMBERD_NEW_KEY has it"},
    {STR(struct options, contains), .otherwise_str = "", .help = "text in content or key"},
    {NUM(struct options, importance), .otherwise = 0.5, .min = 0, .max = 1, .help = "0 to 1"},
    {INT(struct options, limit), .otherwise = 10, .min = 1, .max = 500, .help = "most results"},
    {INT(struct options, offset), .max = 1e9, .help = "how many to leave out"},
    {INT(struct options, days), .max = 36500, .help = "days until it expires; 0: never"},
    {0},
};

static const struct field *row_of(const struct field *table, str name)
{
    for (const struct field *f = table; f->name; f++)
        if (str_is(name, f->name))
            return f;
    return NULL;
}

/* "--print-settings" is the field print_settings. */
static str field_name(struct ctx *ctx, str flag)
{
    char *p = arena_alloc(&ctx->arena, flag.n + 1);
    for (size_t i = 0; i < flag.n; i++)
        p[i] = (char)(flag.p[i] == '-' ? '_' : flag.p[i]);
    return (str){p, flag.n};
}

struct line {
    int argc, at;
    char **argv;
    int n_settings;
    char **settings; /* the flags that are settings, with their values */
};

static enum status take_flag(struct ctx *ctx, struct line *l, struct options *out)
{
    char *whole = l->argv[l->at];
    str rest = str_of(whole + 2);
    bool has_value = str_find(rest, S("=")) < rest.n;
    str flag = str_cut(&rest, '='), name = field_name(ctx, flag);
    const struct field *f = row_of(options_table, name);
    const char *said = str_c(&ctx->arena, str_printf(&ctx->arena, "--" S_FMT, S_ARG(flag)));
    if (!f && !row_of(settings_table, name))
        return fail(ctx, BAD_INPUT, "unknown flag %s", said);
    if (f)
        out->given.v[out->given.n++] = str_of(f->name);
    if (f && f->type == FIELD_BOOL && !has_value)
        return fields_set(ctx, options_table, name, S("true"), out);
    if (!has_value && l->at + 1 >= l->argc)
        return fail(ctx, BAD_INPUT, "%s needs a value", said);
    if (!f) {
        l->settings[l->n_settings++] = whole;
        if (!has_value)
            l->settings[l->n_settings++] = l->argv[++l->at];
        return OK;
    }
    enum status s =
        fields_set(ctx, options_table, name, has_value ? rest : str_of(l->argv[++l->at]), out);
    if (s != OK)
        snprintf(ctx->field, sizeof ctx->field, "%s", said);
    return s;
}

enum status options_read(struct ctx *ctx, int argc, char **argv, struct options *out)
{
    struct line l = {argc, 0, argv, 0, NEW_N(&ctx->arena, char *, (size_t)argc + 1)};
    struct strs words = {NEW_N(&ctx->arena, str, (size_t)argc + 1), 0}, rest;
    bool is_over = false;
    *out = (struct options){0};
    out->given.v = NEW_N(&ctx->arena, str, (size_t)argc + 1);
    fields_defaults(options_table, out);
    for (; l.at < argc; l.at++) {
        str word = str_of(argv[l.at]);
        if (is_over || !str_starts(word, S("-")) || word.n == 1)
            words.v[words.n++] = word;
        else if (str_is(word, "--"))
            is_over = true;
        else if (str_is(word, "-h"))
            out->help = true;
        else if (str_starts(word, S("--")))
            TRY(take_flag(ctx, &l, out));
        else
            return fail(ctx, BAD_INPUT, "unknown flag " S_FMT, S_ARG(word));
    }
    out->words = words;
    if (!out->space.n)
        out->space = S(DEFAULT_SPACE);
    return settings_load(ctx, l.n_settings, l.settings, &rest, &out->settings);
}

bool options_has(const struct options *o, const char *name)
{
    for (size_t i = 0; i < o->given.n; i++)
        if (str_is(o->given.v[i], name))
            return true;
    return false;
}

str options_text(struct ctx *ctx, const struct options *o, size_t from)
{
    str text = S("");
    for (size_t i = from; i < o->words.n; i++)
        text = str_printf(&ctx->arena, S_FMT "%s" S_FMT, S_ARG(text), i > from ? " " : "",
                          S_ARG(o->words.v[i]));
    return text;
}
