/* tool_list.c - the tools that tools/list names, each described to a model. */
#include "surface/mcp/mcp.h"

/*
 * A client puts the list into each prompt of its model, so the usual one is short: five tools, with
 * the arguments that they take and the members that each result has. A client that wants others
 * says so in its address or its command line. Every tool can be called, listed or not: a list is a
 * proposal, and reach depends on the credential alone.
 */

/* The general tools come first; no name is in two tables. */
static const struct tool *tool_at(size_t i)
{
    for (const struct tool *const *table = tool_tables; *table; table++)
        for (const struct tool *t = *table; t->name; t++)
            if (!i--)
                return t;
    return NULL;
}

const struct tool *tool_find(str name)
{
    const struct tool *t;
    for (size_t i = 0; (t = tool_at(i)) && !str_is(name, t->name); i++)
        ;
    return t;
}

/* --- what is wanted --- */

static bool is_meant(const struct tool *t, str item)
{
    return str_is(item, "all") || str_is(item, t->name) || (t->group && str_is(item, t->group));
}

static bool is_wanted(const struct tool *t, str wanted)
{
    str rest = wanted.n ? wanted : S(USUAL_TOOLS);
    while (rest.n)
        if (is_meant(t, str_trim(str_cut(&rest, ','))))
            return true;
    return false;
}

static enum status check_item(struct ctx *ctx, str item)
{
    struct buf names = buf_make(&ctx->arena, 1024);
    const struct tool *t;
    for (size_t i = 0; (t = tool_at(i)); i++) {
        if (is_meant(t, item))
            return OK;
        buf_printf(&names, ", %s", t->name);
    }
    return fail_field(
        ctx, "tools",
        "unknown tool '%.60s'; choose from all, default, claude, osaurus, omniroute" S_FMT,
        str_c(&ctx->arena, item), S_ARG(buf_str(&names)));
}

enum status surface_mcp_tools(struct ctx *ctx, str wanted)
{
    while (wanted.n)
        TRY(check_item(ctx, str_trim(str_cut(&wanted, ','))));
    return OK;
}

/* --- describing --- */

enum { ROWS_MAX = 32 }; /* of a tool's table; an assert says when it is too small */

/* For the client's questions to its user. A hint that says what its absence says is left out. */
static void write_hints(struct json_out *w, const struct tool *t)
{
    json_member_open(w, "annotations", '{');
    json_member_bool(w, "readOnlyHint", t->reads);
    if (!t->reads && !t->destroys)
        json_member_bool(w, "destructiveHint", false);
    if (!t->reads && t->repeats)
        json_member_bool(w, "idempotentHint", true);
    json_member_bool(w, "openWorldHint", false);
    json_close(w, '}');
}

/* What a model can use: of arguments all but the length of texts, which an error tells who breaks
 * it; of a result the names of what is always there. */
static struct field row_in_short(const struct field *row, bool of_result)
{
    static const struct field any[] = {{0}};
    struct field f = field_whole(row);
    if (of_result)
        f.help = NULL;
    if (of_result && f.type == FIELD_JSON && f.inside)
        f.inside = any;
    if (f.type == FIELD_STR)
        f.min = f.max = 0;
    return f;
}

static void describe_rows(struct json_out *w, const struct field *table, bool of_result)
{
    struct field rows[ROWS_MAX] = {0};
    size_t n = 0;
    for (const struct field *f = table; f->name; f++) {
        assert(n + 1 < ROWS_MAX);
        if (f->required || !of_result)
            rows[n++] = row_in_short(f, of_result);
    }
    fields_schema(w, rows, of_result ? SCHEMA_INPUT : SCHEMA_STRICT, NULL);
}

/* Both schemas come from the tables that read the arguments and write the result, so the list
 * cannot promise anything else. */
static void describe_tool(struct json_out *w, const struct tool *t)
{
    json_open(w, '{');
    json_member_str(w, "name", str_of(t->name));
    json_member_str(w, "title", str_of(t->title));
    json_member_str(w, "description", str_of(t->help));
    json_key(w, "inputSchema");
    describe_rows(w, t->takes, false);
    json_key(w, "outputSchema");
    describe_rows(w, t->gives, true);
    write_hints(w, t);
    json_close(w, '}');
}

void tools_write(struct json_out *w, str wanted)
{
    const struct tool *t;
    json_open(w, '[');
    for (size_t i = 0; (t = tool_at(i)); i++)
        if (is_wanted(t, wanted))
            describe_tool(w, t);
    json_close(w, ']');
}
