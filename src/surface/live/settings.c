/* settings.c - /v1/settings: every setting with its value and where it comes from; changed live. */
#include <assert.h>
#include <stdio.h>

#include "core/suggest.h"
#include "surface/common/auth.h"
#include "surface/common/dialects.h"
#include "surface/common/error_body.h"
#include "surface/common/memory_json.h"

/*
 * There are two tables: settings_table, which is read at the start, and runtime_fields, which can
 * be changed while the server runs. Here both are one list. A setting that both have is shown once,
 * under the name of the first; what was set while a server ran wins over the file, the environment
 * and the options, and null takes it back.
 */

static const struct field change_fields[] = {
#define LIVE(TYPE, MEMBER, NAME, ROW)                                                              \
    {AS_##TYPE(struct runtime, MEMBER, NAME), .empty = EMPTY_NULL, .like = &runtime_fields[ROW]},
#define COST(NAME, WORDS)
#include "surface/live/settings_live.def"
#undef LIVE
#undef COST
    {0},
};
static const struct {
    const char *name, *words;
} costs[] = {
#define LIVE(TYPE, MEMBER, NAME, ROW)
#define COST(NAME, WORDS) {NAME, WORDS},
#include "surface/live/settings_live.def"
#undef LIVE
#undef COST
};

/* One setting as both tables have it; one of the two may be NULL. */
struct row {
    const char *name;
    const struct field *setting, *runtime;
};
enum { ROWS_MAX = SETTINGS_MAX + RUNTIME_ROWS };

/* The row that changes a setting while the server runs, or NULL. */
static const struct field *runtime_of(const char *name)
{
    for (const struct field *f = change_fields; f->name; f++)
        if (!strcmp(f->name, name))
            return f->like;
    return NULL;
}

static bool is_in_settings(const char *name)
{
    for (const struct field *f = settings_table; f->name; f++)
        if (!strcmp(f->name, name))
            return true;
    return false;
}

/* Upstreams are a list of their own. */
static size_t all_rows(struct row rows[static ROWS_MAX])
{
    size_t n = 0;
    for (const struct field *f = settings_table; f->name; f++)
        if (strcmp(f->name, "upstream") != 0)
            rows[n++] = (struct row){f->name, f, runtime_of(f->name)};
    for (const struct field *f = change_fields; f->name; f++)
        if (!is_in_settings(f->name))
            rows[n++] = (struct row){f->name, NULL, f->like};
    assert(n <= ROWS_MAX);
    return n;
}

/* --- shapes --- */

SHAPE(setting_out, (STR, name),
      (JSON, value, .help = "that acts now; a secret is \"***\" when it is set"),
      (JSON, configured, .help = "without what was set while a server ran"),
      (AS_JSON, otherwise, "default"),
      (STR, source,
       .help = "default, file, environment, option, or changed: set while a server ran"),
      (STR, acts, .help = "at once: PATCH changes it; or at start"),
      (STR, type, .help = "text, integer, number, boolean or choice"),
      (STR, unit, .empty = EMPTY_NULL),
      (NUM, min, .empty = EMPTY_NULL, .help = "of a text its bytes"),
      (NUM, max, .empty = EMPTY_NULL, .help = "of a text its bytes"),
      (JSON, choices, .empty = EMPTY_NULL), (BOOL, secret), (STR, group), (STR, help),
      (STR, cost, .empty = EMPTY_NULL, .help = "what it takes, where known"));

SHAPE(upstream_out, (STR, name, .help = "\"\" is the default upstream"), (STR, url),
      (STR, placement, .empty = EMPTY_NULL), (STR, dialect, .empty = EMPTY_NULL), (BOOL, has_key));

SHAPE(settings_out, (JSON, items, .inside = setting_out_fields), (INT, total),
      (JSON, upstreams, .empty = EMPTY_OUT, .inside = upstream_out_fields));

/* --- values --- */

static const struct json *read_back(struct ctx *ctx, const struct buf *b)
{
    struct json *out = NULL;
    soft(ctx, json_parse(ctx, buf_str(b), &out)); /* what was just written can be read */
    return out;
}

/* On and off are a boolean here: the two tables differ in that. */
static const struct json *value_json(struct ctx *ctx, const struct field *row, const void *in)
{
    struct field f = field_whole(row);
    const void *at = (const char *)in + f.at;
    struct buf b = buf_make(&ctx->arena, 64 << 10);
    struct json_out w = json_to(&b);
    if (f.type == FIELD_STR)
        json_str(&w, f.secret && ((const str *)at)->n ? S("***") : *(const str *)at);
    else if (f.type == FIELD_ENUM)
        json_str(&w, field_choice(&f, in));
    else if (f.type == FIELD_BOOL || f.type == FIELD_SWITCH)
        json_bool(&w, *(const bool *)at);
    else if (f.type == FIELD_NUM)
        json_num(&w, *(const double *)at);
    else
        json_int(&w, *(const int64_t *)at);
    return read_back(ctx, &b);
}

/* What values are read from. */
struct view {
    struct ctx *ctx;
    const struct settings *settings;
    const struct runtime *runtime;
    struct settings *defaults;
    struct runtime *runtime_defaults;
};

static struct view view_of(struct ctx *ctx, struct app *app)
{
    struct view v = {ctx, app->settings, engine_runtime(app->engine),
                     NEW(&ctx->arena, struct settings), NEW(&ctx->arena, struct runtime)};
    fields_defaults(settings_table, v.defaults);
    fields_defaults(runtime_fields, v.runtime_defaults);
    return v;
}

static bool is_changed(const struct view *v, const struct row *r)
{
    return r->runtime && v->runtime->changed[r->runtime - runtime_fields];
}

/* retention_days has a default that does not act until someone sets it. */
static const struct json *configured_of(const struct view *v, const struct row *r)
{
    if (r->setting)
        return value_json(v->ctx, r->setting, v->settings);
    if (r->runtime == &runtime_fields[RUNTIME_RETENTION_DAYS])
        return NULL;
    return value_json(v->ctx, r->runtime, v->runtime_defaults);
}

static str source_of(const struct view *v, const struct row *r)
{
    static const char *const places[] = {"default", "file", "environment", "option"};
    if (is_changed(v, r))
        return S("changed");
    return str_of(places[r->setting ? v->settings->from[r->setting - settings_table] : 0]);
}

static str type_of(enum field_type type)
{
    switch (type) {
    case FIELD_INT:
        return S("integer");
    case FIELD_NUM:
        return S("number");
    case FIELD_BOOL:
    case FIELD_SWITCH:
        return S("boolean");
    case FIELD_ENUM:
        return S("choice");
    default:
        return S("text");
    }
}

static const struct json *choices_of(struct ctx *ctx, const struct field *f)
{
    struct buf b = buf_make(&ctx->arena, 4096);
    struct json_out w = json_to(&b);
    if (f->type != FIELD_ENUM)
        return NULL;
    json_open(&w, '[');
    for (const char *const *name = f->one_of; *name; name++)
        json_str(&w, str_of(*name));
    json_close(&w, ']');
    return read_back(ctx, &b);
}

static str cost_of(const char *name)
{
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        if (!strcmp(costs[i].name, name))
            return str_of(costs[i].words);
    return S("");
}

static struct setting_out shape_of(const struct view *v, const struct row *r)
{
    const struct field f = field_whole(r->runtime ? r->runtime : r->setting);
    const struct field shown = field_whole(r->setting ? r->setting : r->runtime);
    bool has_range = f.min < f.max;
    return (struct setting_out){
        .name = str_of(r->name),
        .value =
            is_changed(v, r) ? value_json(v->ctx, r->runtime, v->runtime) : configured_of(v, r),
        .configured = configured_of(v, r),
        .otherwise = r->setting ? value_json(v->ctx, r->setting, v->defaults) : configured_of(v, r),
        .source = source_of(v, r),
        .acts = r->runtime ? S("at once") : S("at start"),
        .type = type_of(f.type),
        .unit = str_of(shown.unit ? shown.unit : ""),
        .min = has_range ? f.min : __builtin_nan(""),
        .max = has_range ? f.max : __builtin_nan(""),
        .choices = choices_of(v->ctx, &f),
        .secret = f.secret,
        .group = str_of(r->setting ? settings_group_names[shown.group] : "Memory"),
        .help = str_of(shown.help),
        .cost = cost_of(r->name),
    };
}

/* --- reading --- */

static enum status list_upstreams(struct ctx *ctx, const struct settings *s,
                                  const struct json **out)
{
    struct upstream_out *v = NEW_N(&ctx->arena, struct upstream_out, s->n_upstreams);
    for (size_t i = 0; i < s->n_upstreams; i++) {
        const struct upstream *u = &s->upstreams[i];
        v[i] = (struct upstream_out){u->name, u->url, u->placement, u->dialect, u->key.n > 0};
    }
    return json_list(ctx, upstream_out_fields, v, s->n_upstreams, sizeof *v, out);
}

/* All of them, or those that a change names. */
static enum status write_settings(struct ctx *ctx, struct app *app, const struct json *named,
                                  struct reply *out)
{
    const struct view v = view_of(ctx, app);
    struct row rows[ROWS_MAX];
    struct settings_out shape = {0};
    size_t n = all_rows(rows), have = 0;
    struct setting_out *items = NEW_N(&ctx->arena, struct setting_out, n);
    for (size_t i = 0; i < n; i++)
        if (!named || json_get(named, rows[i].name))
            items[have++] = shape_of(&v, &rows[i]);
    shape.total = (int64_t)have;
    TRY(json_list(ctx, setting_out_fields, items, have, sizeof *items, &shape.items));
    if (!named)
        TRY(list_upstreams(ctx, app->settings, &shape.upstreams));
    return reply_fields(out, settings_out_fields, &shape);
}

static enum status settings_list(struct ctx *ctx, struct app *app, const struct request *in,
                                 struct reply *out)
{
    (void)in;
    return write_settings(ctx, app, NULL, out);
}

/* --- changing --- */

static const struct row *find_row(const struct row *rows, size_t n, str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(name, rows[i].name))
            return &rows[i];
    return NULL;
}

static enum status not_known(struct ctx *ctx, const struct row *rows, size_t n, str name)
{
    struct suggestion near = {.typed = name};
    for (size_t i = 0; i < n; i++)
        suggest_name(&near, rows[i].name);
    return fail_field(ctx, str_c(&ctx->arena, name), "is not a known setting%s%s%s",
                      near.best ? "; did you mean " : "", near.best ? near.best : "",
                      near.best ? "?" : "");
}

/* The change under the names of runtime_fields. */
static enum status rename_members(struct ctx *ctx, const struct row *rows, size_t n,
                                  const struct json *change, struct json **out)
{
    struct buf b = buf_make(&ctx->arena, change->source.n + (64 << 10));
    struct json_out w = json_to(&b);
    json_open(&w, '{');
    for (const struct json *m = change->first; m; m = m->next) {
        const struct row *r = find_row(rows, n, json_name(m));
        if (!r)
            return not_known(ctx, rows, n, json_name(m));
        if (!r->runtime)
            return fail_field(ctx, r->name,
                              "acts at start only: set it in the file, the environment or as an "
                              "option, and start the server again");
        json_member_raw(&w, r->runtime->name, m->source);
    }
    json_close(&w, '}');
    return json_parse(ctx, buf_str(&b), out);
}

/* A refusal names the setting as the client did. */
static void name_refused(struct ctx *ctx, const struct row *rows, size_t n)
{
    str refused = str_of(ctx->field);
    for (size_t i = 0; i < n; i++)
        if (rows[i].runtime && str_is(refused, rows[i].runtime->name)) {
            snprintf(ctx->field, sizeof ctx->field, "%s", rows[i].name);
            return;
        }
}

static enum status settings_change(struct ctx *ctx, struct app *app, const struct request *in,
                                   struct reply *out)
{
    struct row rows[ROWS_MAX];
    struct json *change;
    size_t n = all_rows(rows);
    if (!in->json || in->json->type != JSON_OBJECT || !in->json->first)
        return fail(ctx, BAD_INPUT, "the body must be an object that names settings");
    TRY(rename_members(ctx, rows, n, in->json, &change));
    enum status s = engine_patch_settings(ctx, app->engine, change);
    if (s == BAD_INPUT)
        name_refused(ctx, rows, n);
    TRY(s);
    return write_settings(ctx, app, in->json, out);
}

static const struct route routes[] = {
    {ROUTE("GET", "/v1/settings", settings_list), .access = ACCESS_ADMIN, ANSWERS(settings_out),
     .help = "every setting: its value, where it comes from, its range and default"},
    {ROUTE("PATCH", "/v1/settings", settings_change), SENDS(change), .wants_json = true,
     .access = ACCESS_OPERATOR, ANSWERS(settings_out),
     .help = "change settings that act at once, all or none; null takes a change back"},
    {0},
};

const struct surface surface_settings = PROBLEM_SURFACE("settings", routes);
