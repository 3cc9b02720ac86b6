/* settings.c - /v1/settings: every setting with its value and where it comes from; changed live. */

#include "core/suggest.h"
#include "surface/common/error_body.h"
#include "surface/common/list_page.h"

/*
 * What was set while a server ran wins over the file, the environment and the options, and null
 * takes it back.
 */

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

/* On and off are a boolean here. */
static const struct json *value_json(struct ctx *ctx, const struct field *row, const void *in)
{
    struct field f = *row;
    struct json_out w = json_in(&ctx->arena, 64 << 10);
    f.type = f.type == FIELD_SWITCH ? FIELD_BOOL : f.type;
    field_write(&w, &f, in);
    return json_of(ctx, buf_str(w.b));
}

/* retention_days has a default that does not act until someone sets it. */
static const struct json *configured_of(struct ctx *ctx, const struct setting_row *row,
                                        const struct settings *in)
{
    if (row == &settings_rows[SETTING_retention_days])
        return NULL;
    return value_json(ctx, row->field ? row->field : row->live, in);
}

static const char *const types[FIELD_OBJECT + 1] = {
    [FIELD_STR] = "text",     [FIELD_INT] = "integer",    [FIELD_NUM] = "number",
    [FIELD_BOOL] = "boolean", [FIELD_SWITCH] = "boolean", [FIELD_ENUM] = "choice",
};

static const struct json *choices_of(struct ctx *ctx, const struct field *f)
{
    struct json_out w = json_in(&ctx->arena, 4096);
    if (f->type != FIELD_ENUM)
        return NULL;
    json_open(&w, '[');
    for (const char *const *name = f->one_of; *name; name++)
        json_str(&w, str_of(*name));
    json_close(&w, ']');
    return json_of(ctx, buf_str(w.b));
}

/* What values are read from: those of the start, those in force, and the defaults. */
struct view {
    const struct settings *start, *now, *defaults;
};

static struct setting_out shape_of(struct ctx *ctx, const struct view *v,
                                   const struct setting_row *row)
{
    static const char *const places[] = {"default", "file", "environment", "option", "changed"};
    const struct field *f = row->live ? row->live : row->field;
    enum setting_id id = (enum setting_id)(row - settings_rows);
    const struct json *configured = configured_of(ctx, row, v->start);
    bool has_range = f->min < f->max;
    return (struct setting_out){.name = str_of(row->name),
                                .value = setting_is_changed(v->now, id) ? value_json(ctx, f, v->now)
                                                                        : configured,
                                .configured = configured,
                                .otherwise = configured_of(ctx, row, v->defaults),
                                .source = str_of(places[v->now->from[id]]),
                                .acts = row->live ? S("at once") : S("at start"),
                                .type = str_of(types[f->type]),
                                .unit = str_of(f->unit),
                                .min = has_range ? f->min : __builtin_nan(""),
                                .max = has_range ? f->max : __builtin_nan(""),
                                .choices = choices_of(ctx, f),
                                .secret = f->secret,
                                .group = str_of(settings_sections[f->group].group),
                                .help = help_plain(&ctx->arena, f->help),
                                .cost = str_of(row->cost)};
}

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

/* All of them, or those that the body of a change names. Upstreams are a list of their own. */
static HANDLER(settings_list)
{
    const struct json *named = in->json;
    struct settings *defaults = NEW(&ctx->arena, struct settings);
    const struct view v = {engine_own_settings(app->engine), engine_runtime(app->engine), defaults};
    struct settings_out shape = {0};
    struct setting_out *items = NEW_N(&ctx->arena, struct setting_out, SETTING_COUNT);
    settings_defaults(defaults);
    for (const struct setting_row *row = settings_rows; row->name; row++)
        if (named ? json_get(named, row->name) != NULL : row != &settings_rows[SETTING_upstream])
            items[shape.total++] = shape_of(ctx, &v, row);
    if (!named)
        TRY(list_upstreams(ctx, app->settings, &shape.upstreams));
    return list_reply(ctx, settings_out_fields, &shape, items, (size_t)shape.total, sizeof *items,
                      out);
}

/* The engine checks the values; here the reason is given why a setting cannot be changed. */
static enum status check_setting(struct ctx *ctx, str name)
{
    struct suggestion near = {.typed = name};
    for (const struct setting_row *row = settings_rows; row->name; row++) {
        if (row == &settings_rows[SETTING_upstream])
            continue;
        suggest_name(&near, row->name);
        if (!str_is(name, row->name))
            continue;
        return row->live ? OK
                         : fail_field(ctx, row->name,
                                      "acts at start only: set it in the file, the environment or "
                                      "as an option, and start the server again");
    }
    return fail_field(ctx, str_c(&ctx->arena, name), "is not a known setting%s%s%s",
                      near.best ? "; did you mean " : "", near.best ? near.best : "",
                      near.best ? "?" : "");
}

static HANDLER(settings_change)
{
    if (!in->json || in->json->type != JSON_OBJECT || !in->json->first)
        return fail(ctx, BAD_INPUT, "the body must be an object that names settings");
    for (const struct json *m = in->json->first; m; m = m->next)
        TRY(check_setting(ctx, json_name(m)));
    TRY(engine_change_settings(ctx, app->engine, in->json, NULL_TAKES_BACK));
    return settings_list(ctx, app, in, out);
}

static const struct route routes[] = {
    {ROUTE("GET", "/v1/settings", settings_list), .access = ACCESS_ADMIN, ANSWERS(settings_out),
     .help = "every setting: its value, where it comes from, its range and default"},
    {ROUTE("PATCH", "/v1/settings", settings_change), .words.sends = live_fields,
     .words.sends_name = "change", .wants_json = true, .access = ACCESS_OPERATOR,
     ANSWERS(settings_out),
     .help = "change settings that act at once, all or none; null takes a change back"},
    {0},
};

const struct surface surface_settings = STRICT_SURFACE("settings", routes);
