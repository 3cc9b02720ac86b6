/* options.c - reads flags by the tables of options and settings. */
#include "app/options.h"

#include "core/memory.h"
#include "core/settings_set.h"

/*
 * A command line has three kinds of words: options of commands (options_table), settings of the
 * program (settings_table in core), and the rest, which are the command and its arguments. A
 * switch needs no value. given remembers which options were written, so that run.c can refuse those
 * that the command does not take, and a command can tell a default from a wish (options_has).
 */

static const char *const levels[] = {"turn", "session", NULL};
static const char *const pools[] = {"each", "one", NULL};

#define FLAG(NAME, HELP)                                                                           \
    {                                                                                              \
        BOOL(struct options, NAME), .help = HELP                                                   \
    }
#define TEXT(NAME, MAX, UNIT, HELP, ...)                                                           \
    {                                                                                              \
        STR(struct options, NAME), .max = MAX, .unit = UNIT, .help = HELP, ##__VA_ARGS__           \
    }
/* For all commands: the same name means the same everywhere. */
const struct field options_table[] = {
    FLAG(help, "Print help"),
    FLAG(help_all, "Print help with every setting"),
    FLAG(version, "Print the version"),
    FLAG(routes, "Print every route of the server"),
    FLAG(schema, "Print the API as an OpenAPI document"),
    FLAG(json, "Print JSON instead of text"),
    FLAG(print_settings, "Print every setting with its value, with --json as JSON, and exit"),
    TEXT(user, 1000, "NAME",
         "User whose memories are used. OWNER/PERSON is a person behind the owner's client",
         .otherwise_str = LOCAL_USER, .min = 1, .is_name = true),
    TEXT(space, 200, "NAME", "Space of the user. Each space has memories of its own",
         .is_name = true),
    FLAG(explain, "Show why each result was found"),
    FLAG(closed, "Include archived memories (kept as history: superseded or merged), and expired "
                 "ones until they are erased"),
    FLAG(everything, "Erase everything in the space"),
    FLAG(all_spaces, "With --everything: erase all spaces of the user"),
    FLAG(people, "Erase the people of the user's clients, too"),
    FLAG(admin, "Create a token that may read settings and metrics, use all spaces of its user, "
                "and do what the user's role allows: local is an owner"),
    TEXT(acts_for, 4000, "any|LIST",
         "People that the token's client may name, each with memories of their own: any, or names "
         "separated by commas",
         .min = 1, .is_name = true),
    TEXT(scopes, 100, "LIST",
         "What the token may do, of chat, read, write, export and manage, separated by commas. "
         "Without --scopes: everything",
         .min = 1),
    TEXT(spaces, 4000, "LIST",
         "Bind the token to these spaces, separated by commas. The first is its own, unless "
         "--space names another of them",
         .min = 1, .is_name = true),
    FLAG(no_extract, "Store the messages only, extract no facts"),
    FLAG(allowed, "Only what was allowed"),
    FLAG(remove, "Take the entry out again"),
    FLAG(yes, "Do not ask"),
    FLAG(accept_loss,
         "Open the database although acknowledged writes are missing from it, or begin an empty "
         "one where it is missing. What is missing cannot be put back afterwards"),
    FLAG(deep,
         "Read every page of the database and compare its indexes with its tables. Takes long"),
    FLAG(dry_run, "Only show what would change, and why"),
    FLAG(again, "Bring back what was erased here, too"),
    FLAG(check, "Say what would change, and change nothing"),
    FLAG(follow, "Go on with each new line, until Ctrl-C"),
    FLAG(list, "Print what is there, and change nothing"),
    TEXT(at, 40, "TIME",
         "The last one that was made at this time or before it, as 2026-11-24T08:00:00Z"),
    FLAG(force, "Do it to what exists, too"),
    {STR(struct options, pool), .otherwise_str = "each", .one_of = pools,
     .help =
         "each: every conversation has a space of its own. one: all conversations share a space"},
    {STR(struct options, level), .otherwise_str = "turn", .one_of = levels,
     .help = "What counts as found: the turn, or any turn of the session"},
    {INT(struct options, sessions), .min = 0, .max = 10000, .unit = "N",
     .help = "Use only the first N sessions of each conversation. 0 = all"},
    FLAG(follow_ups, "Measure follow-up questions, with and without query rewriting"),
    {STRS(struct options, k), .unit = "LIST",
     .help = "Ranks to measure at, up to 8 of 1 to 100: a list with commas. Without --k: 5,10,20"},
    TEXT(dump, 0, "FILE", "Write the features of every candidate to a file"),
    TEXT(per_question, 4000, "FILE",
         "Write the figures of every question to a file, for eval compare"),
    FLAG(texts, "With --per-question: write the questions' texts, too"),
    FLAG(curve, "With eval prompt: measure at 16 thresholds, too"),
    TEXT(sample, 4000, "FILE", "With eval junk: write the sample to a file, to be judged"),
    TEXT(judgements, 4000, "FILE",
         "With eval junk: read judgements, of a judged sample or by hash"),
    TEXT(name, 200, "TEXT", "What the token is for"),
    TEXT(key, 512, "KEY", "Key of the memory. A new memory with the same key replaces the old one"),
    TEXT(text, 1 << 20, "TEXT", "Text that must be among what was erased, as it was written"),
    TEXT(type, 32, "TYPE", "Type of the memory: factual, episodic, procedural or semantic"),
    TEXT(category, 128, "TEXT", "Category of the memory: preference, decision or any word"),
    TEXT(session, 256, "ID", "Id of a conversation"),
    TEXT(to, 4000, "URL", "The database that everything goes to", .secret = true),
    TEXT(from, 4000, "DIR", "Install the model from files in a folder instead of downloading",
         .secret = true),
    TEXT(new_key_file, 4000, "FILE",
         "File with the new key; created with a new key when missing. REMEMBERD_NEW_KEY may hold "
         "the new key instead"),
    TEXT(tools, 1000, "LIST",
         "Tools that are listed: all, default, claude, osaurus, omniroute, or names, separated by "
         "commas. Others can be called all the same"),
    TEXT(format, 100, "NAME", "Format of the file. Without --format, rememberd looks at the file"),
    TEXT(url, 2000, "URL",
         "Address of the server. Without --url: where the settings say that it listens"),
    TEXT(model, 200, "MODEL",
         "Model that answers. Without --model: the first that the server lists"),
    TEXT(contains, 0, "TEXT",
         "Only memories with this text in the content or the key, or users with it in the name or "
         "the e-mail address"),
    {NUM(struct options, importance), .otherwise = 0, .min = 0, .max = 1, .unit = "0..1",
     .help = "Importance of the memory. 0 = by rule, such as 0.9 for an allergy"},
    {INT(struct options, limit), .min = 1, .max = 500, .otherwise = 10, .unit = "N",
     .help = "Most results"},
    {INT(struct options, offset), .max = 1e9, .unit = "N", .help = "Results to skip"},
    {INT(struct options, older_than), .min = 1, .max = 36500, .otherwise = 30, .unit = "DAYS",
     .help = "Only memories that are older"},
    {INT(struct options, days), .max = 36500, .unit = "DAYS",
     .help = "Days until the token expires. 0 = never"},
    {0},
};

/* An alias is read like the setting that it belongs to. */
static const struct field *row_of_setting(str name)
{
    for (const struct setting_alias *one = setting_aliases; one->name; one++)
        if (str_is(name, one->name))
            return &settings_table[setting_of(str_of(one->setting))];
    return field_named(settings_table, name);
}

const char *options_flag(struct arena *a, const char *row)
{
    return name_respelt(a, str_printf(a, "--%s", row), '_', '-').p;
}

/* Where reading is. */
struct line {
    int argc, at;
    char **argv;
};

/* A flag may be an option or a setting, so both tables are searched for a similar name. */
static enum status fail_flag(struct ctx *ctx, const char *typed, str name)
{
    struct suggestion near = {.typed = name};
    suggest_from_table(&near, options_table);
    settings_suggest(&near);
    return fail(ctx, BAD_INPUT, "unknown flag %s%s%s%s", typed, near.best ? "; did you mean " : "",
                near.best ? options_flag(&ctx->arena, near.best) : "", near.best ? "?" : "");
}

/* Every user of the machine can read the arguments of a process. So a secret moves into the arena,
 * and of the argument only its first character's place is left. */
static str take_secret(struct ctx *ctx, char *value)
{
    str copy = str_dup(&ctx->arena, str_of(value));
    memset(value, 0, copy.n);
    if (copy.n)
        *value = '*';
    return copy;
}

/* The flag's value: the rest of its word, or the word behind. */
static str flag_value(struct ctx *ctx, struct line *l, const struct field *f, bool has_value)
{
    char *value = has_value ? strchr(l->argv[l->at], '=') + 1 : l->argv[++l->at];
    return f->secret ? take_secret(ctx, value) : str_of(value);
}

/* Options are read here, settings are only collected: they have more sources (file, variables)
 * and an order between them, which settings_load knows. */
static enum status take_flag(struct ctx *ctx, struct line *l, struct options *out)
{
    assert(l->at < l->argc && out->given.n <= (size_t)l->argc);
    str rest = str_of(l->argv[l->at] + 2);
    bool has_value = str_find(rest, S("=")) < rest.n;
    str flag = str_cut(&rest, '=');
    str name = name_respelt(&ctx->arena, flag, '-', '_'); /* --print-settings is print_settings */
    const struct field *f = field_named(options_table, name), *setting = row_of_setting(name);
    const char *said = str_c(&ctx->arena, str_printf(&ctx->arena, "--" S_FMT, S_ARG(flag)));
    if (!f && !setting)
        return fail_flag(ctx, said, name);
    if (f)
        out->given.v[out->given.n++] = str_of(f->name);
    if (f && f->type == FIELD_BOOL && !has_value)
        return fields_set(ctx, options_table, name, S("true"), out);
    if (!has_value && l->at + 1 >= l->argc)
        return fail(ctx, BAD_INPUT, "%s needs a value", said);
    str value = flag_value(ctx, l, f ? f : setting, has_value);
    if (!f) {
        out->flags[out->n_flags++] = (struct setting_flag){str_of(said), name, value};
        return OK;
    }
    enum status s = fields_set(ctx, options_table, name, value, out);
    if (s != OK)
        snprintf(ctx->field, sizeof ctx->field, "%s", said);
    return s;
}

static const struct {
    const char *letter, *whole;
} short_flags[] = {{"-h", "--help"}, {"-v", "--version"}, {"-c", "--config"},
                   {"-p", "--port"}, {"-f", "--follow"},  {"-n", "--limit"}};

/* "-p" becomes "--port"; "-p8080" is not read. */
static bool expand_short(struct line *l)
{
    for (size_t i = 0; i < sizeof short_flags / sizeof *short_flags; i++) {
        if (!str_is(str_of(l->argv[l->at]), short_flags[i].letter))
            continue;
        l->argv[l->at] = (char *)short_flags[i].whole;
        return true;
    }
    return false;
}

/* As the API does, a command refuses what is no name of a space. */
static enum status check_spaces(struct ctx *ctx, const struct options *o)
{
    if (str_is(o->space, SPACE_ALL))
        return fail_field(ctx, "--space", "must name one space");
    for (str list = o->spaces, name; list.n;)
        if (!(name = str_trim(str_cut(&list, ','))).n || str_is(name, SPACE_ALL))
            return fail_field(ctx, "--spaces", "must be names of spaces between commas");
    return OK;
}

/* A single dash is a word (standard input by convention), and everything after "--" is, too, so
 * that a text may begin with a dash. */
enum status options_read(struct ctx *ctx, int argc, char **argv, struct options *out)
{
    struct line l = {argc, 0, argv};
    struct strs words = {NEW_N(&ctx->arena, str, (size_t)argc + 1), 0};
    bool is_over = false;
    *out = (struct options){.flags = NEW_N(&ctx->arena, struct setting_flag, (size_t)argc + 1),
                            .given.v = NEW_N(&ctx->arena, str, (size_t)argc + 1)};
    fields_defaults(options_table, out);
    for (; l.at < argc; l.at++) {
        str word = str_of(argv[l.at]);
        if (is_over || !str_starts(word, S("-")) || word.n == 1)
            words.v[words.n++] = word;
        else if (str_is(word, "--"))
            is_over = true;
        else if (str_starts(word, S("--")) || expand_short(&l))
            TRY(take_flag(ctx, &l, out));
        else
            return fail(ctx, BAD_INPUT, "unknown flag " S_FMT, S_ARG(word));
    }
    out->words = words;
    if (!out->space.n)
        out->space = S(DEFAULT_SPACE);
    TRY(check_spaces(ctx, out));
    return settings_load(ctx, out->flags, out->n_flags, &out->settings);
}

bool options_has(const struct options *o, const char *name)
{
    return strs_have(&o->given, str_of(name));
}

str options_text(struct ctx *ctx, const struct options *o, size_t from)
{
    str text = S("");
    for (size_t i = from; i < o->words.n; i++)
        text = str_printf(&ctx->arena, S_FMT "%s" S_FMT, S_ARG(text), i > from ? " " : "",
                          S_ARG(o->words.v[i]));
    return text;
}
