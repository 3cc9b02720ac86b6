/* settings_file.c - the file of settings: where it is looked for, and what it says. */
#include "core/settings_file.h"

#include <errno.h>
#include <unistd.h>

#include "base/files.h"
#include "core/settings_set.h"
#include "core/toml.h"

/* --- where it is --- */

void settings_folders(struct arena *a, str out[SETTINGS_FOLDERS])
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    out[0] = base && *base == '/'   ? str_printf(a, "%s/rememberd", base)
             : home && *home == '/' ? str_printf(a, "%s/.config/rememberd", home)
                                    : S("");
    out[1] = S("/etc/rememberd");
}

/* A file for others is passed over, so that a user of a machine with a service still has every
 * command; serve refuses to start without knowing what it says. */
static bool is_readable(struct ctx *ctx, struct settings *s, str path)
{
    if (access(str_c(&ctx->arena, path), R_OK) == 0)
        return true;
    if (errno == ENOENT || errno == ENOTDIR)
        return false;
    s->complaint = str_printf(&ctx->arena,
                              "the file of settings " S_FMT " cannot be opened: %s. Name another "
                              "one with --config, or none with --config ''",
                              S_ARG(path), strerror(errno));
    settings_add_note(ctx, s, s->complaint);
    return false;
}

str settings_find_file(struct ctx *ctx, struct settings *s)
{
    static const char *const names[] = {"rememberd.toml", "rememberd.json", NULL};
    str folders[SETTINGS_FOLDERS];
    settings_folders(&ctx->arena, folders);
    for (size_t i = 0; i < SETTINGS_FOLDERS; i++) {
        for (const char *const *name = names; *name && folders[i].n; name++) {
            str path = str_printf(&ctx->arena, S_FMT "/%s", S_ARG(folders[i]), *name);
            if (is_readable(ctx, s, path))
                return path;
        }
    }
    return S("");
}

/* --- what it says --- */

enum status settings_check_name(struct ctx *ctx, str key)
{
    struct suggestion near = {.typed = key};
    settings_suggest(&near);
    suggest_name(&near, "upstreams");
    if (near.best && !near.distance)
        return OK;
    return fail_field(ctx, str_c(&ctx->arena, key), "is not a known setting%s%s%s",
                      near.best ? "; did you mean " : "", near.best ? near.best : "",
                      near.best ? "?" : "");
}

/* Values may be strings or plain values: 800 and "800" mean the same. */
static str text_of(const struct json *v)
{
    return v->type == JSON_STRING ? json_string(v) : v->source;
}

static enum status check_single(struct ctx *ctx, const struct json *m, const struct json *v)
{
    size_t i = setting_of(json_name(m));
    const struct field *f = i < SETTING_COUNT ? &settings_table[i] : NULL;
    bool is_text = f && i != SETTING_listen && (f->type == FIELD_STR || f->type == FIELD_STRS);
    if (is_text ? v->type == JSON_STRING : v->type != JSON_OBJECT && v->type != JSON_ARRAY)
        return OK;
    return fail_field(ctx, str_c(&ctx->arena, json_name(m)),
                      is_text ? "must be a text in quotes"
                              : "must be a text, a number or true or false");
}

/* A list of values is the setting with commas between them; of upstream each value counts. */
static enum status take_list(struct ctx *ctx, struct settings *s, const struct json *m)
{
    str all = S("");
    bool is_upstream = str_is(json_name(m), "upstream");
    for (const struct json *v = m->first; v; v = v->next) {
        TRY(check_single(ctx, m, v));
        if (is_upstream)
            TRY(setting_set(ctx, s, json_name(m), text_of(v)));
        all = str_printf(&ctx->arena, S_FMT "%s" S_FMT, S_ARG(all), v == m->first ? "" : ",",
                         S_ARG(text_of(v)));
    }
    return is_upstream ? OK : setting_set(ctx, s, json_name(m), all);
}

/* *at is where it is, for the line of a failure. */
static enum status take_upstreams(struct ctx *ctx, struct settings *s, const struct json *list,
                                  const char **at)
{
    if (list->type != JSON_ARRAY)
        return fail_field(ctx, "upstreams",
                          "must be an array of {name, url, key, placement, dialect}");
    for (const struct json *item = list->first; item; item = item->next) {
        struct upstream u;
        *at = item->source.p;
        enum status status = fields_read(ctx, upstream_table, item, true, &u);
        const struct json *member = status != OK ? json_get(item, ctx->field) : NULL;
        str name = member ? json_name(member) : S("");
        if (member)
            *at = name.p;
        /* In TOML what stands below [[upstreams]] belongs to one of them. */
        if (member && !field_named(upstream_table, name) && setting_of(name) != SETTING_COUNT) {
            ctx_clear_failure(ctx);
            return fail_field(ctx, str_c(&ctx->arena, name),
                              "is a setting and no member of an upstream: it goes above them");
        }
        TRY(status);
        if (SOME(i, s->n_upstreams, str_eq(s->upstreams[i].name, u.name)))
            return fail_field(ctx, "upstreams",
                              "has two of the name '" S_FMT "'; upstream counts, too",
                              S_ARG(u.name));
        TRY(settings_add_upstream(ctx, s, u));
    }
    return OK;
}

static enum status take_member(struct ctx *ctx, struct settings *s, const struct json *m,
                               const char **at)
{
    *at = json_name(m).p;
    if (str_is(json_name(m), "upstreams"))
        return take_upstreams(ctx, s, m, at);
    TRY(settings_check_name(ctx, json_name(m)));
    if (m->type == JSON_ARRAY)
        return take_list(ctx, s, m);
    TRY(check_single(ctx, m, m));
    return setting_set(ctx, s, json_name(m), text_of(m));
}

bool settings_is_json(const char *path, str text)
{
    str name = str_of(path), start = str_trim(text);
    return str_ends(name, S(".json")) || (!str_ends(name, S(".toml")) && str_starts(start, S("{")));
}

/* The first error ends it: a server must not start with half of a file. */
static enum status take_text(struct ctx *ctx, struct settings *s, const char *path, str text,
                             const char **at)
{
    struct json *root;
    TRY(settings_is_json(path, text) ? json_parse(ctx, text, &root) : toml_parse(ctx, text, &root));
    if (root->type != JSON_OBJECT)
        return fail(ctx, BAD_INPUT, "must hold a JSON object with settings");
    for (const struct json *m = root->first; m; m = m->next)
        TRY(take_member(ctx, s, m, at));
    return OK;
}

/* File and line are added to the message, as the file may be named by a variable. */
enum status settings_read_text(struct ctx *ctx, struct settings *s, const char *path, str text)
{
    const char *at = NULL;
    if (take_text(ctx, s, path, text, &at) == OK)
        return OK;
    size_t line = text_line(text, at);
    str where = line ? str_printf(&ctx->arena, "line %zu of the file", line) : S("in the file");
    str why = str_printf(&ctx->arena, "%s (" S_FMT " %s)", ctx->why, S_ARG(where), path);
    snprintf(ctx->why, sizeof ctx->why, S_FMT, S_ARG(why));
    return BAD_INPUT;
}

enum status settings_read_file(struct ctx *ctx, struct settings *s, const char *path)
{
    enum { FILE_MAX = 1 << 20 }; /* stops a wrong path, such as a log or a device */
    str text;
    if (file_read(ctx, path, FILE_MAX, &text) != OK)
        return fail_field(ctx, "config", "cannot be opened: %s", ctx_take_why(ctx).p);
    return settings_read_text(ctx, s, path, text);
}
