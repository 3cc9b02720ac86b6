/* openapi.c - the routes of all dialects described from their tables: as text, and as OpenAPI. */
#include <assert.h>

#include "surface/common/auth.h"
#include "surface/common/person.h"

/*
 * Nothing here is written by hand: each path, parameter, body and answer comes from the row of a
 * route and the tables that the row names, the same ones that read and write the JSON. The document
 * is served at /openapi.json and printed by rememberd --schema. OpenAPI 3.1 uses JSON Schema as it
 * is, so fields_schema serves the tools of MCP as well.
 */

/* The longest table of a body, with room for the row that write_body adds; an assert says when it
 * is too small. */
enum { ROWS_MAX = 96 };

void surface_routes(const struct surface *const *list, struct buf *b)
{
    for (const struct surface *const *s = list; *s; s++)
        for (const struct route *r = (*s)->routes; r->method; r++)
            buf_printf(b, "%-7s %-28s %s\n", r->method, r->path, r->help);
}

/* A part of the path has no row of its own (f is NULL): it is required and a string. */
static void write_parameter(struct json_out *w, str name, const char *in, const struct field *f)
{
    json_open(w, '{');
    json_member_str(w, "name", name);
    json_member_str(w, "in", str_of(in));
    json_member_bool(w, "required", !f || f->required);
    json_key(w, "schema");
    if (f)
        field_schema(w, f);
    else
        json_raw(w, S("{\"type\":\"string\"}"));
    json_close(w, '}');
}

/* What every request with a credential may have; see components. */
static void write_who_and_where(struct json_out *w)
{
    json_raw(w, S("{\"$ref\":\"#/components/parameters/person\"}"));
    json_raw(w, S("{\"$ref\":\"#/components/parameters/space\"}"));
    json_raw(w, S("{\"$ref\":\"#/components/parameters/spaceOfQuery\"}"));
}

/* The {…} parts of the path, and the rows of a query. */
static void write_parameters(struct json_out *w, const struct route *r, const struct field *query)
{
    str rest = str_of(r->path);
    json_member_open(w, "parameters", '[');
    while (rest.n) {
        str_cut(&rest, '{');
        if (rest.n)
            write_parameter(w, str_cut(&rest, '}'), "path", NULL);
    }
    for (const struct field *f = query; f && f->name; f++)
        write_parameter(w, str_of(f->name), "query", f);
    if (r->access != ACCESS_OPEN)
        write_who_and_where(w);
    json_close(w, ']');
}

/* strict becomes additionalProperties: false, so a client generator knows that a misspelt member is
 * refused. */
static void write_content(struct json_out *w, const struct field *table, bool strict)
{
    json_member_open(w, "content", '{');
    json_member_open(w, "application/json", '{');
    json_key(w, "schema");
    fields_schema(w, table, strict);
    json_close(w, '}');
    json_close(w, '}');
}

/* The table with a row for the member that the surface reads from every body. */
static void write_body(struct json_out *w, const struct surface *s, const struct route *r)
{
    static const struct field space = {.name = SPACE_MEMBER,
                                       .type = FIELD_STR,
                                       .max = SPACE_NAME_MAX,
                                       .help = "the space to use, as in X-Memory-Space"};
    struct field rows[ROWS_MAX] = {0};
    size_t n = 0;
    bool has_space = r->access != ACCESS_USER || !s->aside;
    for (const struct field *f = r->takes; f->name; f++) {
        assert(n + 2 < ROWS_MAX);
        has_space |= str_is(str_of(f->name), SPACE_MEMBER);
        rows[n++] = *f;
    }
    if (!has_space)
        rows[n] = space;
    write_content(w, rows, r->strict);
}

/* "2XX" is OpenAPI's wildcard: a route may answer 200 or 201 with the same shape. Every failure has
 * one description, which covers the shapes of all dialects. */
static void write_responses(struct json_out *w, const struct route *r)
{
    json_member_open(w, "responses", '{');
    json_member_open(w, "2XX", '{');
    json_member_str(w, "description", S("done"));
    if (r->gives)
        write_content(w, r->gives, false);
    json_close(w, '}');
    json_member_raw(w, "default", S("{\"$ref\":\"#/components/responses/Error\"}"));
    json_close(w, '}');
}

/* A body without required members may be left out as a whole. */
static bool needs_a_field(const struct field *table)
{
    for (const struct field *f = table; f->name; f++)
        if (f->required)
            return true;
    return false;
}

/* security with {} beside the token says that the token is optional: on loopback, as long as there
 * is none. */
static void write_operation(struct json_out *w, const struct surface *s, const struct route *r)
{
    bool has_body = str_is(str_of(r->method), "POST") || str_is(str_of(r->method), "PUT") ||
                    str_is(str_of(r->method), "PATCH");
    str method = str_of(r->method);
    char low[16] = "";
    assert(method.n < sizeof low);
    for (size_t i = 0; i < method.n; i++)
        low[i] = (char)(method.p[i] + 32);
    json_member_open(w, low, '{');
    json_member_str(w, "summary", str_of(r->help));
    json_member_open(w, "tags", '[');
    json_str(w, str_of(s->name));
    json_close(w, ']');
    json_member_raw(w, "security", r->access == ACCESS_OPEN ? S("[]") : S("[{\"token\":[]},{}]"));
    write_parameters(w, r, has_body ? r->asks : r->takes);
    if (r->takes && has_body) {
        json_member_open(w, "requestBody", '{');
        json_member_bool(w, "required", needs_a_field(r->takes));
        write_body(w, s, r);
        json_close(w, '}');
    }
    write_responses(w, r);
    json_close(w, '}');
}

/* The first row of a path writes all rows of the path; they are all in one surface. */
static void write_path(struct json_out *w, const struct surface *s, const struct route *r)
{
    for (const struct route *before = s->routes; before < r; before++)
        if (str_is(str_of(before->path), r->path))
            return;
    json_member_open(w, r->path, '{');
    for (const struct route *same = r; same->method; same++)
        if (str_is(str_of(same->path), r->path))
            write_operation(w, s, same);
    json_close(w, '}');
}

/* The components at the end are what all operations refer to: two headers and a parameter that
 * every route with a credential takes, the token, and the one error. */
void surface_openapi(const struct surface *const *list, struct buf *b)
{
    struct json_out w = json_to(b);
    json_open(&w, '{');
    json_member_str(&w, "openapi", S("3.1.0"));
    json_member_open(&w, "info", '{');
    json_member_str(&w, "title", S("rememberd"));
    json_member_str(&w, "version", S(REMEMBERD_VERSION));
    json_member_str(&w, "description",
                    S("A memory for applications that talk to a language model."));
    json_close(&w, '}');
    json_member_open(&w, "paths", '{');
    for (const struct surface *const *s = list; *s; s++)
        for (const struct route *r = (*s)->routes; r->method; r++)
            write_path(&w, *s, r);
    json_close(&w, '}');
    json_member_raw(&w, "components",
                    S("{\"parameters\":{"
                      "\"person\":{\"name\":\"" PERSON_HEADER "\",\"in\":\"header\","
                      "\"description\":\"the person behind the credential, who has a memory of "
                      "its own\",\"schema\":{\"type\":\"string\"}},"
                      "\"space\":{\"name\":\"" SPACE_HEADER "\",\"in\":\"header\","
                      "\"description\":\"the space to use; default: the credential's\","
                      "\"schema\":{\"type\":\"string\"}},"
                      "\"spaceOfQuery\":{\"name\":\"" SPACE_MEMBER "\",\"in\":\"query\","
                      "\"description\":\"the same\",\"schema\":{\"type\":\"string\"}}},"
                      "\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}},"
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
