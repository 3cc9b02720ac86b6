/* settings.c - the places that settings come from: file, environment, flags. */
#include "core/settings.h"
#include "core/backup_file.h"

#include <ctype.h>
#include <unistd.h>

#include "core/settings_file.h"
#include "core/settings_set.h"
#include "core/url.h"

/*
 * A later place wins: the defaults, variables of other servers, the file, our own variables, flags.
 * Variables of other servers come first because they are often left over from the server that was
 * here before. Every place ends in setting_set, so that a value is checked the same way wherever it
 * comes from; the failure names the place.
 */

/* --- environment and flags --- */

/* The failure names the variable, as its value may come from a service file. Kubernetes sets
 * REMEMBERD_PORT in every container beside a service that is called rememberd. */
static enum status load_variable(struct ctx *ctx, struct settings *s, const char *variable,
                                 const char *setting)
{
    const char *value = getenv(variable);
    bool is_of_kubernetes = value && !strcmp(setting, "port") && strstr(value, "://");
    if (!value || is_of_kubernetes || setting_set(ctx, s, str_of(setting), str_of(value)) == OK)
        return OK;
    snprintf(ctx->field, sizeof ctx->field, "%s", variable);
    return BAD_INPUT;
}

/* "False" and "0" are "false". */
static bool is_same_truth(const char *value, const char *only)
{
    bool is, wanted;
    return truth_read(str_of(value), &is) && truth_read(str_of(only), &wanted) && is == wanted;
}

/* A leftover of another server sets nothing that our own names set, in the file, too. */
static enum status load_other_names(struct ctx *ctx, struct settings *s)
{
    for (const struct setting_row *row = settings_rows; row->name; row++) {
        const char *value = row->variable ? getenv(row->variable) : NULL;
        if (!value || !*value)
            continue;
        if (str_starts(str_of(value), S("~/")))
            settings_add_note(ctx, s,
                              str_printf(&ctx->arena, "%s is not read: ~ is not replaced",
                                         row->variable));
        else if (!row->only)
            TRY(load_variable(ctx, s, row->variable, row->name));
        else if (is_same_truth(value, row->only))
            TRY(setting_set(ctx, s, str_of(row->name), str_of(row->means)));
    }
    return OK;
}

static const char variable_prefix[] = "REMEMBERD_";

/* "budget_tokens" is the variable REMEMBERD_BUDGET_TOKENS. */
static const char *variable_of(struct ctx *ctx, const char *setting)
{
    char *name = (char *)str_printf(&ctx->arena, "%s%s", variable_prefix, setting).p;
    for (char *p = name; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return name;
}

/* serve refuses it like an unknown flag; other commands, run by other programs, only note it. Some
 * names behind the prefix are no settings, but of clients, of ./dev build, and of Kubernetes. */
static void note_unknown(struct ctx *ctx, struct settings *s, str variable)
{
    static const char *const others[] = {"TOKEN", "SQLITE", NULL};
    str name = str_sub(variable, strlen(variable_prefix), variable.n);
    struct suggestion near = {.typed = str_lower(&ctx->arena, name)};
    settings_suggest(&near);
    if ((near.best && !near.distance) || str_is_one_of(name, others) ||
        str_starts(name, S("SERVICE_")) || str_starts(name, S("PORT_")))
        return;
    s->complaint = str_printf(&ctx->arena, "the variable " S_FMT " is not a known setting%s%s%s",
                              S_ARG(variable), near.best ? "; did you mean " : "",
                              near.best ? variable_of(ctx, near.best) : "", near.best ? "?" : "");
    settings_add_note(ctx, s, s->complaint);
}

/* Only names with our prefix can be misspelt ones; all others belong to other programs. */
static enum status load_environment(struct ctx *ctx, struct settings *s)
{
    for (const struct field *f = settings_table; f->name; f++)
        if (f != &settings_table[SETTING_config]) /* it is known by now, and a flag may name it */
            TRY(load_variable(ctx, s, variable_of(ctx, f->name), f->name));
    for (const struct setting_alias *one = setting_aliases; one->name; one++)
        TRY(load_variable(ctx, s, variable_of(ctx, one->name), one->name));
    for (char **one = environ; one && *one; one++) {
        str rest = str_of(*one), name = str_cut(&rest, '=');
        if (str_starts(name, str_of(variable_prefix)))
            note_unknown(ctx, s, name);
    }
    return OK;
}

str name_respelt(struct arena *a, str name, char from, char to)
{
    char *p = arena_dup(a, name.p, name.n, name.n + 1);
    for (size_t i = 0; i < name.n; i++)
        p[i] = p[i] == from ? to : p[i];
    return (str){p, name.n};
}

/* Twice: --config must be known before the file is read, all others win over it. */
static enum status load_flags(struct ctx *ctx, const struct setting_flag *flags, size_t n,
                              struct settings *s, bool only_config)
{
    for (size_t i = 0; i < n; i++) {
        const struct setting_flag *f = &flags[i];
        if (only_config != str_is(f->name, "config") ||
            setting_set(ctx, s, f->name, f->value) == OK)
            continue;
        snprintf(ctx->field, sizeof ctx->field, S_FMT, S_ARG(f->typed));
        return BAD_INPUT;
    }
    return OK;
}

/* At the end, because they may come from another place than the address. */
static void complete_default(struct settings *s)
{
    for (struct upstream *u = s->upstreams; u < s->upstreams + s->n_upstreams; u++) {
        if (!u->name.n && !u->key.n)
            u->key = s->upstream_key;
        if (!u->name.n && !u->dialect.n && s->upstream_dialect)
            u->dialect = str_of(dialect_names[s->upstream_dialect]);
    }
}

/* A prefix of other characters would be signed differently by libcurl's versions. */
static enum status check_backups(struct ctx *ctx, const struct settings *s)
{
    str bucket, prefix;
    if (str_starts(s->backup_dir, S(S3_SCHEME)))
        return fail_field(ctx, "backup_dir", "must be a folder; backup_s3 takes a bucket");
    if (!s->backup_s3.n)
        return OK;
    if (!s3_place_read(s->backup_s3, &bucket, &prefix))
        return fail_field(ctx, "backup_s3",
                          "must be s3://BUCKET or s3://BUCKET/PREFIX, of letters, digits and -._~");
    if (!s->backup_s3_key_id.n || !s->backup_s3_secret.n)
        return fail_field(ctx, "backup_s3",
                          "needs backup_s3_key_id and backup_s3_secret (AWS_ACCESS_KEY_ID and "
                          "AWS_SECRET_ACCESS_KEY)");
    return url_check(ctx, "backup_s3_endpoint", s->backup_s3_endpoint, true, s->allow_addresses);
}

/* At the end, because the addresses that are allowed may come from another place than the URLs. */
enum status settings_check(struct ctx *ctx, const struct settings *s)
{
    str allowed = s->allow_addresses;
    for (size_t i = 0; i < s->n_upstreams; i++)
        TRY(url_check(ctx, "upstream", s->upstreams[i].url, true, allowed));
    TRY(url_check(ctx, "qdrant_host", str_trim(s->qdrant_host), false, allowed));
    TRY(url_check(ctx, "model_url", s->model_url, true, allowed));
    return check_backups(ctx, s);
}

/* Strings in *out point into the ctx's arena, the environment and the flags. On failure ctx->field
 * names the flag, the variable or the member of the file. */
enum status settings_load(struct ctx *ctx, const struct setting_flag *flags, size_t n,
                          struct settings *out)
{
    const char *config = getenv("REMEMBERD_CONFIG");
    *out = (struct settings){0};
    settings_defaults(out);
    out->config = str_of(config);
    out->from[SETTING_config] = config ? FROM_ENVIRONMENT : FROM_DEFAULT;
    out->place = FROM_ENVIRONMENT;
    TRY(load_other_names(ctx, out));
    out->place = FROM_OPTION;
    TRY(load_flags(ctx, flags, n, out, true));
    if (!config && out->from[SETTING_config] != FROM_OPTION)
        out->config = settings_find_file(ctx, out);
    out->place = FROM_FILE;
    if (out->config.n)
        TRY(settings_read_file(ctx, out, str_c(&ctx->arena, out->config)));
    settings_join_parts(ctx, out);
    out->place = FROM_ENVIRONMENT;
    TRY(load_environment(ctx, out));
    settings_join_parts(ctx, out);
    out->place = FROM_OPTION;
    TRY(load_flags(ctx, flags, n, out, false));
    settings_join_parts(ctx, out);
    complete_default(out);
    return settings_check(ctx, out);
}

/* --- comparing --- */

bool setting_differs(const struct field *f, const void *a, const void *b)
{
    static const size_t sizes[] = {[FIELD_INT] = sizeof(int64_t),
                                   [FIELD_NUM] = sizeof(double),
                                   [FIELD_ENUM] = sizeof(unsigned),
                                   [FIELD_BOOL] = sizeof(bool),
                                   [FIELD_SWITCH] = sizeof(bool)};
    const char *x = (const char *)a + f->at, *y = (const char *)b + f->at;
    if (f->type == FIELD_STR)
        return !str_eq(*(const str *)x, *(const str *)y);
    assert(f->type < sizeof sizes / sizeof *sizes && sizes[f->type]);
    return memcmp(x, y, sizes[f->type]) != 0;
}

bool upstreams_differ(const struct settings *a, const struct settings *b)
{
    if (a->n_upstreams != b->n_upstreams)
        return true;
    for (const struct field *f = upstream_table; f->name; f++)
        if (SOME(i, a->n_upstreams, setting_differs(f, &a->upstreams[i], &b->upstreams[i])))
            return true;
    return false;
}

/* --- printing and choosing --- */

/* The object of the settings, and in it the upstreams, as the file has them. */
static void print_json(struct buf *b, const struct settings *s)
{
    struct json_out w = json_to(b);
    fields_write(&w, settings_table, s);
    b->n -= !b->full; /* its brace */
    json_member_open(&w, "upstreams", '[');
    for (size_t i = 0; i < s->n_upstreams; i++)
        fields_write(&w, upstream_table, &s->upstreams[i]);
    json_close(&w, ']');
    json_close(&w, '}');
    buf_byte(b, '\n');
}

static void print_upstream(struct buf *b, const struct upstream *u)
{
    if (u->name.n)
        buf_printf(b, "# models " S_FMT "/... go to " S_FMT, S_ARG(u->name), S_ARG(u->url));
    else
        buf_printf(b, "# all other models go to " S_FMT, S_ARG(u->url));
    if (u->placement.n)
        buf_printf(b, ", placement " S_FMT, S_ARG(u->placement));
    if (u->dialect.n)
        buf_printf(b, ", API " S_FMT, S_ARG(u->dialect));
    buf_byte(b, '\n');
}

void row_print(struct buf *b, const struct field *f, const void *in)
{
    const void *at = (const char *)in + f->at;
    if (f->type == FIELD_STR)
        buf_add(b, f->secret && ((const str *)at)->n ? S("***") : *(const str *)at);
    else if (f->type == FIELD_ENUM || f->type == FIELD_SWITCH)
        buf_add(b, field_choice(f, in));
    else if (f->type == FIELD_NUM)
        buf_printf(b, "%.15g", *(const double *)at);
    else if (f->type == FIELD_INT)
        buf_printf(b, "%lld", (long long)*(const int64_t *)at);
}

/* One line for each setting, with its help behind it; a long value pushes its help to the right. */
static void print_group(struct buf *b, const struct settings *s, const char *group)
{
    enum { HELP_COLUMN = 40 };
    buf_printf(b, "%s# %s\n", b->n ? "\n" : "", group);
    for (const struct field *f = settings_table; f->name; f++) {
        size_t from = b->n;
        if (!settings_is_in(f, group))
            continue;
        buf_printf(b, "%s = ", f->name);
        row_print(b, f, s);
        size_t width = b->n - from;
        buf_printf(b, "%*s  # " S_FMT "\n", width < HELP_COLUMN ? (int)(HELP_COLUMN - width) : 0,
                   "", S_ARG(help_plain(b->arena, f->help)));
    }
}

void settings_print(struct buf *b, const struct settings *s, bool as_json)
{
    if (as_json) {
        print_json(b, s);
        return;
    }
    for (const char *const *group = settings_groups; *group; group++)
        print_group(b, s, *group);
    buf_add(b, s->n_upstreams ? S("\n") : S(""));
    for (size_t i = 0; i < s->n_upstreams; i++)
        print_upstream(b, &s->upstreams[i]);
}

/* A name that only begins like an address of this machine may be anyone's. */
bool listens_locally(str listen)
{
    size_t colon = str_behind_last(listen, ':');
    str host = str_sub(listen, 0, colon ? colon - 1 : 0);
    if (str_starts(listen, S("unix:")))
        return true;
    if (host.n > 2 && host.p[0] == '[')
        host = str_sub(host, 1, host.n - 1);
    return host_is_loopback(host);
}

/* Models have slashes in their names, too: a prefix that no upstream has belongs to the model. */
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

/* Whether a segment of the path begins with v and a digit; "v1.example.com" is no version. */
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

/* Paths of Ollama's own API are beside /v1. */
str upstream_url(struct arena *a, const struct upstream *up, str path, str query)
{
    static const str version = S("/v1");
    str base = up->url;
    if (!str_starts(path, version))
        base.n -= str_ends(base, version) ? version.n : 0;
    else if (has_version(base))
        path = str_sub(path, version.n, path.n);
    return str_printf(a, S_FMT S_FMT "%s" S_FMT, S_ARG(base), S_ARG(path), query.n ? "?" : "",
                      S_ARG(query));
}
