/* settings.c - the places that settings come from: file, environment, flags. */
#include "core/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/prices.h"
#include "core/suggest.h"
#include "core/url.h"

/*
 * A later place wins: the defaults, variables of other servers, the file, our own variables, flags.
 * Variables of other servers come first because they are often left over from the server that was
 * here before. Every place ends in set_one, so that a value is checked the same way wherever it
 * comes from; the failure names the place.
 */

const char *const key_header_names[] = {"authorization", "x-api-key", NULL};

static const struct field upstream_table[] = {
    {STR(struct upstream, name), .max = 64,
     .help =
         "prefix of the models that go to this upstream: NAME/...; empty: the default upstream"},
    {STR(struct upstream, url), .required = true, .min = 1, .max = 2000, .help = "base URL"},
    {STR(struct upstream, key), .max = 4000, .secret = true, .help = "API key"},
    {STR(struct upstream, placement), .max = 20,
     .help = "placement for this upstream, instead of the setting placement"},
    {STR(struct upstream, dialect), .max = 20,
     .help =
         "API of this upstream: openai (the default), anthropic or ollama. Requests of Anthropic's "
         "or Ollama's own API that name no upstream go to the first one with it. A core model is "
         "asked over Anthropic's API, otherwise over chat completions"},
    {STR(struct upstream, key_in), .max = 20,
     .help = "header of the key: authorization or x-api-key; empty: x-api-key for requests of "
             "Anthropic's API, otherwise authorization"},
    {0},
};

/* A later upstream of the same name replaces the earlier one, so a flag overrides the file. The URL
 * is kept without a slash at its end, so that paths can be appended. */
static enum status add_upstream(struct ctx *ctx, struct settings *s, struct upstream u)
{
    struct url parts;
    TRY(url_read(ctx, "upstream", u.url, true, &parts));
    if (u.placement.n && name_index(placement_names, u.placement, -1) < 0)
        return fail_field(ctx, "upstreams.placement",
                          "must be one of: user-suffix, before-user, system, first-user");
    if (u.dialect.n && name_index(dialect_names, u.dialect, -1) < 0)
        return fail_field(ctx, "upstreams.dialect", "must be one of: openai, anthropic, ollama");
    if (u.key_in.n && name_index(key_header_names, u.key_in, -1) < 0)
        return fail_field(ctx, "upstreams.key_in", "must be one of: authorization, x-api-key");
    while (str_ends(u.url, S("/")))
        u.url.n--;
    for (size_t i = 0; i < s->n_upstreams; i++) {
        if (str_eq(s->upstreams[i].name, u.name)) {
            s->upstreams[i] = u;
            return OK;
        }
    }
    if (s->n_upstreams == UPSTREAMS_MAX)
        return fail_field(ctx, "upstream", "must not be given more than %d times", UPSTREAMS_MAX);
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

/* Checked here, so that a wrong address fails before anything is opened. */
static enum status check_listen(struct ctx *ctx, str text)
{
    int64_t port;
    size_t colon = text.n;
    if (str_starts(text, S("unix:")) && text.n > S("unix:").n)
        return OK;
    while (colon && text.p[colon - 1] != ':')
        colon--;
    if (colon && str_int(str_sub(text, colon, text.n), &port) && port >= 0 && port <= 65535)
        return OK;
    return fail_field(ctx, "listen",
                      "must be an address and a port, such as 127.0.0.1:7077, or unix:PATH");
}

/* Values that have a new name; the old one is still read. */
static const struct {
    const char *setting, *old, *now;
} renamed_values[] = {{"extraction", "seed", "omniroute"}};

/* A long list of notes helps nobody, so the first ones are enough. */
static void add_note(struct ctx *ctx, struct settings *s, str note)
{
    enum { NOTES_MAX = 16 };
    if (!s->notes.v)
        s->notes.v = NEW_N(&ctx->arena, str, NOTES_MAX);
    if (s->notes.n < NOTES_MAX)
        s->notes.v[s->notes.n++] = note;
}

static str current_value(struct ctx *ctx, struct settings *s, str name, str text)
{
    for (size_t i = 0; i < sizeof renamed_values / sizeof *renamed_values; i++) {
        if (!str_is(name, renamed_values[i].setting) || !str_is(text, renamed_values[i].old))
            continue;
        add_note(ctx, s,
                 str_printf(&ctx->arena, "%s '%s' is called '%s' now", renamed_values[i].setting,
                            renamed_values[i].old, renamed_values[i].now));
        return str_of(renamed_values[i].now);
    }
    return text;
}

/* A misspelt source would be one that never names anybody, so that all people share a memory. A
 * header is recognised by its hyphen; names of members of the body have none. */
static enum status check_user_from(struct ctx *ctx, str list)
{
    static const str known[] = {S("all"), S("user"), S("safety_identifier"), S("metadata.user_id"),
                                S("litellm_metadata.user")};
    bool is_last = str_is(list, "none");
    while (!is_last) {
        is_last = str_find(list, S(",")) == list.n;
        str source = str_trim(str_cut(&list, ','));
        bool is_known = str_find(source, S("-")) < source.n;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            is_known |= str_eq(source, known[i]);
        if (!is_known)
            return fail_field(ctx, "user_from",
                              "must be none, or a list of: all, names of headers (with a hyphen), "
                              "user, safety_identifier, metadata.user_id, litellm_metadata.user");
    }
    return OK;
}

static enum setting_id id_of(str name)
{
    size_t i = 0;
    while (!str_is(name, settings_rows[i].name))
        i++;
    return (enum setting_id)i;
}

bool settings_is_default(const struct settings *s, str name)
{
    return s->from[id_of(name)] == FROM_DEFAULT;
}

static enum status set_one(struct ctx *ctx, struct settings *s, str name, str text)
{
    text = current_value(ctx, s, name, text);
    TRY(fields_set(ctx, settings_table, name, text, s));
    s->from[id_of(name)] = (unsigned char)s->place;
    if (str_is(name, "listen"))
        TRY(check_listen(ctx, text));
    if (str_is(name, "prices"))
        TRY(prices_check(ctx, text));
    if (str_is(name, "user_from"))
        TRY(check_user_from(ctx, text));
    return str_is(name, "upstream") && text.n ? set_upstream(ctx, s, text) : OK;
}

/* --- the file --- */

/* 1 MiB is far more than any real file of settings; it stops a wrong path such as a log or a
 * device. */
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

static enum status check_key(struct ctx *ctx, str key)
{
    struct suggestion near = {.typed = key};
    suggest_from_table(&near, settings_table);
    suggest_name(&near, "upstreams");
    if (near.best && !near.distance)
        return OK;
    return fail_field(ctx, str_c(&ctx->arena, key), "is not a known setting%s%s%s",
                      near.best ? "; did you mean " : "", near.best ? near.best : "",
                      near.best ? "?" : "");
}

/* Values may be strings or plain JSON: 800 and "800" mean the same. The first error ends it: a
 * server must not start with half of a file. */
static enum status take_file(struct ctx *ctx, struct settings *s, str text)
{
    struct json *root;
    TRY(json_parse(ctx, text, &root));
    if (root->type != JSON_OBJECT)
        return fail(ctx, BAD_INPUT, "must hold a JSON object with settings");
    for (const struct json *m = root->first; m; m = m->next) {
        if (!str_is(json_name(m), "upstreams")) {
            TRY(check_key(ctx, json_name(m)));
            TRY(set_one(ctx, s, json_name(m), m->type == JSON_STRING ? json_string(m) : m->source));
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

/* The path is added to the message, as the file may be named by a variable. */
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

/* The failure names the variable, since its value may come from a service file that nobody
 * remembers. */
static enum status load_variable(struct ctx *ctx, struct settings *s, const char *variable,
                                 const char *setting)
{
    const char *value = getenv(variable);
    if (!value || set_one(ctx, s, str_of(setting), str_of(value)) == OK)
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

/* Of other servers: a leftover of such a server sets nothing that our own names set, in the file,
 * too. */
static enum status load_other_names(struct ctx *ctx, struct settings *s)
{
    for (const struct setting_row *row = settings_rows; row->name; row++) {
        const char *value = row->variable ? getenv(row->variable) : NULL;
        if (!value || !*value)
            continue;
        if (!row->only)
            TRY(load_variable(ctx, s, row->variable, row->name));
        else if (is_same_truth(value, row->only))
            TRY(set_one(ctx, s, str_of(row->name), str_of(row->means)));
    }
    return OK;
}

static const char variable_prefix[] = "REMEMBERD_";

/* "budget_tokens" is the variable REMEMBERD_BUDGET_TOKENS. */
static const char *variable_of(struct ctx *ctx, const char *setting)
{
    str name = str_printf(&ctx->arena, "%s%s", variable_prefix, setting);
    char *p = arena_alloc(&ctx->arena, name.n + 1);
    for (size_t i = 0; i < name.n; i++)
        p[i] = (char)toupper((unsigned char)name.p[i]);
    return p;
}

/* Names behind the prefix that are no settings: of clients, of ./dev build, and what Kubernetes
 * sets in every container beside a service that is called rememberd. */
static bool is_of_others(str name, str value)
{
    static const char *const names[] = {"TOKEN", "SQLITE", NULL};
    return str_is_one_of(name, names) || str_starts(name, S("SERVICE_")) ||
           str_starts(name, S("PORT_")) ||
           (str_is(name, "PORT") && str_find(value, S("://")) < value.n);
}

/* serve refuses it like an unknown flag; other commands, run by other programs, only note it. */
static void note_unknown(struct ctx *ctx, struct settings *s, str variable, str value)
{
    str name = str_sub(variable, strlen(variable_prefix), variable.n);
    struct suggestion near = {.typed = str_lower(&ctx->arena, name)};
    suggest_from_table(&near, settings_table);
    if ((near.best && !near.distance) || is_of_others(name, value))
        return;
    s->unknown_variable =
        str_printf(&ctx->arena, "the variable " S_FMT " is not a known setting%s%s%s",
                   S_ARG(variable), near.best ? "; did you mean " : "",
                   near.best ? variable_of(ctx, near.best) : "", near.best ? "?" : "");
    add_note(ctx, s, s->unknown_variable);
}

/* Only names with our prefix can be misspelt ones; all others belong to other programs. */
static enum status load_environment(struct ctx *ctx, struct settings *s)
{
    for (const struct field *f = settings_table; f->name; f++)
        TRY(load_variable(ctx, s, variable_of(ctx, f->name), f->name));
    for (char **one = environ; one && *one; one++) {
        str rest = str_of(*one), name = str_cut(&rest, '=');
        if (str_starts(name, str_of(variable_prefix)))
            note_unknown(ctx, s, name, rest);
    }
    return OK;
}

struct flag {
    str typed, name, value; /* "--budget-tokens", "budget_tokens" */
};

/* Reads argv[*i] as a flag; its value may be the next word. False for other words. "--name=value"
 * and "--name value" are both accepted, and hyphens stand for underscores. */
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

/* Twice over the same flags: --config must be known before the file is read, all others win over
 * it. */
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

/* At the end, because they may come from another place than the address. */
static void complete_default(struct settings *s)
{
    for (size_t i = 0; i < s->n_upstreams; i++) {
        struct upstream *u = &s->upstreams[i];
        if (u->name.n)
            continue;
        if (!u->key.n)
            u->key = s->upstream_key;
        if (!u->dialect.n && s->upstream_dialect)
            u->dialect = str_of(dialect_names[s->upstream_dialect]);
    }
}

/* At the end, because the addresses that are allowed may come from another place than the URLs. */
static enum status check_addresses(struct ctx *ctx, const struct settings *s)
{
    str allowed = s->allow_addresses;
    for (size_t i = 0; i < s->n_upstreams; i++)
        TRY(url_check(ctx, "upstream", s->upstreams[i].url, true, allowed));
    TRY(url_check(ctx, "qdrant_host", str_trim(s->qdrant_host), false, allowed));
    return url_check(ctx, "model_url", s->model_url, true, allowed);
}

/* Strings in *out point into the ctx's arena, the environment and argv: the ctx must live as long
 * as the settings. rest gets the words other than flags, in their order. On failure ctx->field
 * names the flag, the variable or the member of the file. */
enum status settings_load(struct ctx *ctx, int argc, char **argv, struct strs *rest,
                          struct settings *out)
{
    const char *config = getenv("REMEMBERD_CONFIG");
    *out = (struct settings){0};
    settings_defaults(out);
    if (config)
        out->config = str_of(config);
    out->place = FROM_ENVIRONMENT;
    TRY(load_other_names(ctx, out));
    out->place = FROM_OPTION;
    TRY(load_flags(ctx, argc, argv, rest, out, true));
    out->place = FROM_FILE;
    if (out->config.n)
        TRY(load_file(ctx, out, str_c(&ctx->arena, out->config)));
    out->place = FROM_ENVIRONMENT;
    TRY(load_environment(ctx, out));
    out->place = FROM_OPTION;
    TRY(load_flags(ctx, argc, argv, rest, out, false));
    complete_default(out);
    return check_addresses(ctx, out);
}

/* --- printing and choosing --- */

/* The object of the settings, and in it the upstreams, as the file has them. */
static void print_json(struct buf *b, const struct settings *s)
{
    struct json_out w = json_to(b);
    fields_write(&w, settings_table, s);
    b->n -= !b->full; /* its brace */
    buf_add(b, S(",\"upstreams\":["));
    for (size_t i = 0; i < s->n_upstreams; i++) {
        struct json_out one = json_to(b);
        if (i)
            buf_byte(b, ',');
        fields_write(&one, upstream_table, &s->upstreams[i]);
    }
    buf_add(b, S("]}\n"));
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

/* A secret is shown as *** when it is set. */
void row_print(struct buf *b, const struct field *f, const void *in)
{
    const void *at = (const char *)in + f->at;
    if (f->type == FIELD_STR)
        buf_add(b, f->secret && ((const str *)at)->n ? S("***") : *(const str *)at);
    else if (f->type == FIELD_ENUM || f->type == FIELD_SWITCH)
        buf_add(b, field_choice(f, in));
    else if (f->type == FIELD_NUM)
        buf_printf(b, "%g", *(const double *)at);
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
    str host = listen;
    if (str_starts(listen, S("unix:")))
        return true;
    while (host.n && host.p[host.n - 1] != ':')
        host.n--;
    host.n -= host.n > 0;
    if (host.n > 2 && host.p[0] == '[')
        host = str_sub(host, 1, host.n - 1);
    return host_is_loopback(host);
}

/* Models have slashes in their names, too: a prefix that no upstream has belongs to the model. On
 * return *model is without the prefix that chose the upstream. NULL: no default upstream, and no
 * prefix fits. */
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

/* Whether a segment of the URL's path is a version ("/v1", "/v1beta/openai", "/paas/v4"). A segment
 * counts when it begins with v and a digit; the host is skipped, so "v1.example.com" is not a
 * version. */
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

/* People give the address with its version, as clients want it, or without: both work. A path with
 * /v1 loses it when the base URL has a version of its own, and Ollama's paths are beside /v1. */
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
