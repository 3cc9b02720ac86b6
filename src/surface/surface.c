/* surface.c - the list of dialects, and their routes described from their tables. */
#include "surface/surface.h"

#include "surface/dialect.h"

const struct surface *const surfaces[] = {&surface_openai,
                                          &surface_memories,
                                          &surface_mcp,
                                          &surface_omniroute_memory,
                                          &surface_omniroute_engine,
                                          &surface_omniroute_settings,
                                          &surface_osaurus,
                                          &surface_osaurus_memory,
                                          &surface_cortex_users,
                                          &surface_cortex_sessions,
                                          &surface_cortex_profile,
                                          &surface_cortex_memory,
                                          &surface_cortex_chat,
                                          &surface_cortex_a2a,
                                          &surface_rag,
                                          &surface_admin,
                                          NULL};

void surface_routes(struct buf *b)
{
    for (const struct surface *const *s = surfaces; *s; s++)
        for (const struct route *r = (*s)->routes; r->method; r++)
            buf_printf(b, "%-7s %-28s %s\n", r->method, r->path, r->help);
}

/* --- OpenAPI --- */

static void text(struct json_out *w, const char *name, str value)
{
    json_key(w, name);
    json_str(w, value);
}

static void parameter(struct json_out *w, str name, const char *in, const struct field *f)
{
    json_open(w, '{');
    text(w, "name", name);
    text(w, "in", str_of(in));
    json_key(w, "required");
    json_bool(w, !f || f->required);
    json_key(w, "schema");
    if (f)
        field_schema(w, f);
    else
        json_raw(w, S("{\"type\":\"string\"}"));
    json_close(w, '}');
}

/* The {…} parts of the path, and the rows of a query. */
static void parameters(struct json_out *w, const struct route *r, const struct field *query)
{
    str rest = str_of(r->path);
    json_key(w, "parameters");
    json_open(w, '[');
    while (rest.n) {
        str_cut(&rest, '{');
        if (rest.n)
            parameter(w, str_cut(&rest, '}'), "path", NULL);
    }
    for (const struct field *f = query; f && f->name; f++)
        parameter(w, str_of(f->name), "query", f);
    json_close(w, ']');
}

static void content(struct json_out *w, const struct field *table, bool strict)
{
    json_key(w, "content");
    json_open(w, '{');
    json_key(w, "application/json");
    json_open(w, '{');
    json_key(w, "schema");
    fields_schema(w, table, strict);
    json_close(w, '}');
    json_close(w, '}');
}

static void responses(struct json_out *w, const struct route *r)
{
    json_key(w, "responses");
    json_open(w, '{');
    json_key(w, "2XX");
    json_open(w, '{');
    text(w, "description", S("done"));
    if (r->gives)
        content(w, r->gives, false);
    json_close(w, '}');
    json_key(w, "default");
    json_raw(w, S("{\"$ref\":\"#/components/responses/Error\"}"));
    json_close(w, '}');
}

static bool needs_a_field(const struct field *table)
{
    for (const struct field *f = table; f->name; f++)
        if (f->required)
            return true;
    return false;
}

static void operation(struct json_out *w, const struct surface *s, const struct route *r)
{
    bool has_body = str_is(str_of(r->method), "POST") || str_is(str_of(r->method), "PUT") ||
                    str_is(str_of(r->method), "PATCH");
    str method = str_of(r->method);
    char low[16] = "";
    for (size_t i = 0; i < method.n && i + 1 < sizeof low; i++)
        low[i] = (char)(method.p[i] + 32);
    json_key(w, low);
    json_open(w, '{');
    text(w, "summary", str_of(r->help));
    json_key(w, "tags");
    json_open(w, '[');
    json_str(w, str_of(s->name));
    json_close(w, ']');
    json_key(w, "security");
    json_raw(w, r->access == ACCESS_OPEN ? S("[]") : S("[{\"token\":[]},{}]"));
    parameters(w, r, has_body ? r->asks : r->takes);
    if (r->takes && has_body) {
        json_key(w, "requestBody");
        json_open(w, '{');
        json_key(w, "required");
        json_bool(w, needs_a_field(r->takes));
        content(w, r->takes, r->strict);
        json_close(w, '}');
    }
    responses(w, r);
    json_close(w, '}');
}

/* The first row of each path opens it; one path's rows stand in one surface. */
static void path(struct json_out *w, const struct surface *s, const struct route *r)
{
    for (const struct route *before = s->routes; before < r; before++)
        if (str_is(str_of(before->path), r->path))
            return;
    json_key(w, r->path);
    json_open(w, '{');
    for (const struct route *same = r; same->method; same++)
        if (str_is(str_of(same->path), r->path))
            operation(w, s, same);
    json_close(w, '}');
}

void surface_openapi(struct buf *b)
{
    struct json_out w = json_to(b);
    json_open(&w, '{');
    text(&w, "openapi", S("3.1.0"));
    json_key(&w, "info");
    json_open(&w, '{');
    text(&w, "title", S("rememberd"));
    text(&w, "version", S(REMEMBERD_VERSION));
    text(&w, "description", S("A memory for applications that talk to a language model."));
    json_close(&w, '}');
    json_key(&w, "paths");
    json_open(&w, '{');
    for (const struct surface *const *s = surfaces; *s; s++)
        for (const struct route *r = (*s)->routes; r->method; r++)
            path(&w, *s, r);
    json_close(&w, '}');
    json_key(&w, "components");
    json_raw(&w, S("{\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}},"
                   "\"responses\":{\"Error\":{\"description\":\"it failed\",\"content\":{"
                   "\"application/json\":{\"schema\":{\"type\":\"object\",\"properties\":{"
                   "\"error\":{\"type\":[\"object\",\"string\"],\"properties\":{"
                   "\"message\":{\"type\":\"string\"},\"type\":{\"type\":\"string\"},"
                   "\"param\":{\"type\":[\"string\",\"null\"]},"
                   "\"code\":{\"type\":[\"string\",\"null\"]},"
                   "\"trace_id\":{\"type\":\"string\"},"
                   "\"details\":{\"type\":[\"array\",\"object\"]}}},"
                   "\"message\":{\"type\":\"string\"},\"field\":{\"type\":\"string\"},"
                   "\"requestId\":{\"type\":\"string\"}}}}}}}}"));
    json_close(&w, '}');
}
