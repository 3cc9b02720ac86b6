/* openapi.c - the routes of all dialects described from their tables: as text, and as OpenAPI. */
#include "surface/common/auth.h"
#include "surface/common/json_form.h"
#include "surface/common/openapi_names.h"
#include "surface/common/person.h"

/*
 * Nothing here is written by hand: each path, parameter, body and answer comes from the row of a
 * route and the tables that the row names, the same ones that read and write the JSON. The codes of
 * failures are asked of the surface's own function that words them. The document is served at
 * /openapi.json and printed by rememberd --schema.
 */

struct api {
    struct json_out w;
    struct arena *arena;
    const struct surface *const *list;
    struct api_names names;
};

/* The longest table of a body, with room for the row of the space; an assert says when it is too
 * small. */
enum { ROWS_MAX = 96 };

void surface_routes(const struct surface *const *list, struct buf *b)
{
    for (const struct surface *const *s = list; *s; s++)
        for (const struct route *r = (*s)->routes; r->method; r++)
            buf_printf(b, "%-7s %-28s %s\n", r->method, r->path, r->help);
}

/* --- parameters --- */

static void write_parameter(struct json_out *w, str name, const char *in, const struct field *f)
{
    json_open(w, '{');
    json_member_str(w, "name", name);
    json_member_str(w, "in", str_of(in));
    json_member_bool(w, "required", f->required);
    if (f->help)
        json_member_str(w, "description", str_of(f->help));
    json_key(w, "schema");
    field_schema(w, f, SCHEMA_INPUT, NULL);
    json_close(w, '}');
}

/* The {…} parts of the path, the rows of a query, and headers. What every request with a credential
 * may have is under components. */
static void write_parameters(struct json_out *w, const struct route *r)
{
    static const struct field part = {.type = FIELD_STR, .required = true}; /* of the path */
    str rest = str_of(r->path);
    const struct field *query = route_has_body(r) ? r->words.asks : r->takes;
    json_member_open(w, "parameters", '[');
    while (rest.n) {
        str_cut(&rest, '{');
        if (rest.n)
            write_parameter(w, str_cut(&rest, '}'), "path", &part);
    }
    for (const struct field *f = query; f && f->name; f++)
        write_parameter(w, str_of(f->name), "query", f);
    for (const struct field *f = r->words.headers; f && f->name; f++)
        write_parameter(w, str_of(f->name), "header", f);
    if (r->access != ACCESS_OPEN) {
        json_raw(w, S("{\"$ref\":\"#/components/parameters/person\"}"));
        json_raw(w, S("{\"$ref\":\"#/components/parameters/space\"}"));
        json_raw(w, S("{\"$ref\":\"#/components/parameters/spaceOfQuery\"}"));
    }
    json_close(w, ']');
}

/* --- bodies and answers --- */

/* A type of a body or answer and its schema: that of a table, or a text. */
static str media_of(struct api *api, const char *type, const struct field *table,
                    enum schema_use use, bool is_list)
{
    const char *form = is_list ? "'%':{'schema':{'type':'array','items':{'$ref':'%'}}}"
                               : "'%':{'schema':{'$ref':'%'}}";
    if (!table)
        return JSON_FORM(api->arena, "'%':{'schema':{'type':'string'}}", str_of(type));
    return JSON_FORM(api->arena, form, str_of(type), api_schema_ref(&api->names.refs, table, use));
}

/* A body without required members may be left out as a whole. */
static bool needs_a_field(const struct field *table)
{
    for (const struct field *f = table; f->name; f++)
        if (f->required)
            return true;
    return false;
}

static void write_body(struct api *api, const struct surface *s, const struct route *r)
{
    const struct field *table = r->takes ? r->takes : r->words.sends;
    const char *type = r->words.sends_type ?: "application/json";
    if (!(table || r->words.sends_type) || !route_has_body(r))
        return;
    enum schema_use use = r->takes ? route_body_use(s, r) : SCHEMA_INPUT;
    json_member_raw(&api->w, "requestBody",
                    JSON_FORM(api->arena, "{'required':%,'content':{%}}",
                              !table || needs_a_field(table) ? S("true") : S("false"),
                              media_of(api, type, table, use, false)));
}

/* A header of ours is described by its row; the trace header has none. */
static void write_answer_headers(struct api *api, const struct surface *s, const struct route *r)
{
    if (!s->trace && !r->words.shows)
        return;
    json_member_open(&api->w, "headers", '{');
    if (s->trace)
        json_member_raw(&api->w, s->trace,
                        S("{\"description\":\"the request's value, or its id\",\"schema\":{"
                          "\"type\":\"string\"}}"));
    for (const struct field *f = r->words.shows; f && f->name; f++) {
        json_member_open(&api->w, f->name, '{');
        json_member_str(&api->w, "description", str_of(f->help));
        json_key(&api->w, "schema");
        field_schema(&api->w, f, SCHEMA_INPUT, NULL);
        json_close(&api->w, '}');
    }
    json_close(&api->w, '}');
}

static void write_answer(struct api *api, const struct surface *s, const struct route *r, int code)
{
    enum { NO_CONTENT = 204 };
    const struct route_words *words = &r->words;
    bool has_body = code != NO_CONTENT && (words->gives || words->type);
    json_member_open(&api->w, str_c(api->arena, str_printf(api->arena, "%d", code)), '{');
    json_member_str(&api->w, "description", code < 300 ? S("done") : S("it does not work now"));
    write_answer_headers(api, s, r);
    if (has_body) {
        json_member_open(&api->w, "content", '{');
        json_raw(&api->w, media_of(api, words->type ? words->type : "application/json",
                                   words->gives, SCHEMA_OUTPUT, words->is_list));
        if (words->stream)
            json_raw(&api->w, media_of(api, words->stream, NULL, SCHEMA_OUTPUT, false));
        json_close(&api->w, '}');
    }
    json_close(&api->w, '}');
}

/* --- failures --- */

/* What the surface answers when a handler of the route fails so. */
static int failure_code(const struct surface *s, const struct route *r, enum status how)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    const struct request in = {.method = str_of(r->method),
                               .path = str_of(r->path),
                               .who.pool = {S(LOCAL_USER), S(DEFAULT_SPACE)}};
    struct reply out = {.code = http_code(how), .body = buf_make(&ctx.arena, 1 << 16)};
    s->word_error(&ctx, how, &in, &out);
    return out.code;
}

static void write_failure(struct api *api, const struct surface *s, str code, const char *words)
{
    const struct error_shape *e = s->errors;
    json_member_raw(&api->w, str_c(api->arena, code),
                    JSON_FORM(api->arena, "{'description':'%','content':{%}}", str_of(words),
                              media_of(api, e->type, e->table, SCHEMA_OUTPUT, false)));
}

/* Two kinds of failure may have one code, which is then described by the first. Rare ones, and
 * those that http itself answers, are the default's. */
static void write_failures(struct api *api, const struct surface *s, const struct route *r)
{
    bool is_open = r->access == ACCESS_OPEN, has_body = route_has_body(r);
    const struct {
        bool may_be;
        const char *words;
    } kinds[STATUS_COUNT] = {
        [BAD_INPUT] = {!is_open || r->takes,
                       "the request breaks a rule; the error names the field and the rule"},
        [NO_AUTH] = {!is_open, "a token is needed, or the one given is not known"},
        [FORBIDDEN] = {!is_open,
                       "the token does not reach this far, or its user has reached a limit"},
        [NOT_FOUND] = {strchr(r->path, '{') != NULL,
                       "there is none, or none that the caller may reach"},
        [CONFLICT] = {has_body && !is_open, "it is ambiguous, or changed meanwhile"},
        [TOO_LARGE] = {has_body, "the body is too large"},
        [TOO_BUSY] = {!r->is_quick, "too much at once; try again"},
        [STORAGE] = {!r->is_quick, "the database failed"},
    };
    int seen[STATUS_COUNT] = {r->words.code ? r->words.code : 200, r->words.code_too};
    size_t n = 2;
    for (enum status how = BAD_INPUT; how < STATUS_COUNT; how++) {
        if (!kinds[how].may_be)
            continue;
        int code = failure_code(s, r, how);
        if (SOME(i, n, seen[i] == code))
            continue;
        assert(n < STATUS_COUNT);
        seen[n++] = code;
        write_failure(api, s, str_printf(api->arena, "%d", code), kinds[how].words);
    }
    write_failure(api, s, S("default"), "it failed");
}

/* --- operations --- */

/* security with {} beside the token says that the token is optional: on loopback, as long as there
 * is none. */
static void write_operation(struct api *api, const struct surface *s, const struct route *r)
{
    struct json_out *w = &api->w;
    int code = r->words.code ? r->words.code : 200;
    json_member_open(w, str_c(api->arena, str_lower(api->arena, str_of(r->method))), '{');
    json_member_str(w, "operationId", api_operation_name(api->arena, api->list, s, r));
    json_member_str(w, "summary", str_of(r->help));
    json_member_raw(w, "tags", JSON_FORM(api->arena, "['%']", str_of(s->name)));
    json_member_raw(w, "security",
                    r->access == ACCESS_OPEN
                        ? S("[]")
                        : JSON_FORM(api->arena, "[{'token':['%']},{}]",
                                    str_of(token_scope_name(route_scope(s, r)))));
    write_parameters(w, r);
    write_body(api, s, r);
    json_member_open(w, "responses", '{');
    write_answer(api, s, r, code);
    if (r->words.code_too)
        write_answer(api, s, r, r->words.code_too);
    write_failures(api, s, r);
    json_close(w, '}');
    json_close(w, '}');
}

/* Whether no row before this one has its path. */
static bool is_first_of_path(const struct surface *const *list, const struct route *r)
{
    for (;; list++)
        for (const struct route *before = (*list)->routes; before->method; before++)
            if (before == r || str_is(str_of(before->path), r->path))
                return before == r;
}

/* The first row of a path writes all rows of the path, also those of other surfaces. */
static void write_path(struct api *api, const struct route *r)
{
    if (!is_first_of_path(api->list, r))
        return;
    json_member_open(&api->w, r->path, '{');
    for (const struct surface *const *s = api->list; *s; s++)
        for (const struct route *same = (*s)->routes; same->method; same++)
            if (same->words.name && str_is(str_of(same->path), r->path))
                write_operation(api, *s, same);
    json_close(&api->w, '}');
}

/* --- the document --- */

/* The table with a row for the member that the surface reads from every body. */
static void write_schema(struct api *api, const struct api_schema *schema)
{
    static const struct field space = {.name = SPACE_MEMBER,
                                       .type = FIELD_STR,
                                       .max = SPACE_NAME_MAX,
                                       .help = "the space to use, as in X-Memory-Space"};
    struct field rows[ROWS_MAX] = {0};
    size_t n = 0;
    for (const struct field *f = schema->table; f->name; f++) {
        assert(n + 2 < ROWS_MAX);
        rows[n++] = *f;
    }
    if (schema->has_space)
        rows[n] = space;
    json_key(&api->w, str_c(api->arena, schema->name));
    fields_schema(&api->w, rows, schema->use, &api->names.refs);
}

/* What all operations refer to: two headers and a parameter that every route with a credential
 * takes, the token, and the schemas. */
static void write_components(struct api *api)
{
    json_member_open(&api->w, "components", '{');
    json_member_raw(&api->w, "parameters",
                    S("{\"person\":{\"name\":\"" PERSON_HEADER "\",\"in\":\"header\","
                      "\"description\":\"the person behind the credential, who has a memory of "
                      "its own\",\"schema\":{\"type\":\"string\"}},"
                      "\"space\":{\"name\":\"" SPACE_HEADER "\",\"in\":\"header\","
                      "\"description\":\"the space to use; default: the credential's\","
                      "\"schema\":{\"type\":\"string\"}},"
                      "\"spaceOfQuery\":{\"name\":\"" SPACE_MEMBER "\",\"in\":\"query\","
                      "\"description\":\"the same\",\"schema\":{\"type\":\"string\"}}}"));
    json_member_raw(&api->w, "securitySchemes",
                    S("{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}}"));
    json_member_open(&api->w, "schemas", '{');
    for (size_t i = 0; i < api->names.n; i++)
        write_schema(api, &api->names.v[i]);
    json_close(&api->w, '}');
    json_close(&api->w, '}');
}

/* An operation has its surface's name as a tag. */
static void write_tags(struct api *api)
{
    static const struct field tags[] = {
        {.name = "openai", .help = "chats with memory, and the model server's other endpoints"},
        {.name = "anthropic", .help = "Anthropic's messages, with memory"},
        {.name = "responses", .help = "OpenAI's Responses API with memory"},
        {.name = "memories", .help = "rememberd's own API: everything about what is remembered"},
        {.name = "messages", .help = "what was said, in its conversation"},
        {.name = "sessions", .help = "conversations, and what was learnt and recalled in them"},
        {.name = "receipts", .help = "what was inserted into chats, and why"},
        {.name = "preview", .help = "what a chat would get"},
        {.name = "stats", .help = "numbers of a space, now and by the day"},
        {.name = "events", .help = "what changes, as it changes"},
        {.name = "jobs", .help = "long work: begun, watched, cancelled"},
        {.name = "settings", .help = "the server's settings"},
        {.name = "doctor", .help = "what is wrong, and what to do"},
        {.name = "tokens", .help = "access tokens"},
        {.name = "sign-in", .help = "browsers that sign in, and who the caller is"},
        {.name = "studio", .help = "the web page"},
        {.name = "users", .help = "users, and the end users behind their keys"},
        {.name = "mcp", .help = "the Model Context Protocol"},
        {.name = "omniroute", .help = "for clients of OmniRoute"},
        {.name = "osaurus", .help = "for clients of Osaurus"},
        {.name = "cortex", .help = "for clients of Traylinx Cortex"},
        {.name = "rag", .help = "for clients of the RAG backend"},
        {.name = "mem0", .help = "for clients of mem0, hosted and self-hosted"},
        {.name = "admin", .help = "state of the server"},
        {0},
    };
    json_member_open(&api->w, "tags", '[');
    for (const struct field *f = tags; f->name; f++)
        json_raw(&api->w, JSON_FORM(api->arena, "{'name':'%','description':'%'}", str_of(f->name),
                                    str_of(f->help)));
    json_close(&api->w, ']');
}

static void write_info(struct api *api)
{
    json_member_str(&api->w, "openapi", S("3.1.0"));
    json_member_raw(&api->w, "info",
                    JSON_FORM(api->arena,
                              "{'title':'rememberd','version':'%','description':'A memory for "
                              "applications that talk to a language model.','license':"
                              "{'name':'Apache-2.0','identifier':'Apache-2.0'}}",
                              S(REMEMBERD_VERSION)));
    json_member_raw(&api->w, "servers", S("[{\"url\":\"/\"}]"));
    write_tags(api);
}

void surface_openapi(const struct surface *const *list, struct buf *b)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    struct api api = {.w = json_to(b), .arena = &ctx.arena, .list = list};
    api.names = api_names_of(&ctx.arena, list);
    json_open(&api.w, '{');
    write_info(&api);
    json_member_open(&api.w, "paths", '{');
    for (const struct surface *const *s = list; *s; s++)
        for (const struct route *r = (*s)->routes; r->method; r++)
            if (r->words.name) /* others only pass on what a model's server defines */
                write_path(&api, r);
    json_close(&api.w, '}');
    write_components(&api);
    json_close(&api.w, '}');
}
