/* formats.c - the table of formats: how a file is recognised, and who reads its records. */
#include "ext/import/formats.h"

#include "ext/import/copy/lines.h"
#include "ext/import/import.h"
#include "ext/import/ingest.h"
#include "ext/import/items.h"

/*
 * A file is recognised by the names of the members that its first record has, so neither its name
 * nor its place matters, and a new kind of file is a row, a name and a reader. Text has no such
 * names: its own beginning or the end of its name decides, after all others.
 */
static const struct import_format formats[] = {
    {"rememberd", RECORDS_LINES, .keys = "kind", .read_text = copy_lines_read, .is_copy = true},
    {"rememberd", RECORDS_TEXT, .begins = COPY_MARK, .read_text = copy_markdown_read,
     .is_copy = true},
    {"chatgpt", RECORDS_ITEMS, .keys = "mapping", .read = chatgpt_conversation},
    {"chatgpt", RECORDS_WHOLE, .keys = "mapping current_node", .read = chatgpt_conversation},
    {"claude", RECORDS_ITEMS, .keys = "uuid chat_messages", .read = claude_conversation},
    {"claude", RECORDS_WHOLE, .keys = "uuid chat_messages", .read = claude_conversation},
    {"claude", RECORDS_ITEMS, .keys = "conversations_memory", .read = claude_memories},
    {"claude", RECORDS_WHOLE, .keys = "conversations_memory", .read = claude_memories},
    {"claude", RECORDS_ITEMS, .keys = "uuid docs", .read = claude_project},
    {"claude", RECORDS_WHOLE, .keys = "uuid docs", .read = claude_project},
    {"letta", RECORDS_WHOLE, .keys = "agents blocks", .read = letta_agent},
    {"letta", RECORDS_WHOLE, .keys = "core_memory", .read = letta_agent},
    {"openmemory", RECORDS_ITEMS, .member = "memories", .keys = "content state",
     .read = openmemory_memory},
    {"openmemory", RECORDS_LINES, .keys = "content state", .read = openmemory_memory},
    {"mem0", RECORDS_ITEMS, .keys = "memory", .read = mem0_memory},
    {"mem0", RECORDS_ITEMS, .member = "results", .keys = "memory", .read = mem0_memory},
    {"mem0", RECORDS_LINES, .keys = "id memory", .read = mem0_memory},
    {"mcp-memory", RECORDS_LINES, .keys = "type name entityType", .read = graph_line},
    {"mcp-memory", RECORDS_LINES, .keys = "type from to relationType", .read = graph_line},
    {"claude-code", RECORDS_LINES, .keys = "type sessionId message", .read = claude_code_line,
     .end = claude_code_end},
    {"codex", RECORDS_LINES, .keys = "type payload timestamp", .read = codex_line},
    {"turns", RECORDS_LINES, .keys = "session content", .read = turn_line},
    {"locomo", RECORDS_ITEMS, .keys = "conversation qa", .read_text = locomo_all},
    {"markdown", RECORDS_TEXT, .ends = ".md", .read_text = markdown_note, .may_be_any = true},
    {"markdown", RECORDS_TEXT, .ends = ".markdown", .read_text = markdown_note},
    {"list", RECORDS_TEXT, .ends = ".txt", .read_text = list_lines, .may_be_any = true},
    {0},
};

const char *const import_formats[] = {"rememberd",  "chatgpt", "claude",     "letta",
                                      "openmemory", "mem0",    "mcp-memory", "claude-code",
                                      "codex",      "turns",   "locomo",     "markdown",
                                      "list",       NULL};

enum { LOOKED_AT = 50 }; /* records or lines of a file */

/* Whether the object has all of the names. */
static bool has_keys(str object, const char *keys)
{
    str rest = str_of(keys);
    while (rest.n)
        if (!items_member(object, str_cut(&rest, ' ')).n)
            return false;
    return true;
}

/* One of the first: a broken one must not hide what the others are. */
static bool items_fit(str list, const char *keys)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct items it;
    struct item item;
    if (!items_open(list, &it) || it.close != ']')
        return false;
    for (int i = 0; i < LOOKED_AT && items_next(&own, &it, &item) == OK && item.value.n; i++)
        if (has_keys(item.value, keys))
            return true;
    return false;
}

/* Whether one of the first lines has the keys, or begins so: a transcript may begin with lines of
 * other kinds, and somebody may have put a title in front of a text. */
static bool a_line_fits(str text, const char *keys, const char *begins)
{
    for (int i = 0; text.n && i < LOOKED_AT; i++) {
        str line = str_cut(&text, '\n'), object = str_trim(line);
        if (keys ? str_starts(object, S("{")) && has_keys(object, keys)
                 : str_starts(line, str_of(begins)))
            return true;
    }
    return false;
}

static bool row_fits(const struct import_format *row, str path, str text)
{
    char first = text.n ? *text.p : 0;
    switch (row->shape) {
    case RECORDS_ITEMS:
        return items_fit(row->member ? items_member(text, str_of(row->member)) : text, row->keys);
    case RECORDS_WHOLE:
        return first == '{' && has_keys(text, row->keys);
    case RECORDS_LINES:
        return a_line_fits(text, row->keys, NULL);
    case RECORDS_TEXT:
        return (row->begins && a_line_fits(text, NULL, row->begins)) ||
               (row->ends && str_ends(path, str_of(row->ends)));
    }
    return false;
}

const struct import_format *format_of(str name, str path, str text, bool is_chosen)
{
    const struct import_format *any = NULL;
    str head = str_trim(text);
    for (const struct import_format *row = formats; row->name; row++) {
        if (name.n && !str_is(name, row->name))
            continue;
        if (row_fits(row, path, head))
            return row;
        if (name.n && is_chosen && row->may_be_any)
            any = row;
    }
    return any;
}

/* What a person would try first is answered with what to do. */
str format_missing(struct arena *a, str name, str text)
{
    static const struct {
        str begins;
        const char *why;
    } known[] = {
        {S("PK\x03\x04"), "is a zip archive: unpack it, and import the folder"},
        {S("\x1f\x8b"), "is compressed: unpack it first (gunzip)"},
        {S("SQLite format 3"), "is a database: if it is OmniRoute's, use: rememberd import "
                               "omniroute FILE"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_starts(text, known[i].begins))
            return str_of(known[i].why);
    if (name.n)
        return str_printf(a, "is not a file of the format " S_FMT, S_ARG(name));
    return S("is a file of no known format; --format NAME says which it is");
}
