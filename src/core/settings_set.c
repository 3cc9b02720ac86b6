/* settings_set.c - one setting is checked and set, whatever place its value comes from. */
#include "core/settings_set.h"

#include "core/prices.h"
#include "core/url.h"

const char *const key_header_names[] = {"authorization", "x-api-key", NULL};

const struct field upstream_table[] = {
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
enum status settings_add_upstream(struct ctx *ctx, struct settings *s, struct upstream u)
{
    struct url parts;
    TRY(url_read(ctx, "upstream", u.url, true, &parts));
    if (u.placement.n)
        TRY(name_one_of(ctx, "upstreams.placement", placement_names, u.placement));
    if (u.dialect.n)
        TRY(name_one_of(ctx, "upstreams.dialect", dialect_names, u.dialect));
    if (u.key_in.n)
        TRY(name_one_of(ctx, "upstreams.key_in", key_header_names, u.key_in));
    u.url = str_trim_end(u.url, "/");
    size_t at = 0;
    while (at < s->n_upstreams && !str_eq(s->upstreams[at].name, u.name))
        at++;
    if (at == UPSTREAMS_MAX)
        return fail_field(ctx, "upstream", "may be set at most %d times", UPSTREAMS_MAX);
    s->n_upstreams += at == s->n_upstreams;
    s->upstreams[at] = u;
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
    return settings_add_upstream(ctx, s, u);
}

/* --- the address --- */

enum { PORT_MAX = 65535 };

static bool is_port(str text)
{
    int64_t port;
    return str_int(text, &port) && port >= 0 && port <= PORT_MAX;
}

/* Where ":PORT" begins, or the end. The colons of an IPv6 address without brackets begin none. */
static size_t port_at(str text)
{
    size_t first = str_find(text, S(":")), last = str_behind_last(text, ':');
    if (!last)
        return text.n;
    if (*text.p == '[')
        return text.p[last - 2] == ']' ? last - 1 : text.n;
    return first == last - 1 ? first : text.n;
}

static str bracketed(struct arena *a, str host)
{
    bool is_v6 = host.n && *host.p != '[' && str_find(host, S(":")) < host.n;
    return is_v6 ? str_printf(a, "[" S_FMT "]", S_ARG(host)) : host;
}

/* The parts of an address; those that it leaves out stay as they are. */
static void split_address(struct arena *a, str text, str *host, str *port)
{
    size_t at = port_at(text);
    if (is_port(text)) {
        *port = text;
        return;
    }
    *host = bracketed(a, str_sub(text, 0, at));
    if (at < text.n)
        *port = str_sub(text, at + 1, text.n);
}

static str default_listen(void)
{
    return str_of(settings_table[SETTING_listen].otherwise_str);
}

/* Checked here, so that a wrong address fails before anything is opened. */
static enum status set_listen(struct ctx *ctx, struct settings *s, str text)
{
    struct arena *a = &ctx->arena;
    str host, port;
    if (str_starts(text, S("unix:")) && text.n > S("unix:").n)
        return OK;
    split_address(a, default_listen(), &host, &port);
    split_address(a, text, &host, &port);
    if (!is_port(port))
        return fail_field(ctx, "listen",
                          "must be an address, a port or both, such as 127.0.0.1:7077, or "
                          "unix:PATH");
    s->listen = str_printf(a, S_FMT ":" S_FMT, S_ARG(host), S_ARG(port));
    return OK;
}

/* Of a place that names both, the order does not matter: they are joined when it is read. */
static enum status set_part(struct ctx *ctx, struct settings *s, str name, str text)
{
    bool is_host = str_is(name, "host");
    if (is_host &&
        (!text.n || str_starts(text, S("unix:")) || is_port(text) || port_at(text) < text.n))
        return fail_field(ctx, "host", "must be an address without a port, such as 0.0.0.0");
    if (!is_host && !is_port(text))
        return fail_field(ctx, "port", "must be from 0 to %d", PORT_MAX);
    *(is_host ? &s->host : &s->port) = text;
    return OK;
}

void settings_join_parts(struct ctx *ctx, struct settings *s)
{
    struct arena *a = &ctx->arena;
    str host = S(""), port = S("");
    if (!s->host.n && !s->port.n)
        return;
    split_address(a, default_listen(), &host, &port);
    if (!str_starts(s->listen, S("unix:")))
        split_address(a, s->listen, &host, &port);
    host = s->host.n ? bracketed(a, s->host) : host;
    port = s->port.n ? s->port : port;
    s->listen = str_printf(a, S_FMT ":" S_FMT, S_ARG(host), S_ARG(port));
    s->from[SETTING_listen] = (unsigned char)s->place;
    s->host = s->port = S("");
}

/* --- one setting --- */

const struct setting_alias setting_aliases[] = {
    {"host", "listen", "--host", "ADDR", "Address to listen on, without the port of `--listen`"},
    {"port", "listen", "-p, --port", "N", "Port to listen on, without the address of `--listen`"},
    {"data_dir", "data", "--data-dir", "DIR", "The same as `--data`"},
    {0},
};

void settings_suggest(struct suggestion *near)
{
    suggest_from_table(near, settings_table);
    for (const struct setting_alias *one = setting_aliases; one->name; one++)
        suggest_name(near, one->name);
}

void settings_add_note(struct ctx *ctx, struct settings *s, str note)
{
    enum { NOTES_MAX = 16 };
    if (!s->notes.v)
        s->notes.v = NEW_N(&ctx->arena, str, NOTES_MAX);
    if (s->notes.n < NOTES_MAX)
        s->notes.v[s->notes.n++] = note;
}

enum setting_id setting_of(str name)
{
    size_t i = 0;
    while (settings_rows[i].name && !str_is(name, settings_rows[i].name))
        i++;
    return (enum setting_id)i;
}

/* The old name of a value is still read. A switch may be true or false, too. */
static str current_value(struct ctx *ctx, struct settings *s, str name, str text)
{
    if (str_is(name, "extraction") && str_is(text, "seed")) {
        settings_add_note(ctx, s, S("extraction 'seed' is called 'omniroute' now"));
        return S("omniroute");
    }
    const struct field *row = settings_rows[setting_of(name)].field;
    if (row && row->type == FIELD_SWITCH && (str_is(text, "true") || str_is(text, "false")))
        return str_is(text, "true") ? S("on") : S("off");
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
        if (str_find(source, S("-")) == source.n &&
            !SOME(i, sizeof known / sizeof *known, str_eq(source, known[i])))
            return fail_field(ctx, "user_from",
                              "must be none, or a list of: all, names of headers (with a hyphen), "
                              "user, safety_identifier, metadata.user_id, litellm_metadata.user");
    }
    return OK;
}

enum status setting_set(struct ctx *ctx, struct settings *s, str name, str text)
{
    if (str_is(name, "host") || str_is(name, "port"))
        return set_part(ctx, s, name, text);
    if (str_is(name, "data_dir"))
        name = S("data");
    text = current_value(ctx, s, name, text);
    const struct field *row = settings_rows[setting_of(name)].field;
    if (row && !row->secret && str_starts(text, S("~/"))) /* only a shell knows it */
        return fail_field(ctx, str_c(&ctx->arena, name), "~ is not replaced: write the whole path");
    TRY(fields_set(ctx, settings_table, name, text, s));
    s->from[setting_of(name)] = (unsigned char)s->place;
    if (str_is(name, "listen"))
        TRY(set_listen(ctx, s, text));
    if (str_is(name, "prices"))
        TRY(prices_check(ctx, text));
    if (str_is(name, "user_from"))
        TRY(check_user_from(ctx, text));
    return str_is(name, "upstream") && text.n ? set_upstream(ctx, s, text) : OK;
}
