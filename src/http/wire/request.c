/* request.c - a handler's view of a request, and its body or query read by the table. */
#include "http/wire/request.h"

/*
 * The same table of fields reads a JSON body and, for methods without one, a query. So a route says
 * once what it takes, and both ways have the same limits and the same words for a mistake. The
 * struct that a handler gets in request.in is filled completely, defaults included.
 */

#define QUERY_RULE "must be percent-encoded UTF-8 without NUL"
#define TWICE_RULE "comes twice in the query"

enum { TRACE_MAX = 200 }; /* a longer trace id of a client is not sent back */

str request_header(const struct request *r, const char *name)
{
    str wanted = str_of(name);
    for (size_t i = 0; i < r->n_headers; i++)
        if (str_eq_nocase(r->headers[i].name, wanted))
            return r->headers[i].value;
    return S("");
}

str request_path(str target, str *authority, str *origin_form, str *query)
{
    size_t scheme = str_find(target, S("://"));
    *authority = (str){0};
    if (target.n && target.p[0] != '/' && scheme < target.n) {
        target = str_sub(target, scheme + 3, target.n);
        *authority = str_sub(target, 0, str_find(target, S("/")));
        target = str_sub(target, authority->n, target.n);
    }
    *origin_form = target = str_cut(&target, '#');
    str path = str_cut(&target, '?');
    *query = target;
    return path.n ? path : S("/");
}

str request_trace(const struct ctx *ctx, const struct request *r, const char *header)
{
    str value = str_trim(request_header(r, header));
    return value.n && value.n <= TRACE_MAX ? value : str_of(ctx->id);
}

/* Takes the next name=value off the query, decoded. False: the name is "", or the value broken. */
static bool next_pair(struct arena *a, str *query, str *name, str *value)
{
    str pair = {0};
    while (query->n && !pair.n)
        pair = str_cut(query, '&');
    str raw_name = str_cut(&pair, '=');
    if (percent_decode(a, raw_name, true, name))
        return percent_decode(a, pair, true, value);
    *name = S("");
    return false;
}

/* How often it is there; *first is the first one, or "". */
static size_t find_query(struct ctx *ctx, const struct request *r, const char *name, str *first)
{
    str query = r->query, found, value;
    size_t n = 0;
    *first = S("");
    while (query.n)
        if (next_pair(&ctx->arena, &query, &found, &value) && str_is(found, name))
            *first = n++ ? *first : value;
    return n;
}

str request_query(struct ctx *ctx, const struct request *r, const char *name)
{
    str value;
    find_query(ctx, r, name, &value);
    return value;
}

enum status request_query_once(struct ctx *ctx, const struct request *r, const char *name, str *out)
{
    return find_query(ctx, r, name, out) > 1 ? fail_field(ctx, name, TWICE_RULE) : OK;
}

enum status request_query_read(struct ctx *ctx, const struct request *r, const struct field *table,
                               void *out)
{
    fields_defaults(table, out);
    for (const struct field *f = table; f->name; f++) {
        str text;
        TRY(request_query_once(ctx, r, f->name, &text));
        if (text.n)
            TRY(fields_set(ctx, table, str_of(f->name), text, out));
    }
    return OK;
}

static bool is_strict(const struct surface *surface, const struct route *route)
{
    return surface->is_strict || route->strict;
}

/* Whether a parameter or member that nobody reads is refused. Where something is erased or written,
 * a dry run that is asked for in vain would be none. A route that is passed on has no name. */
static bool refuses_unknown(const struct surface *surface, const struct route *route)
{
    bool erases = route->words.name && str_is(str_of(route->method), "DELETE");
    return is_strict(surface, route) || erases ||
           (route->takes && route->words.asks && route->scope != MAY_READ);
}

static enum status refuse_unknown(struct ctx *ctx, const struct route *route, str name)
{
    bool is_member = route->takes && field_named(route->takes, name);
    return fail_field(ctx, str_c(&ctx->arena, name),
                      is_member ? "belongs in the body, not in the query" : "is not a known field");
}

/* Into *out by the route's table. NULL: a query beside a body, or of a route that takes nothing,
 * whose names are checked. seen has a bit for each row: no table is longer than 64. */
static enum status read_query(struct ctx *ctx, const struct surface *surface,
                              const struct route *route, struct request *r, void *out)
{
    const struct field *table = out ? route->takes : route->words.asks;
    bool is_all_known = refuses_unknown(surface, route);
    str query = out || is_all_known ? r->query : S(""), name, value;
    uint64_t seen = 0;
    while (query.n) {
        if (!next_pair(&ctx->arena, &query, &name, &value))
            return name.n ? fail_field(ctx, str_c(&ctx->arena, name), QUERY_RULE)
                          : fail(ctx, BAD_INPUT, "the query " QUERY_RULE);
        const struct field *row = name.n && table ? field_named(table, name) : NULL;
        uint64_t bit = row && row - table < 64 ? (uint64_t)1 << (row - table) : 0;
        if (seen & bit)
            return fail_field(ctx, row->name, TWICE_RULE);
        seen |= bit;
        if (row && out)
            TRY(fields_set(ctx, table, name, value, out));
        else if (!row && name.n && is_all_known &&
                 !(surface->aside && str_is(name, surface->aside)))
            return refuse_unknown(ctx, route, name);
    }
    for (size_t i = 0; out && table[i].name && i < 64; i++)
        if (table[i].required && !(seen >> i & 1))
            return fail_missing(ctx, table[i].name);
    return OK;
}

/* Takes the surface's member out of the body, unless the route has a row for it. */
static const struct json *set_aside(const struct route *route, const char *aside, struct json *body)
{
    const struct json *found = aside ? json_get(body, aside) : NULL;
    if (!found || (route->takes && field_named(route->takes, str_of(aside))))
        return found;
    for (struct json **at = &body->first; *at;) {
        if (!str_is(json_name(*at), aside)) {
            at = &(*at)->next;
            continue;
        }
        *at = (*at)->next;
        body->n--;
    }
    return found;
}

/* An absent body counts as {} when the route has a table, so that the message names the first
 * required field; a change to nothing is more likely a client that lost its body. */
static enum status read_body(struct ctx *ctx, const struct route *route, struct request *r,
                             struct json **out)
{
    bool changes = str_is(r->method, "PUT") || str_is(r->method, "PATCH");
    if (!r->body.n && (route->wants_json || changes))
        return fail(ctx, BAD_INPUT, "the request has no body; JSON is expected");
    return json_parse(ctx, r->body.n ? r->body : S("{}"), out);
}

/* Of a route that reads none: a member would be passed over, as a parameter of its query. */
static enum status check_unread(struct ctx *ctx, const struct surface *surface,
                                const struct route *route, struct request *r)
{
    struct json *json = NULL;
    if (route->words.sends || route->words.sends_type || !refuses_unknown(surface, route))
        return OK;
    TRY(json_parse(ctx, r->body, &json));
    if (json->type != JSON_OBJECT)
        return OK;
    r->aside = set_aside(route, surface->aside, json);
    return json->first ? refuse_unknown(ctx, route, json_name(json->first)) : OK;
}

/* On the thread of the handler, after admit. A GET with a body is rare and not forbidden; then the
 * body counts. */
enum status request_read(struct ctx *ctx, const struct surface *surface, const struct route *route,
                         struct request *r)
{
    static const char *const asking[] = {"GET", "HEAD", "DELETE", NULL};
    struct json *json = NULL;
    void *in = route->takes ? arena_alloc(&ctx->arena, route->takes_size) : NULL;
    bool by_query = in && !r->body.n && name_index(asking, r->method, -1) >= 0;
    if (by_query)
        fields_defaults(route->takes, in);
    TRY(read_query(ctx, surface, route, r, by_query ? in : NULL));
    if (!by_query && (in || route->wants_json)) {
        TRY(read_body(ctx, route, r, &json));
        r->json = json;
        r->aside = set_aside(route, surface->aside, json);
        if (in)
            TRY(fields_read(ctx, route->takes, json, is_strict(surface, route), in));
    } else if (!in && r->body.n) {
        TRY(check_unread(ctx, surface, route, r));
    }
    r->in = in;
    return OK;
}

enum status identity_may(struct ctx *ctx, const struct identity *who, enum token_scope needs)
{
    if (!who->scopes || !needs || (who->scopes & needs))
        return OK;
    return fail(ctx, FORBIDDEN, "this token lacks the scope '%s'", token_scope_name(needs));
}
